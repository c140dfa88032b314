//! s1: the core of the same table, with milestones, assistance, offers, and indexes for later.

use super::{Document, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on, query};

/// The base of our table. Of its indexes, `GSI4` to `GSI6` are plans.
pub(crate) const S1: Document = Document {
    name: "s1",
    table: "gg_core",
    indexes: &["GSI1", "GSI2", "GSI3", "GSI4", "GSI5", "GSI6"],
    ttl: Some("ttl"),
    stream: true,
    typed: true,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    DocumentShape {
        entity: "User",
        ours: "User",
        keys: &[
            main("USER#{id}", "PROFILE#{id}"),
            on("GSI1", "USER#{id}", "ENTITY#User#{createdAt}"),
            on("GSI2", "NICK#{nickname}", "PROFILE#{id}"),
            on("GSI3", "EMAIL#{email}", "PROFILE#{id}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, nickname, email, fullName => full_name, birthDate => birth_date, status, country,
            language, gender, pronouns, bio, tags, tier,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "EmailUnique",
        ours: "EmailLock",
        // The document ends the sort key in `>`, by mistake.
        keys: &[main("EMAIL#{email}", "UNIQUE#USER")],
        parts: &[],
        attributes: attributes! { email, userId => user_id, createdAt => created_at },
    },
    DocumentShape {
        entity: "Goal",
        ours: "Goal",
        // An item has one key in an index: of a goal's tags, the plan can only list one.
        keys: &[
            main("USER#{userId}", "GOAL#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Goal#{createdAt}"),
            on("GSI5", "TAG#{tag}", "Goal#{id}").optional(),
        ],
        parts: attributes! { tag => TagRef.tag },
        attributes: attributes! {
            id, userId => user_id, title, description, tags, status,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Task",
        ours: "Task",
        keys: &[
            main("GOAL#{goalId}", "TASK#{id}"),
            on("GSI4", "DUE#{dueDay}", "{dueAt}#TASK#{id}").optional(),
        ],
        parts: attributes! { dueDay nothing "the day in dueAt, without dashes" },
        attributes: attributes! {
            id, goalId => goal_id, userId => user_id, title, dueAt => due_at, nlpPlan => nlp_plan,
            done, createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "TaskCopy",
        ours: "Task",
        keys: &[
            main("USER#{userId}", "TASK#{dueAt}#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Task#{dueAt}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, goalId => goal_id, userId => user_id, title, dueAt => due_at, nlpPlan => nlp_plan,
            done, createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Milestone",
        ours: "Milestone",
        keys: &[
            main("USER#{userId}", "MILESTONE#{goalId}#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Milestone#{createdAt}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, goalId => goal_id, userId => user_id, name, percentage, achieved,
            achievedAt => achieved_at, description,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Message",
        ours: "Message",
        keys: &[
            main("ROOM#{roomId}", "MSG#{createdAt}#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Message#{createdAt}").optional(),
        ],
        parts: &[],
        attributes: attributes! {
            id, roomId => room_id, userId => user_id, text, createdAt => created_at,
        },
    },
    DocumentShape {
        entity: "AssistMsg",
        ours: "AssistMsg",
        keys: &[main("ASSIST#{threadId}", "MSG#{createdAt}#{id}")],
        parts: attributes! { id },
        attributes: attributes! {
            threadId => thread_id, userId => user_id, text, createdAt => created_at,
        },
    },
    DocumentShape {
        entity: "Offer",
        ours: "Offer",
        keys: &[
            main("OFFER#{id}", "OFFER#{id}"),
            on("GSI5", "TAG#{tag}", "Offer#{id}").optional(),
            on("GSI6", "COMPANY#{companyId}", "Offer#{id}").optional(),
        ],
        parts: attributes! { tag => TagRef.tag },
        attributes: attributes! {
            id, companyId => company_id, title, tags, createdAt => created_at, status,
        },
    },
];

const QUESTIONS: &[DocumentQuestion] = &[
    get("profile", "a person", "USER#{id}", "PROFILE#{id}").by("profile"),
    query("by_email", "who has an e-mail address", "EMAIL#{email}")
        .index("GSI3")
        .by("user_by_email"),
    query("by_nickname", "who has a nickname", "NICK#{nickname}")
        .index("GSI2")
        .by("user_by_nickname"),
    query("goals", "a person's goals", "USER#{id}").begins("GOAL#").by("goals"),
    query("tasks", "the tasks of a goal", "GOAL#{goal}").begins("TASK#").by("tasks"),
    query("timeline", "what a person made, of all kinds", "USER#{id}")
        .index("GSI1")
        .by("entity_timeline")
        .deviates("by time across kinds: the document's keys put the kind before the time"),
    query("chat_history", "what was said in a room", "ROOM#{room}")
        .by("messages")
        .deviates("newest first by default; the document's order can be asked for"),
    query("milestones", "the milestones of a goal", "USER#{id}")
        .begins("MILESTONE#{goal}#")
        .by("milestones"),
    query("milestone_timeline", "a person's milestones by time", "USER#{id}")
        .index("GSI1")
        .begins("ENTITY#Milestone#")
        .by("milestone_timeline")
        .deviates("newest first, where the document leaves the order to the index"),
    get("milestone", "one milestone", "USER#{id}", "MILESTONE#{goal}#{milestone}").by("milestone"),
    get("email_taken", "whether an e-mail address is taken", "EMAIL#{email}", "UNIQUE#USER")
        .stated(Stated::Key)
        .by("email_lock"),
    query("tasks_of_owner", "a person's tasks, the most urgent first", "USER#{id}")
        .begins("TASK#")
        .stated(Stated::Key)
        .by("tasks_by_due")
        .deviates("an index entry instead of a second item"),
    query("task_timeline", "a person's tasks by due time", "USER#{id}")
        .index("GSI1")
        .begins("ENTITY#Task#")
        .stated(Stated::Key)
        .by("tasks_by_due"),
    query("messages_by", "what a person said", "USER#{id}")
        .index("GSI1")
        .begins("ENTITY#Message#")
        .stated(Stated::Key)
        .by("messages_by")
        .deviates("newest first, where the document leaves the order to the index"),
    query("assist_history", "what was said in a call for help", "ASSIST#{thread}")
        .begins("MSG#")
        .stated(Stated::Key)
        .by("assist_messages")
        .deviates("newest first by default; the document's order can be asked for"),
    get("offer", "an offer", "OFFER#{offer}", "OFFER#{offer}").stated(Stated::Key).by("offer"),
    query("due_on", "the tasks due on a day, by time", "DUE#{day}")
        .index("GSI4")
        .stated(Stated::Index)
        .by("tasks_due_on")
        .deviates("open tasks only, in GSI2"),
    query("tagged", "what carries a tag", "TAG#{tag}")
        .index("GSI5")
        .stated(Stated::Index)
        .by("tagged")
        .deviates("every tag of an entity, where the index has room for one"),
    query("of_company", "what belongs to a company", "COMPANY#{company}")
        .index("GSI6")
        .stated(Stated::Index)
        .by("offers_of")
        .deviates("in GSI3"),
];
