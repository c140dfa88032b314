//! The users, with secrets in their profiles, and their follows and groups.

use roundtable_domain::NewGroup;
use roundtable_model::entities::User;
use roundtable_model::{GroupRole, Role, Secret};

use super::{SecretTown, viewers_except, word};

const PUBLIC: [&str; 14] = [
    "ana", "bex", "bob", "dan", "fay", "fox", "gus", "mel", "mia", "mo", "ada", "sam", "sue", "tom",
];

impl SecretTown {
    /// Adds all users; only the user and the admins may see an e-mail address.
    pub(super) async fn people(&mut self) {
        for name in PUBLIC.into_iter().chain(["pia", "sid"]) {
            let mail = format!("mail-{name}");
            let mail: &'static str = mail.leak();
            let seen_by: &[_] = match name {
                "dan" => &[],
                "ada" => &["ada"],
                name => &[name, "ada"],
            };
            let email = format!("{}@example.com", self.secret(mail, seen_by));
            let change = |user: &mut User| {
                user.email = Some(email.parse().unwrap());
                user.is_private = name == "pia";
                (user.full_name, user.display_name, user.bio) = (None, None, None);
                match name {
                    "sid" => user.nickname = word("sids-nick").parse().unwrap(),
                    "dan" => {
                        user.nickname = word("dans-nick").parse().unwrap();
                        user.handle = Some(word("dans-handle").parse().unwrap());
                        user.full_name = Some(word("dans-name"));
                        user.display_name = Some(word("dans-display"));
                        user.bio = Some(word("dans-bio"));
                    }
                    name => user.bio = Some(word(&format!("{name}s-bio"))),
                }
            };
            self.town.add_user(name, change).await;
        }
        for gone in ["dans-nick", "dans-handle", "dans-name", "dans-display", "dans-bio"] {
            self.secret(gone, &[]);
        }
        self.secret("sids-nick", &["sid", "mo", "ada"]);
        // Bob sees it in the list of users he has blocked.
        self.secret("anas-bio", &viewers_except(&["bex"]));
        self.secret("bobs-bio", &viewers_except(&["ana"]));
        self.secret("pias-bio", &viewers_except(&[]));
        self.town.grant_role("mo", Role::Moderator).await;
        self.town.grant_role("ada", Role::Admin).await;
        let wrong = Secret::new("not the one");
        let email = format!("{}@example.com", self.secret("tried", &["ada"])).parse().unwrap();
        let accounts = self.town.accounts();
        accounts.login(&email, &wrong, None).await.unwrap_err();
    }

    pub(super) async fn communities(&mut self) {
        let town = &self.town;
        for followee in ["ana", "pia", "sid", "dan"] {
            for name in ["fay", "sue"] {
                town.follow(name, followee).await;
                let (caller, id) = (town.caller(followee), town.id(name));
                town.follows().accept(&caller, &id, None).await.unwrap();
            }
            town.follow(followee, "tom").await;
        }
        town.follow("sam", "pia").await;
        town.follow("mia", "tom").await;
        let (mia, tom) = (town.caller("mia"), town.id("tom"));
        town.follows().update(&mia, &tom, Some(true), None, None, None).await.unwrap();
        let open = town.create_group("ana", "runners").await;
        let closed = town.create_private_group("ana", "readers").await;
        let ana = town.caller("ana");
        for group in [&open, &closed] {
            for name in ["mel", "fox", "gus", "sue", "sid", "dan"] {
                town.join(name, group).await;
                town.groups().approve(&ana, group, &town.id(name), None).await.unwrap();
            }
            town.set_group_role("ana", group, "gus", GroupRole::Admin).await;
            town.groups().leave(&town.caller("fox"), group, None).await.unwrap();
        }
        let ended = self.secret("ended-group", &[]);
        let group = NewGroup { tags: vec!["town".parse().unwrap()], ..NewGroup::named(ended) };
        let ended = self.town.groups().create(&ana, group, None).await.unwrap().id;
        self.groups = vec![open, closed, ended];
    }
}
