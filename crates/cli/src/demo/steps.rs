//! Carries out each step of the story through its service.

use roundtable_domain::{
    Caller, Comments, Goals, Likes, Messages, Moderation, NewComment, NewGoal, NewMessage, NewPost,
    NewQuest, NewRoom, NewTask, Posts, Quests, Rooms, Shares, TaskChange, Tasks,
};
use roundtable_model::{GroupId, PostId, QuestDifficulty, RoomId, Tag, Time};

use super::story::StoryStep;
use super::topics::{SampleTopic, TOPICS};
use super::town::{DemoTown, missing, step_result};
use crate::error::CommandError;

/// Open tasks are due within five days.
const DUE_MS: u64 = 5 * 24 * 60 * 60 * 1000;

impl DemoTown {
    pub(super) async fn run_step(&self, step: StoryStep) -> Result<(), CommandError> {
        match step {
            StoryStep::Post { actor, post, group, text } => {
                self.post(actor, post, group, text).await
            }
            StoryStep::Comment { actor, post, text, answer } => {
                self.comment(actor, post, text, answer).await
            }
            StoryStep::Like { actor, post } => {
                let likes = Likes::new(self.context.clone());
                let (actor, (post, _)) = (self.caller(actor)?, self.earlier_post(post)?);
                step_result("a like", likes.like(actor, &post, None, None).await).map(drop)
            }
            StoryStep::Share { actor, post } => {
                let shares = Shares::new(self.context.clone());
                let (actor, (post, _)) = (self.caller(actor)?, self.earlier_post(post)?);
                step_result("a share", shares.share(actor, &post, None).await).map(drop)
            }
            StoryStep::Chat { actor, with, lines } => {
                let room = NewRoom::with(self.caller(with)?.user_id.clone());
                let room = self.room(actor, &room).await?;
                self.send_lines(&room, &[actor, with], lines).await
            }
            StoryStep::Meeting { group, speakers, lines } => {
                let Some(first) = speakers.first() else { return Ok(()) };
                let room = self.room(*first, &NewRoom::of(self.group(group)?)).await?;
                self.send_lines(&room, &speakers, lines).await
            }
            StoryStep::Pursue { actor, topic, done, quest } => {
                let topic = TOPICS.get(topic).ok_or_else(|| missing("a topic"))?;
                self.pursue(self.caller(actor)?, topic, done, quest).await
            }
            StoryStep::Report { actor, post, reason } => {
                let moderation = Moderation::new(self.context.clone());
                let (actor, (post, _)) = (self.caller(actor)?, self.earlier_post(post)?);
                step_result("a report", moderation.report_post(actor, &post, reason, None).await)
                    .map(drop)
            }
        }
    }

    async fn post(
        &self,
        actor: usize,
        at: usize,
        group: Option<usize>,
        text: String,
    ) -> Result<(), CommandError> {
        let group_id = group.map(|group| self.group(group)).transpose()?;
        let input = NewPost { group_id, ..NewPost::text(text) };
        let posts = Posts::new(self.context.clone());
        let post = step_result("a post", posts.create(self.caller(actor)?, &input, None).await)?;
        let mut posts_so_far = self.posts.lock();
        if posts_so_far.len() <= at {
            posts_so_far.resize(at + 1, None);
        }
        if let Some(slot) = posts_so_far.get_mut(at) {
            *slot = Some((post.id, actor));
        }
        Ok(())
    }

    async fn comment(
        &self,
        actor: usize,
        post: usize,
        content: String,
        answer: Option<&str>,
    ) -> Result<(), CommandError> {
        let (post_id, author) = self.earlier_post(post)?;
        let comments = Comments::new(self.context.clone());
        let input = NewComment { post_id: post_id.clone(), content, parent_comment_id: None };
        let comment =
            step_result("a comment", comments.add(self.caller(actor)?, &input, None).await)?;
        let Some(answer) = answer else { return Ok(()) };
        let (content, parent_comment_id) = (answer.to_owned(), Some(comment.id));
        let input = NewComment { post_id, content, parent_comment_id };
        step_result("an answer", comments.add(self.caller(author)?, &input, None).await).map(drop)
    }

    async fn room(&self, actor: usize, room: &NewRoom) -> Result<RoomId, CommandError> {
        let rooms = Rooms::new(self.context.clone());
        Ok(step_result("a room", rooms.create(self.caller(actor)?, room, None).await)?.room.id)
    }

    async fn send_lines(
        &self,
        room: &RoomId,
        speakers: &[usize],
        lines: &[&str],
    ) -> Result<(), CommandError> {
        let messages = Messages::new(self.context.clone());
        for (speaker, line) in speakers.iter().cycle().zip(lines) {
            let message = NewMessage::text(room.clone(), *line);
            step_result("a message", messages.send(self.caller(*speaker)?, &message, None).await)?;
        }
        Ok(())
    }

    /// Creates a goal with some of its tasks done, and perhaps a quest.
    async fn pursue(
        &self,
        actor: &Caller,
        topic: &SampleTopic,
        done: usize,
        quest: bool,
    ) -> Result<(), CommandError> {
        let tags: Vec<Tag> = topic.tag.parse().into_iter().collect();
        let goal = NewGoal { tags: tags.clone(), ..NewGoal::titled(topic.goal) };
        let goals = Goals::new(self.context.clone());
        let goal = step_result("a goal", goals.create(actor, goal, None).await)?.id;
        if quest {
            let title = format!("Three steps: {}", topic.goal.to_lowercase());
            let difficulty = QuestDifficulty::Medium;
            let quest = NewQuest { difficulty, reward_xp: 60, tags, ..NewQuest::tasks(title, 3) };
            step_result(
                "a quest",
                Quests::new(self.context.clone()).create(actor, &quest, None).await,
            )?;
        }
        let tasks = Tasks::new(self.context.clone());
        for (at, title) in topic.tasks.iter().enumerate() {
            let due_at = (at >= done).then(|| Time::from_ms(self.end_ms).plus_ms(DUE_MS));
            let task = NewTask { due_at, ..NewTask::titled(&goal, *title) };
            let task = step_result("a task", tasks.create(actor, task, None).await)?.id;
            if at < done {
                let done = TaskChange::to_done(true);
                step_result("a task", tasks.update(actor, &goal, &task, done, None).await)?;
            }
        }
        Ok(())
    }

    pub(super) fn caller(&self, actor: usize) -> Result<&Caller, CommandError> {
        self.callers.get(actor).ok_or_else(|| missing("a person"))
    }

    fn group(&self, group: usize) -> Result<GroupId, CommandError> {
        self.groups.get(group).cloned().ok_or_else(|| missing("a group"))
    }

    /// A post of an earlier page, with its author.
    fn earlier_post(&self, post: usize) -> Result<(PostId, usize), CommandError> {
        self.posts.lock().get(post).cloned().flatten().ok_or_else(|| missing("a post"))
    }
}
