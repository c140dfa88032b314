//! Rate limits per user and per address (R32).

use std::net::IpAddr;

use roundtable_domain::{AccountError, SignedInUser};
use roundtable_domain::{
    Code, Edit, PageInput, ProfileChange, RateSettings, ServiceError, Settings,
};
use roundtable_model::{Role, Tier};
use roundtable_testkit::Town;

use super::code;

/// A town with the default rates.
async fn town<const N: usize>(names: [&str; N]) -> Town {
    let settings = Settings { rates: RateSettings::default(), ..Town::settings() };
    Town::with(settings, names).await
}

async fn write(town: &Town, name: &str) -> Result<(), AccountError> {
    let change = ProfileChange { bio: Edit::Clear, ..ProfileChange::default() };
    town.accounts().update_profile(&town.caller(name), &change, None).await.map(drop)
}

#[tokio::test]
async fn a_hundred_writes_at_once_pass() {
    let town = town(["ana", "bo"]).await;
    for _ in 0..200 {
        write(&town, "ana").await.unwrap();
    }
    let refused = write(&town, "ana").await.unwrap_err();
    let (tier, per_minute, retry_after_seconds) = (Tier::Free, 600, 1);
    let retry = ServiceError::TooManyWrites { tier, per_minute, retry_after_seconds };
    assert_eq!(refused.to_string(), retry.to_string());
    assert_eq!(code(write(&town, "ana").await), Code::RateLimited);
    write(&town, "bo").await.unwrap();
    let ana = town.caller("ana");
    town.accounts().keys(&ana, &PageInput::first()).await.unwrap();
    assert!(town.accounts().me(&ana).await.unwrap().is_some(), "reads go on");
    town.advance_ms(1_000);
    for _ in 0..10 {
        write(&town, "ana").await.unwrap();
    }
    assert_eq!(code(write(&town, "ana").await), Code::RateLimited);
}

/// R50: each tier has its own rate, and the refusal names both.
#[tokio::test]
async fn the_tier_decides_how_much_a_user_may_write() {
    let town = town(["ana", "bo", "ada"]).await;
    let ada = town.staff("ada", Role::Admin);
    town.accounts().set_tier(&ada, &town.id("ana"), Tier::Pro, None).await.unwrap();
    for name in ["ana", "bo"] {
        for _ in 0..200 {
            write(&town, name).await.unwrap();
        }
    }
    let refused = write(&town, "bo").await.unwrap_err().to_string();
    assert!(refused.contains("tier `free` allows 600 a minute"), "{refused}");
    for _ in 0..200 {
        write(&town, "ana").await.unwrap();
    }
    let refused = write(&town, "ana").await.unwrap_err().to_string();
    assert!(refused.contains("tier `pro` allows 1200 a minute"), "{refused}");
    town.accounts().set_tier(&ada, &town.id("bo"), Tier::Pro, None).await.unwrap();
    town.advance_ms(100);
    for _ in 0..200 {
        write(&town, "bo").await.unwrap();
    }
}

#[tokio::test]
async fn registrations_per_address_are_limited() {
    let town = town([]).await;
    let sign_up = async |n: usize, from: [u8; 4]| -> Result<SignedInUser, AccountError> {
        let form = town.sign_up_form(&format!("p{n}"));
        town.accounts().register(&form, Some(IpAddr::from(from)), None).await
    };
    let (here, elsewhere) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    for n in 0..20 {
        sign_up(n, here).await.unwrap();
    }
    assert_eq!(code(sign_up(20, here).await), Code::RateLimited);
    sign_up(21, elsewhere).await.unwrap();
    let unlimited = town.accounts().register(&town.sign_up_form("p22"), None, None).await;
    unlimited.unwrap();
    let email = town.email("p0");
    town.accounts().login(&email, &town.password("p0"), Some(town.address())).await.unwrap();
    town.advance_ms(60_000);
    sign_up(23, here).await.unwrap();
    assert_eq!(code(sign_up(24, here).await), Code::RateLimited);
}
