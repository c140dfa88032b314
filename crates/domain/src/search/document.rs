//! Documents: what the index has of users, groups, posts, comments, goals, and references of tags.

use std::fmt;
use std::str::FromStr;

use roundtable_model::entities::{Comment, Goal, Group, Post, TagRef, User};
use roundtable_model::table::Item;
use roundtable_model::{
    CommentId, Entity as _, EntityKind, FromItem as _, GoalId, GroupId, InvalidValue,
    ModerationStatus, PostId, SubjectId, TYPE, Tag, Time, UserId, UserStatus, Visibility,
};

use super::words::TEXT_SEPARATOR;

/// A kind of thing that search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SearchType {
    User,
    Group,
    Post,
    Comment,
    Goal,
    Tag,
}

impl SearchType {
    pub const ALL: [Self; 6] =
        [Self::User, Self::Group, Self::Post, Self::Comment, Self::Goal, Self::Tag];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Group => "Group",
            Self::Post => "Post",
            Self::Comment => "Comment",
            Self::Goal => "Goal",
            Self::Tag => "Tag",
        }
    }

    /// Returns whether its objects have names, which are found by prefixes and with typos.
    pub const fn has_names(self) -> bool {
        matches!(self, Self::User | Self::Group | Self::Goal)
    }
}

/// What a document is about. Its text form is the document's key in the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKey {
    User(UserId),
    Group(GroupId),
    Post(PostId),
    Comment(PostId, CommentId),
    Goal(UserId, GoalId),
    Tagged(Box<TaggedKey>),
}

/// A tag of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedKey {
    pub tag: Tag,
    pub entity: EntityKind,
    pub id: SubjectId,
    /// Of a goal or a quest.
    pub owner: Option<UserId>,
    /// The post of a comment.
    pub within: Option<SubjectId>,
}

/// A document of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDocument {
    pub key: DocumentKey,
    pub created_at: Time,
    /// Found by prefixes and with typos.
    pub names: Vec<String>,
    /// All texts, the names among them.
    pub text: String,
    /// The user who may always see it; only staff and that user may, if it `is_restricted`.
    pub owner: Option<UserId>,
    pub is_restricted: bool,
}

/// The types of items that documents are made of.
pub const DOCUMENT_TYPES: &[&str] = &[
    User::SHAPE.name,
    Group::SHAPE.name,
    Post::SHAPE.name,
    Comment::SHAPE.name,
    Goal::SHAPE.name,
    TagRef::SHAPE.name,
];

/// What an item means to the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentState {
    pub key: DocumentKey,
    /// `None` if the index has no document of it.
    pub document: Option<SearchDocument>,
}

impl DocumentState {
    /// Reads an item; `None` if it is of another type, or cannot be read, which is logged.
    pub fn of(item: &Item) -> Option<Self> {
        let kind = item.text(TYPE).filter(|kind| DOCUMENT_TYPES.contains(kind))?;
        let read = if kind == Post::SHAPE.name {
            Post::from_item(item)
                .map(|post| Self::new(SearchDocument::of_post(&post), !post.is_deleted))
        } else if kind == Comment::SHAPE.name {
            Comment::from_item(item)
                .map(|it| Self::new(SearchDocument::of_comment(&it), !it.is_deleted))
        } else if kind == User::SHAPE.name {
            User::from_item(item).map(|user| {
                Self::new(SearchDocument::of_user(&user), user.status != UserStatus::Deleted)
            })
        } else if kind == Group::SHAPE.name {
            Group::from_item(item).map(|group| Self::new(SearchDocument::of_group(&group), true))
        } else if kind == Goal::SHAPE.name {
            Goal::from_item(item).map(|goal| Self::new(SearchDocument::of_goal(&goal), true))
        } else {
            TagRef::from_item(item).map(|it| Self::new(SearchDocument::of_reference(&it), true))
        };
        let problem =
            |error: &_| tracing::warn!(%error, "search: cannot decode an item; skipping it");
        read.inspect_err(problem).ok()
    }

    fn new(document: SearchDocument, exists: bool) -> Self {
        Self { key: document.key.clone(), document: Some(document).filter(|_| exists) }
    }
}

impl SearchDocument {
    fn new(key: DocumentKey, created_at: Time, names: Vec<String>, texts: &[Option<&str>]) -> Self {
        let separator = TEXT_SEPARATOR.to_string();
        let all: Vec<&str> =
            names.iter().map(String::as_str).chain(texts.iter().copied().flatten()).collect();
        let text = all.join(&separator);
        Self { key, created_at, names, text, owner: None, is_restricted: false }
    }

    fn owned_by(self, owner: &UserId, is_restricted: bool) -> Self {
        Self { owner: Some(owner.clone()), is_restricted, ..self }
    }

    pub fn of_user(user: &User) -> Self {
        let others = [user.display_name.clone(), user.full_name.clone()].into_iter().flatten();
        let handle = user.handle.as_ref().map(|handle| handle.as_str().to_owned());
        let mut names = vec![user.nickname.as_str().to_owned()];
        for name in handle.into_iter().chain(others) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let key = DocumentKey::User(user.id.clone());
        Self::new(key, user.created_at, names, &[user.bio.as_deref()])
    }

    pub fn of_group(group: &Group) -> Self {
        let key = DocumentKey::Group(group.id.clone());
        let names = vec![group.name.clone()];
        Self::new(key, group.created_at, names, &[group.description.as_deref()])
    }

    pub fn of_post(post: &Post) -> Self {
        let key = DocumentKey::Post(post.id.clone());
        let is_restricted = post.visibility == Visibility::Private
            || post.moderation_status != ModerationStatus::Approved;
        Self::new(key, post.created_at, Vec::new(), &[Some(&post.content)])
            .owned_by(&post.author_id, is_restricted)
    }

    pub fn of_comment(comment: &Comment) -> Self {
        let key = DocumentKey::Comment(comment.post_id.clone(), comment.id.clone());
        let is_restricted = comment.moderation_status != ModerationStatus::Approved;
        Self::new(key, comment.created_at, Vec::new(), &[Some(&comment.content)])
            .owned_by(&comment.user_id, is_restricted)
    }

    pub fn of_goal(goal: &Goal) -> Self {
        let key = DocumentKey::Goal(goal.user_id.clone(), goal.id.clone());
        let names = vec![goal.title.clone()];
        Self::new(key, goal.created_at, names, &[goal.description.as_deref()])
            .owned_by(&goal.user_id, true)
    }

    pub fn of_reference(reference: &TagRef) -> Self {
        let tagged = TaggedKey {
            tag: reference.tag.clone(),
            entity: reference.entity,
            id: reference.id.clone(),
            owner: reference.user_id.clone(),
            within: reference.within.clone(),
        };
        let key = DocumentKey::Tagged(Box::new(tagged));
        let document = Self::new(key, reference.created_at, Vec::new(), &[]);
        match &reference.user_id {
            Some(owner) => document.owned_by(owner, true),
            None => document,
        }
    }
}

impl DocumentKey {
    pub const fn search_type(&self) -> SearchType {
        match self {
            Self::User(_) => SearchType::User,
            Self::Group(_) => SearchType::Group,
            Self::Post(_) => SearchType::Post,
            Self::Comment(..) => SearchType::Comment,
            Self::Goal(..) => SearchType::Goal,
            Self::Tagged(_) => SearchType::Tag,
        }
    }
}

/// The type, then the parts of the id, separated by `#`; the tag is last, because it may contain one.
impl fmt::Display for DocumentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.search_type().as_str();
        match self {
            Self::User(id) => write!(f, "{kind}#{id}"),
            Self::Group(id) => write!(f, "{kind}#{id}"),
            Self::Post(id) => write!(f, "{kind}#{id}"),
            Self::Comment(post, id) => write!(f, "{kind}#{post}#{id}"),
            Self::Goal(owner, id) => write!(f, "{kind}#{owner}#{id}"),
            Self::Tagged(tagged) => {
                let TaggedKey { tag, entity, id, owner, within } = &**tagged;
                let owner = owner.as_ref().map(ToString::to_string).unwrap_or_default();
                let within = within.as_ref().map(ToString::to_string).unwrap_or_default();
                write!(f, "{kind}#{entity}#{id}#{owner}#{within}#{}", tag.fold())
            }
        }
    }
}

impl FromStr for DocumentKey {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let invalid =
            || InvalidValue::new("the key of a search document", format_args!("\"{text}\""));
        let (kind, id) = text.split_once('#').ok_or_else(invalid)?;
        let two = || id.split_once('#').ok_or_else(invalid);
        Ok(match kind {
            "User" => Self::User(id.parse()?),
            "Group" => Self::Group(id.parse()?),
            "Post" => Self::Post(id.parse()?),
            "Comment" => {
                two().and_then(|(post, id)| Ok(Self::Comment(post.parse()?, id.parse()?)))?
            }
            "Goal" => two().and_then(|(owner, id)| Ok(Self::Goal(owner.parse()?, id.parse()?)))?,
            "Tag" => {
                let mut parts = id.splitn(5, '#');
                let mut part = || parts.next().ok_or_else(invalid);
                let (entity, id) = (part()?.parse()?, part()?.parse()?);
                let owner = Some(part()?).filter(|owner| !owner.is_empty());
                let owner = owner.map(str::parse).transpose()?;
                let within = Some(part()?).filter(|within| !within.is_empty());
                let within = within.map(str::parse).transpose()?;
                let tag = part()?.parse()?;
                Self::Tagged(Box::new(TaggedKey { tag, entity, id, owner, within }))
            }
            _ => return Err(invalid()),
        })
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::{Entity as _, samples};

    use super::*;

    #[test]
    fn keys_are_read_as_they_were_written() {
        let items = [
            samples::user().item(),
            samples::group().item(),
            samples::post().item(),
            samples::comment().item(),
            samples::goal().item(),
            samples::tag_ref().item(),
        ];
        for item in items {
            let document = DocumentState::of(&item).unwrap().document.unwrap();
            assert_eq!(document.key.to_string().parse(), Ok(document.key.clone()));
        }
        for bad in ["", "User", "Message#a", "Comment#a", "Tag#Post#a#"] {
            assert!(bad.parse::<DocumentKey>().is_err(), "{bad}");
        }
    }
}
