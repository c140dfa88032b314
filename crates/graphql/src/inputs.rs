//! The inputs of the schema that are structs of the domain, with the same fields.

use roundtable_graphql_macros::inputs;

inputs!(
    AddCommentInput = roundtable_domain::NewComment,
    CreateGoalInput = roundtable_domain::NewGoal,
    CreateOfferInput = roundtable_domain::NewOffer,
    CreatePostInput = roundtable_domain::NewPost,
    CreateQuestInput = roundtable_domain::NewQuest,
    CreateRoomInput = roundtable_domain::NewRoom,
    MediaInput = roundtable_domain::NewMedia,
    PostActivityInput = roundtable_domain::NewActivity,
);
