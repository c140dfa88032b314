//! Hits as the viewer may see them now: each kind in one batch, by the rules of its own service, and matched
//! again against the present text.

use std::sync::Arc;

use futures::future::try_join3;
use hashbrown::HashMap;
use roundtable_model::entities::{Comment, Goal, Post};
use roundtable_model::{CommentId, GoalId, GroupId, PostId, UserId, UserStatus};

use super::document::{DocumentKey, SearchDocument};
use super::index::{IndexHit, RestrictedAccess};
use super::matching::{MatchClass, match_class};
use super::query::SearchQuery;
use super::{SearchError, SearchResult};
use crate::{Caller, Comments, Context, ServiceError, ViewerAccess, posts};

/// A viewer of search results.
#[derive(Debug)]
pub(super) struct SearchViewer<'a> {
    pub(super) context: &'a Context,
    pub(super) caller: Option<&'a Caller>,
    pub(super) sees: RestrictedAccess,
}

impl<'a> SearchViewer<'a> {
    pub(super) async fn of(
        context: &'a Context,
        caller: Option<&'a Caller>,
    ) -> Result<Self, ServiceError> {
        let access = context.viewer_access(caller, [], []).await?;
        let me = caller.and_then(|caller| Some((caller, access.visible_user(&caller.user_id)?)));
        let active = me.filter(|(_, me)| me.status == UserStatus::Active);
        let sees = RestrictedAccess {
            own: active.map(|(_, me)| me.id.clone()),
            goals: active.is_some_and(|(caller, me)| caller.current_roles(me).admin),
            content: access.is_staff(),
        };
        Ok(Self { context, caller, sees })
    }

    /// Returns what the viewer may see of hits that still match in this way, in the same order.
    pub(super) async fn shown(
        &self,
        query: &SearchQuery,
        class: MatchClass,
        hits: &[IndexHit],
    ) -> Result<Vec<Option<SearchResult>>, SearchError> {
        let (mut people, mut groups, mut on) = (Vec::new(), Vec::new(), Vec::new());
        let (mut comments, mut goals) = (Vec::new(), Vec::new());
        for hit in hits {
            match &hit.key {
                DocumentKey::User(id) => people.push(id.clone()),
                DocumentKey::Group(id) => groups.push(id.clone()),
                DocumentKey::Post(id) => on.push(id.clone()),
                DocumentKey::Comment(post, id) => comments.push((post.clone(), id.clone())),
                DocumentKey::Goal(owner, id) => goals.push((owner.clone(), id.clone())),
                DocumentKey::Tagged(_) => {}
            }
        }
        let (access, comments, goals) =
            try_join3(self.access(people, groups, on), self.comments(comments), self.goals(goals))
                .await?;
        let shown = |hit: &IndexHit| {
            let (document, result) = match &hit.key {
                DocumentKey::User(id) => access.user(id)?,
                DocumentKey::Group(id) => access.group(id)?,
                DocumentKey::Post(id) => access.post(id)?,
                DocumentKey::Comment(_, id) => {
                    let comment = comments.get(id)?;
                    let result = SearchResult::Comment(Box::new(comment.clone()));
                    (SearchDocument::of_comment(comment), result)
                }
                DocumentKey::Goal(owner, id) => {
                    let goal = goals.get(&(owner.clone(), id.clone()))?;
                    (SearchDocument::of_goal(goal), SearchResult::Goal(Box::new(goal.clone())))
                }
                DocumentKey::Tagged(_) => return None,
            };
            (match_class(query, &document) == Some(class)).then_some(result)
        };
        Ok(hits.iter().map(shown).collect())
    }

    async fn access(
        &self,
        mut people: Vec<UserId>,
        mut groups: Vec<GroupId>,
        ids: Vec<PostId>,
    ) -> Result<HitAccess, SearchError> {
        let posts = self.posts(&ids).await?;
        people.extend(posts.values().map(|post| post.author_id.clone()));
        groups.extend(posts.values().filter_map(|post| post.group_id.clone()));
        let access = self.context.viewer_access(self.caller, &people, &groups).await?;
        Ok(HitAccess { access, posts })
    }

    async fn posts(&self, ids: &[PostId]) -> Result<HashMap<PostId, Arc<Post>>, ServiceError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        if let Some(memory) = self.context.exact_memory().await {
            return Ok(memory.posts(self.context, ids).await?);
        }
        let found = posts::posts(self.context, ids).await?.into_iter().flatten();
        Ok(found.map(|post| (post.id.clone(), Arc::new(post))).collect())
    }

    async fn comments(
        &self,
        keys: Vec<(PostId, CommentId)>,
    ) -> Result<HashMap<CommentId, Comment>, SearchError> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let comments = Comments::new(self.context.clone());
        let found = comments.visible_at(self.caller, &keys).await?;
        Ok(found.into_iter().flatten().map(|comment| (comment.id.clone(), comment)).collect())
    }

    /// Reads goals. The index names only those of the viewer, except to admins; it is checked again here.
    async fn goals(
        &self,
        keys: Vec<(UserId, GoalId)>,
    ) -> Result<HashMap<(UserId, GoalId), Goal>, SearchError> {
        let is_own = |owner: &UserId| self.sees.own.as_ref() == Some(owner);
        let allowed = |(owner, _): &(UserId, GoalId)| is_own(owner) || self.sees.goals;
        let keys: Vec<(UserId, GoalId)> = keys.into_iter().filter(allowed).collect();
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let owners = keys.iter().map(|(owner, _)| owner);
        let access = self.context.viewer_access(self.caller, owners, []).await?;
        let visible = keys.iter().filter(|(owner, _)| access.visible_user(owner).is_some());
        let places = visible.map(|(owner, id)| Goal::at(owner, id));
        let found = self.context.items_at("goals_among", places).await?.into_iter().flatten();
        Ok(found.map(|goal: Goal| ((goal.user_id.clone(), goal.id.clone()), goal)).collect())
    }
}

/// The users, groups and posts of hits, and the viewer's access to them.
struct HitAccess {
    access: ViewerAccess,
    posts: HashMap<PostId, Arc<Post>>,
}

impl HitAccess {
    fn user(&self, id: &UserId) -> Option<(SearchDocument, SearchResult)> {
        let user = self.access.shown_profile(id)?;
        let result = SearchResult::User(Box::new(Arc::unwrap_or_clone(Arc::clone(&user))));
        Some((SearchDocument::of_user(&user), result))
    }

    fn group(&self, id: &GroupId) -> Option<(SearchDocument, SearchResult)> {
        let group = self.access.visible_group(id)?;
        Some((SearchDocument::of_group(group), SearchResult::Group(Box::new(group.clone()))))
    }

    fn post(&self, id: &PostId) -> Option<(SearchDocument, SearchResult)> {
        let post = self.posts.get(id).filter(|post| self.access.can_see_post(post))?;
        Some((SearchDocument::of_post(post), SearchResult::Post(Box::new(Post::clone(post)))))
    }
}
