use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::rngs::SmallRng;

use super::skeletons::SKELETONS;
use super::*;
use crate::attribute::{Sample, seeded};
use crate::entities::*;
use crate::shape::Index;
use crate::{Entity, FollowStatus, Shard, UserId, samples};

/// The largest packed cursor that is a text of 80 characters once it is encrypted, which adds 16
/// bytes.
const PACKED_BYTES_MAX: usize = 80 / 4 * 3 - 16;

/// Calls a function with a random item of every entity, and returns all results.
macro_rules! each_random {
    ($with:ident $random:ident) => { with_entities!(each_random @ $with $random) };
    (@ $with:ident $random:ident $(($entity:ident $sample:ident))*) => {
        [$($with::<$entity>(&$entity::sample(&mut $random))),*].concat()
    };
}

/// Calls a function with the sample of every entity, and returns all results.
macro_rules! each_sample {
    ($with:ident $(($entity:ident $sample:ident))*) => { [$($with(&samples::$sample())),*].concat() };
}

/// Returns the cursors of an item in the table and in all indexes that hold it.
fn cursors_of<E: Entity>(item: &E) -> Vec<(String, Cursor)> {
    let base = item.key().into_key();
    let indexed = Index::SECONDARY.iter().zip(item.index_keys()).filter_map(|(index, key)| {
        let (partition, sort) = key?;
        Some((format!("{}.{index}", E::SHAPE.name), Some(Key::new(partition, sort))))
    });
    let main = std::iter::once((format!("{}.table", E::SHAPE.name), None));
    main.chain(indexed)
        .map(|(name, index)| {
            let position = Position { base: base.clone(), index };
            (name, Cursor { query_hash: 0xABCD, position, note: None })
        })
        .collect()
}

/// Returns the scope of a list with this cursor, named after the list's owner.
fn scope_of(cursor: &Cursor) -> PackingScope {
    let key = cursor.position.index.as_ref().unwrap_or(&cursor.position.base);
    PackingScope::new(&format!("items of {}", key.partition.as_text().unwrap()), None)
}

/// Returns the cursors of all samples, and of those that have other keys than the samples.
fn sampled_cursors() -> Vec<(String, Cursor)> {
    let shard = Shard::new(7).unwrap();
    let (post, follow) = (samples::post(), samples::follow());
    let pending = Follow { status: FollowStatus::Pending, active_since: None, ..follow.clone() };
    let of_feed = Post { feed_id: "running".parse().unwrap(), ..post.clone() };
    let sharded = [
        cursors_of(&UserCounter { shard, ..samples::user_counter() }),
        cursors_of(&Follow { shard, day_shard: shard, ..follow }),
        cursors_of(&Task { shard, ..samples::task() }),
        cursors_of(&Post { shard, ..post }),
        cursors_of(&Post { shard, ..of_feed.clone() }),
        cursors_of(&ModerationCase { shard, ..samples::moderation_case() }),
        cursors_of(&TagRef { shard, ..samples::tag_ref() }),
        cursors_of(&Audit { shard, ..samples::audit() }),
        cursors_of(&Job { shard, ..samples::job() }),
    ];
    let listed = Message { listed: true, ..samples::message() };
    let others = [cursors_of(&pending), cursors_of(&of_feed), cursors_of(&listed)];
    [with_entities!(each_sample cursors_of), sharded.concat(), others.concat()].concat()
}

#[test]
fn cursors_of_every_key_of_the_schema_are_short() {
    let (mut skeletons, mut long) = (BTreeSet::new(), Vec::new());
    for (name, cursor) in sampled_cursors() {
        let scope = scope_of(&cursor);
        let packed = cursor.pack(&scope);
        assert_eq!(Cursor::unpack(&scope, &packed), Some(cursor), "{name}");
        skeletons.insert(usize::from(packed[0]));
        if packed.len() > PACKED_BYTES_MAX {
            long.push(name);
        }
    }
    let missing: Vec<_> = (0..SKELETONS.count()).filter(|it| !skeletons.contains(it)).collect();
    let missing: Vec<_> = missing.into_iter().map(|number| SKELETONS.get(number)).collect();
    assert!(missing.is_empty(), "no sample has these keys: {missing:?}");
    // An e-mail address is several words, and no list has one as its owner. Identities, which name an
    // issuer and its subject, are listed to operators in one page.
    assert_eq!(long, ["User.GSI3", "Identity.GSI1"]);
}

#[test]
fn messages_of_two_users_in_the_timeline_of_one_are_short() {
    let room = "dm-3c9d2a7b51e84f60a1b2c3d4e5f60718293a4b5c".parse().unwrap();
    let message = Message { room_id: room, listed: true, ..samples::message() };
    assert_eq!(cursors_of(&message).len(), 2, "in the room and in the timeline");
    let list = format!("timeline of {}, None, Descending", message.user_id);
    let scope = PackingScope::new(&list, None);
    for (name, cursor) in cursors_of(&message) {
        let packed = cursor.pack(&scope);
        assert!(packed.len() <= PACKED_BYTES_MAX, "{name}: {} bytes", packed.len());
        assert_eq!(Cursor::unpack(&scope, &packed), Some(cursor));
    }
}

/// The cursors of one list, packed one after the other, are those of a scope that knows no other.
#[test]
fn a_cursor_does_not_depend_on_those_packed_before() {
    let shared = PackingScope::new("all", None);
    for (name, cursor) in sampled_cursors().into_iter().chain(sampled_cursors()) {
        assert_eq!(cursor.pack(&shared), cursor.pack(&PackingScope::new("all", None)), "{name}");
    }
    // It fits both the keys of dead letters and those of failed sign-ins, which come first.
    let texts = ["DLQ#jobs", "WINDOW#x", "DLQ#jobs", "a#b"].map(String::from);
    let [first, second] =
        [&texts[..2], &texts[2..]].map(|texts| Cursor::of_texts(1, texts.to_vec(), None).unwrap());
    let alone = first.pack(&PackingScope::new("all", None));
    assert_ne!(second.pack(&shared)[0], alone[0]);
    assert_eq!(first.pack(&shared), alone);
}

#[test]
fn ids_that_the_reader_knows_take_no_space() {
    let (list, viewer) =
        ("posts of 01JJM64H601HYGCPWPQ5E6EYCN, Descending", "01JGXE6N0YM9S346Q3D25VT4F5");
    let viewer: UserId = viewer.parse().unwrap();
    let item = samples::feed_item();
    let cursor = |follower_id: &str| {
        Cursor::at(
            "home",
            FeedItem { follower_id: follower_id.parse().unwrap(), ..item.clone() }.key(),
        )
    };
    let of_viewer = cursor(&viewer.to_string());
    let of_list = cursor("01JJM64H601HYGCPWPQ5E6EYCN");
    let scope = PackingScope::new(list, Some(&viewer));
    let length = of_viewer.pack(&scope).len();
    assert_eq!(of_list.pack(&scope).len(), length);
    assert_eq!(of_viewer.pack(&PackingScope::new("home", None)).len(), length + 16);
    assert_eq!(Cursor::unpack(&scope, &of_viewer.pack(&scope)), Some(of_viewer));
    assert_eq!(Cursor::unpack(&scope, &of_list.pack(&scope)), Some(of_list));
}

#[test]
fn a_note_of_base64_is_packed_as_bytes() {
    let scope = PackingScope::new("popular posts", None);
    let cursor = Cursor::at("popular", samples::post().key());
    let plain = cursor.pack(&scope).len();
    for (note, bytes) in [("", 1), ("AQIDBAUG", 1 + 6), ("not base64!", 1 + 11), ("ab", 1 + 2)] {
        let noted = cursor.clone().with_note(note);
        let packed = noted.pack(&scope);
        assert_eq!(packed.len(), plain + bytes, "{note}");
        assert_eq!(Cursor::unpack(&scope, &packed), Some(noted));
    }
}

#[test]
fn scopes_differ_by_list_and_viewer() {
    let (ana, bo) = ("ana".parse().unwrap(), "bo".parse().unwrap());
    let scopes = [("a", None), ("b", None), ("a", Some(&ana)), ("a", Some(&bo)), ("a\0ana", None)];
    let identities =
        scopes.map(|(list, viewer)| PackingScope::new(list, viewer).identity().to_owned());
    assert_eq!(identities.iter().collect::<BTreeSet<_>>().len(), scopes.len());
}

/// Their hash had eight bytes.
#[test]
fn cursors_that_earlier_versions_stored_are_read() {
    let mut bytes = vec![1];
    bytes.extend_from_slice(&stable_hash("home of ana").to_le_bytes());
    for text in ["FEED#ana", "TS#2025-01-27T15:30:00.000Z#1"] {
        bytes.extend_from_slice(&u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    let cursor: Cursor = BASE64URL_NOPAD.encode(&bytes).parse().unwrap();
    let key = Key::new("FEED#ana", "TS#2025-01-27T15:30:00.000Z#1");
    assert_eq!(cursor.key_for("home of ana"), Some(&key));
    assert_eq!(cursor.key_for("home of bo"), None);
}

/// A part of a key: usual ones, and those that are almost like them.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-7][0-9A-HJKMNP-TV-Z]{25}",
        "[0-9a-zA-Z]{26}",
        "20[0-9]{2}-0[1-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9]\\.[0-9]{3}Z",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "[0-9A-Fa-f-]{36}",
        "dm-[0-9a-f]{40}",
        "dm-[0-9a-fA-F]{38,42}",
        "[0-9+]{1,21}",
        "0{0,12}[0-9]{0,12}",
        "ana|bo|list|of",
        "[^#]{0,300}",
    ]
}

/// Two texts or four, with the constant segments of the schema or others.
fn keys() -> impl Strategy<Value = Vec<String>> {
    let segments = |constant: &'static str| {
        (Just(constant), prop::collection::vec(part(), 0..4)).prop_map(|(constant, parts)| {
            std::iter::once(constant.to_owned()).chain(parts).collect::<Vec<_>>().join("#")
        })
    };
    let text = prop_oneof![
        segments("USER"),
        segments("POST"),
        segments("ENTITY#Task"),
        segments("FEED"),
        segments("TS"),
        segments("TIMELINE"),
        segments("ROOM"),
        segments("MSG"),
        segments("POPULAR_POSTS"),
        segments("FOLLOWER"),
        segments("FOLLOWING"),
        part(),
        ".{0,300}",
    ];
    prop_oneof![
        prop::collection::vec(text.clone(), 2),
        prop::collection::vec(text, 4),
        (part(), part())
            .prop_map(|(one, two)| vec![format!("FEED#{one}"), format!("TS#{two}#{one}")]),
        (part(), part(), part(), part()).prop_map(|(post, time, author, shard)| vec![
            format!("POST#{post}"),
            "POST".into(),
            format!("TIMELINE#{}#{shard}", time.chars().take(10).collect::<String>()),
            format!("{time}#{author}"),
        ]),
        (part(), part(), part()).prop_map(|(post, time, author)| vec![
            format!("POST#{post}"),
            "POST".into(),
            format!("USER#{author}"),
            format!("POST#{time}#{post}"),
        ]),
    ]
}

proptest! {
    #[test]
    fn a_cursor_reads_back(
        query_hash: u16,
        texts in keys(),
        note in prop::option::of(".{0,300}"),
        list in ".{0,40}|list of [0-9A-HJKMNP-TV-Z]{26}",
    ) {
        let cursor = Cursor::of_texts(query_hash, texts, note).unwrap();
        let scope = PackingScope::new(&list, Some(&"ana".parse().unwrap()));
        prop_assert_eq!(Cursor::unpack(&scope, &cursor.pack(&scope)), Some(cursor.clone()));
        prop_assert_eq!(cursor.to_string().parse::<Cursor>(), Ok(cursor));
    }

    #[test]
    fn the_cursors_of_random_items_read_back(seed: u64) {
        let mut random: SmallRng = seeded(seed);
        for (name, cursor) in each_random!(cursors_of random) {
            let scope = scope_of(&cursor);
            let packed = cursor.pack(&scope);
            prop_assert_ne!(packed[0], 0xFF, "{} fits no skeleton", name);
            prop_assert_eq!(Cursor::unpack(&scope, &packed), Some(cursor), "{}", name);
        }
    }

    /// An accepted cursor is exactly one that would be issued.
    #[test]
    fn malformed_cursors_are_refused_without_a_panic(
        bytes: Vec<u8>,
        texts in keys(),
        change in (any::<prop::sample::Index>(), any::<u8>()),
        cut: prop::sample::Index,
    ) {
        let scope = PackingScope::new("list of ana", None);
        let whole = Cursor::of_texts(7, texts, None).unwrap().pack(&scope);
        let mut changed = whole.clone();
        changed[change.0.index(whole.len())] = change.1;
        let cut = whole[..cut.index(whole.len())].to_vec();
        // In full, the rest may be a cursor with fewer texts.
        if whole[0] != 0xFF {
            prop_assert_eq!(Cursor::unpack(&scope, &cut), None);
        }
        for bytes in [bytes, changed, cut] {
            if let Some(cursor) = Cursor::unpack(&scope, &bytes) {
                prop_assert_eq!(cursor.pack(&scope), bytes);
            }
        }
    }

    #[test]
    fn malformed_stored_cursors_are_refused_without_a_panic(bytes: Vec<u8>, cut in 1..40usize) {
        let _ = BASE64URL_NOPAD.encode(&bytes).parse::<Cursor>();
        let whole = Cursor::at("home", samples::feed_item().key()).to_string();
        prop_assert!(whole[..whole.len().saturating_sub(cut)].parse::<Cursor>().is_err());
    }
}
