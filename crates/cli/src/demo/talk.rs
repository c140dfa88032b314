//! What the people of the sample town say to each other.

/// What is said about a post.
pub(super) const COMMENTS: [&str; 40] = [
    "Lovely.",
    "I walked past there yesterday!",
    "Same here, every year.",
    "Save me one, please.",
    "This made my morning.",
    "How long did it take you?",
    "You make it sound easy.",
    "I have a spare one in the cellar, yours if you want it.",
    "Count me in.",
    "My neighbour swears by exactly the opposite.",
    "Picture, please!",
    "That is so good to hear.",
    "I tried, and it went wrong in an interesting way.",
    "Where did you find that?",
    "We should do this together some time.",
    "Ha, the same thing happened to me.",
    "I will bring cake.",
    "Second this.",
    "Now I want to try it, too.",
    "What a week for it.",
    "Teach me?",
    "This is the best kind of news.",
    "I am a little jealous.",
    "Next time call me.",
    "My grandmother did it just like that.",
    "Well done, really.",
    "Do not give up, it gets better.",
    "Is there still room?",
    "I heard about it at the market.",
    "You are a hero of the everyday.",
    "Good to know, thank you.",
    "That place is magic in the evening.",
    "I laughed out loud.",
    "Took a note.",
    "Would you lend it to me in spring?",
    "Mine looks nothing like that.",
    "The trick is patience, I am told. I have none.",
    "Same time next week?",
    "Bravo!",
    "I had no idea that was still there.",
];

/// What is answered to a comment.
pub(super) const REPLIES: [&str; 12] = [
    "Thank you!",
    "Any time.",
    "I will write you a message.",
    "About two hours, with tea.",
    "Come by, the door is open.",
    "Deal.",
    "I have no idea myself.",
    "You would be better at it.",
    "Next week for sure.",
    "It was pure luck.",
    "Only if you bring that cake.",
    "Noted!",
];

/// What two people, or a group, say one after the other.
pub(super) const DIALOGUES: [&[&str]; 10] = [
    &["Are you coming later?", "Half past six?", "Perfect, I will save you a chair."],
    &[
        "Do you still have the ladder?",
        "In the shed, take it.",
        "You are the best.",
        "Bring it back this time.",
    ],
    &["Did you see the swans?", "Five of them!", "Six, one was hiding."],
    &[
        "I found your scarf.",
        "Where?",
        "Under the bench by the lock.",
        "I have been looking since March.",
    ],
    &["Can you water the plants next week?", "Of course.", "The fern is dramatic, ignore it."],
    &["How was the dentist?", "Short.", "Soup tonight?", "Yes please. Soft soup."],
    &[
        "Is the meeting still on?",
        "Moved to Thursday.",
        "Same place?",
        "Same place, bring a chair.",
        "Again?",
    ],
    &["Happy birthday!", "It was last week.", "Then happy week after."],
    &[
        "Train is late.",
        "How late?",
        "They say ten minutes.",
        "So half an hour.",
        "See you in an hour.",
    ],
    &[
        "Who takes minutes?",
        "I did last time.",
        "I did the time before.",
        "Fine, me.",
        "Thank you!",
    ],
];

/// Why something is reported.
pub(super) const COMPLAINTS: [&str; 3] = [
    "This is an advertisement.",
    "That is not how we talk to each other here.",
    "Off topic, again.",
];
