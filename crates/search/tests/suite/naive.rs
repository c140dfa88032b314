//! A naive search: every object of the table, read through its own service, compared word by word.

use std::collections::BTreeSet;

use roundtable_domain::Caller;
use roundtable_model::entities::{Comment, Goal, Group, Post, User};
use roundtable_model::table::Scan;
use roundtable_model::{Entity, FromItem, TYPE};
use roundtable_testkit::Town;

/// A query, and what it means.
#[derive(Clone, Debug)]
pub(crate) enum NaiveQuery {
    Words(Vec<&'static str>),
    Phrase(Vec<&'static str>),
    /// The beginning of a word, which names may have.
    Prefix(&'static str),
}

impl NaiveQuery {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Words(words) => words.join(" "),
            Self::Phrase(words) => format!("\"{}\"", words.join(" ")),
            Self::Prefix(prefix) => (*prefix).to_owned(),
        }
    }

    fn words(&self) -> Vec<&'static str> {
        match self {
            Self::Words(words) | Self::Phrase(words) => words.clone(),
            Self::Prefix(prefix) => vec![prefix],
        }
    }

    fn matches(&self, names: &[Option<&str>], texts: &[Option<&str>]) -> bool {
        let divide = |text: &str| -> Vec<String> {
            let words = text.split(|char: char| !char.is_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let names: Vec<Vec<String>> = names.iter().flatten().map(|text| divide(text)).collect();
        let begins = |word: &&str| names.iter().flatten().any(|name| name.starts_with(*word));
        if !names.is_empty() && self.words().iter().all(begins) {
            return true;
        }
        let texts: Vec<Vec<String>> =
            names.iter().cloned().chain(texts.iter().flatten().map(|text| divide(text))).collect();
        match self {
            Self::Phrase(phrase) => texts
                .iter()
                .any(|text| text.windows(phrase.len()).any(|part| part == phrase.as_slice())),
            Self::Words(_) | Self::Prefix(_) => {
                self.words().iter().all(|word| texts.iter().flatten().any(|it| it == word))
            }
        }
    }
}

/// Returns the names of all objects that match and that the viewer may see.
pub(crate) async fn naive_search(
    town: &Town,
    viewer: Option<&Caller>,
    query: &NaiveQuery,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = None;
    loop {
        let page = town.context().core().table().scan(Scan::new().after(next)).await.unwrap();
        for item in &page.items {
            let is = |name: &str| item.text(TYPE) == Some(name);
            if is(User::SHAPE.name) {
                let id = User::from_item(item).unwrap().id;
                let Ok(Some(user)) = town.accounts().user(viewer, &id).await else { continue };
                let handle = user.handle.as_ref().map(|it| it.as_str());
                let names = [
                    Some(user.nickname.as_str()),
                    handle,
                    user.display_name.as_deref(),
                    user.full_name.as_deref(),
                ];
                if query.matches(&names, &[user.bio.as_deref()]) {
                    found.insert(format!("user {id}"));
                }
            } else if is(Group::SHAPE.name) {
                let group = Group::from_item(item).unwrap();
                if query.matches(&[Some(&group.name)], &[group.description.as_deref()]) {
                    found.insert(format!("group {}", group.id));
                }
            } else if is(Post::SHAPE.name) {
                let id = Post::from_item(item).unwrap().id;
                let Ok(post) = town.posts().post(viewer, &id).await else { continue };
                if query.matches(&[], &[Some(&post.content)]) {
                    found.insert(format!("post {id}"));
                }
            } else if is(Comment::SHAPE.name) {
                let id = Comment::from_item(item).unwrap().id;
                let Ok(comment) = town.comments().comment(viewer, &id).await else { continue };
                if query.matches(&[], &[Some(&comment.content)]) {
                    found.insert(format!("comment {id}"));
                }
            } else if is(Goal::SHAPE.name) {
                let goal = Goal::from_item(item).unwrap();
                let Some(viewer) = viewer else { continue };
                let got = town.goals().get(viewer, Some(&goal.user_id), &goal.id).await;
                let Ok(goal) = got else { continue };
                if query.matches(&[Some(&goal.title)], &[goal.description.as_deref()]) {
                    found.insert(format!("goal {}", goal.id));
                }
            }
        }
        next = page.next;
        if next.is_none() {
            return found;
        }
    }
}
