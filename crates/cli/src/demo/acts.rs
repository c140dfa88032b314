//! How each act of the story is done, by the service for it.

use roundtable_domain::{
    Caller, Comments, Goals, Likes, Messages, Moderation, NewComment, NewGoal, NewMessage, NewPost,
    NewQuest, NewRoom, NewTask, Posts, Quests, Rooms, Shares, TaskChange, Tasks,
};
use roundtable_model::{GroupId, PostId, QuestDifficulty, RoomId, Tag, Time};

use super::story::Act;
use super::topics::{TOPICS, Topic};
use super::town::{Town, made, missing};
use crate::failure::Failure;

/// Tasks that are open are due within so many days.
const DUE_MS: u64 = 5 * 24 * 60 * 60 * 1000;

impl Town {
    /// Somebody does something.
    pub(super) async fn act(&self, act: Act) -> Result<(), Failure> {
        match act {
            Act::Post { who, post, group, text } => self.post(who, post, group, text).await,
            Act::Comment { who, post, text, answer } => self.comment(who, post, text, answer).await,
            Act::Like { who, post } => {
                let likes = Likes::new(self.ground.clone());
                let (who, (post, _)) = (self.who(who)?, self.posted(post)?);
                made("a like", likes.like(who, &post, None, None).await).map(drop)
            }
            Act::Share { who, post } => {
                let shares = Shares::new(self.ground.clone());
                let (who, (post, _)) = (self.who(who)?, self.posted(post)?);
                made("a share", shares.share(who, &post, None).await).map(drop)
            }
            Act::Chat { who, with, lines } => {
                let room = NewRoom::with(self.who(with)?.user_id.clone());
                let room = self.room(who, &room).await?;
                self.talk(&room, &[who, with], lines).await
            }
            Act::Meeting { group, speakers, lines } => {
                let Some(first) = speakers.first() else { return Ok(()) };
                let room = self.room(*first, &NewRoom::of(self.group(group)?)).await?;
                self.talk(&room, &speakers, lines).await
            }
            Act::Pursue { who, topic, done, quest } => {
                let topic = TOPICS.get(topic).ok_or_else(|| missing("a topic"))?;
                self.pursue(self.who(who)?, topic, done, quest).await
            }
            Act::Report { who, post, reason } => {
                let moderation = Moderation::new(self.ground.clone());
                let (who, (post, _)) = (self.who(who)?, self.posted(post)?);
                made("a report", moderation.report_post(who, &post, reason, None).await).map(drop)
            }
        }
    }

    async fn post(
        &self,
        who: usize,
        at: usize,
        group: Option<usize>,
        text: String,
    ) -> Result<(), Failure> {
        let group_id = group.map(|group| self.group(group)).transpose()?;
        let input = NewPost { group_id, ..NewPost::text(text) };
        let posts = Posts::new(self.ground.clone());
        let post = made("a post", posts.create(self.who(who)?, &input, None).await)?;
        let mut known = self.posts.lock();
        if known.len() <= at {
            known.resize(at + 1, None);
        }
        if let Some(place) = known.get_mut(at) {
            *place = Some((post.id, who));
        }
        Ok(())
    }

    async fn comment(
        &self,
        who: usize,
        post: usize,
        content: String,
        answer: Option<&str>,
    ) -> Result<(), Failure> {
        let (post_id, author) = self.posted(post)?;
        let comments = Comments::new(self.ground.clone());
        let input = NewComment { post_id: post_id.clone(), content, parent_comment_id: None };
        let comment = made("a comment", comments.add(self.who(who)?, &input, None).await)?;
        let Some(answer) = answer else { return Ok(()) };
        let (content, parent_comment_id) = (answer.to_owned(), Some(comment.id));
        let input = NewComment { post_id, content, parent_comment_id };
        made("an answer", comments.add(self.who(author)?, &input, None).await).map(drop)
    }

    async fn room(&self, who: usize, room: &NewRoom) -> Result<RoomId, Failure> {
        let rooms = Rooms::new(self.ground.clone());
        Ok(made("a room", rooms.create(self.who(who)?, room, None).await)?.room.id)
    }

    /// People speak in turn.
    async fn talk(&self, room: &RoomId, speakers: &[usize], lines: &[&str]) -> Result<(), Failure> {
        let messages = Messages::new(self.ground.clone());
        for (speaker, line) in speakers.iter().cycle().zip(lines) {
            let message = NewMessage::text(room.clone(), *line);
            made("a message", messages.send(self.who(*speaker)?, &message, None).await)?;
        }
        Ok(())
    }

    /// Somebody wants to reach something, and has done some of it; for a quest, if they like.
    async fn pursue(
        &self,
        who: &Caller,
        topic: &Topic,
        done: usize,
        quest: bool,
    ) -> Result<(), Failure> {
        let tags: Vec<Tag> = topic.tag.parse().into_iter().collect();
        let goal = NewGoal { tags: tags.clone(), ..NewGoal::titled(topic.goal) };
        let goals = Goals::new(self.ground.clone());
        let goal = made("a goal", goals.create(who, goal, None).await)?.id;
        if quest {
            let title = format!("Three steps: {}", topic.goal.to_lowercase());
            let difficulty = QuestDifficulty::Medium;
            let quest = NewQuest { difficulty, reward_xp: 60, tags, ..NewQuest::tasks(title, 3) };
            made("a quest", Quests::new(self.ground.clone()).create(who, &quest, None).await)?;
        }
        let tasks = Tasks::new(self.ground.clone());
        for (at, title) in topic.tasks.iter().enumerate() {
            let due_at = (at >= done).then(|| Time::from_ms(self.end_ms).plus_ms(DUE_MS));
            let task = NewTask { due_at, ..NewTask::titled(&goal, *title) };
            let task = made("a task", tasks.create(who, task, None).await)?.id;
            if at < done {
                let done = TaskChange::to_done(true);
                made("a task", tasks.update(who, &goal, &task, done, None).await)?;
            }
        }
        Ok(())
    }

    pub(super) fn who(&self, who: usize) -> Result<&Caller, Failure> {
        self.callers.get(who).ok_or_else(|| missing("somebody"))
    }

    fn group(&self, group: usize) -> Result<GroupId, Failure> {
        self.groups.get(group).cloned().ok_or_else(|| missing("a group"))
    }

    /// A post of an earlier page, and its author.
    fn posted(&self, post: usize) -> Result<(PostId, usize), Failure> {
        self.posts.lock().get(post).cloned().flatten().ok_or_else(|| missing("a post"))
    }
}
