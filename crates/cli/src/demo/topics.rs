//! What the people of the sample town talk about: one topic each for what they do, with what they post
//! about it, what they want to reach, and what they do for it.

/// Something that people like to do.
#[derive(Debug)]
pub(super) struct Topic {
    /// Its tag.
    pub(super) tag: &'static str,
    /// A second tag that goes with it.
    pub(super) also: &'static str,
    /// What a group about it is called.
    pub(super) group: &'static str,
    /// What is posted about it; `{place}` and `{day}` are filled in.
    pub(super) posts: [&'static str; 6],
    /// What is to be reached.
    pub(super) goal: &'static str,
    /// What is to be done for it.
    pub(super) tasks: [&'static str; 4],
}

/// All of them, the liveliest first.
pub(super) const TOPICS: [Topic; 14] = [
    Topic {
        tag: "gardening",
        also: "allotment",
        group: "Allotments by the Mill",
        posts: [
            "First tomatoes are ripe behind {place}. Nine of them, but who counts.",
            "Does anybody have spare bean seedlings? I can swap for courgettes, as always.",
            "The slugs won this round. Starting the lettuce again on {day}.",
            "Compost turned, back sore, evening perfect.",
            "Planted three currant bushes near {place}. In two years there is jam.",
            "If you water in the morning your peas will thank you. If you do not, mine still will not.",
        ],
        goal: "Grow enough vegetables for one dinner a week",
        tasks: [
            "Build the second raised bed",
            "Order seed potatoes",
            "Fix the rain barrel",
            "Sow the winter leeks",
        ],
    },
    Topic {
        tag: "baking",
        also: "sourdough",
        group: "Crust and Crumb",
        posts: [
            "Rye loaf out of the oven. The kitchen smells like the bakery at {place} used to.",
            "My starter is called Gerda and she doubled overnight.",
            "Flat bread again. It tastes fine. We shall call it focaccia.",
            "Baking for the fair on {day}: tell me what you cannot eat.",
            "Cardamom buns, second attempt. There will be no third, these are it.",
            "Found a proper dough scraper at {place}. Small things.",
        ],
        goal: "Bake all our bread at home for a season",
        tasks: [
            "Feed the starter for ten days",
            "Try the rye recipe",
            "Find a mill that sells by the sack",
            "Bake for the neighbours",
        ],
    },
    Topic {
        tag: "cycling",
        also: "longride",
        group: "Sunday Wheels",
        posts: [
            "Seventy kilometres, two ferries, one puncture. Good {day}.",
            "The lane past {place} has been resurfaced. It is like flying.",
            "Who is in for a slow ride on {day}? Cake stop included.",
            "New brake pads. I can stop now, which is a novelty.",
            "Headwind both ways. Explain that.",
            "Please mind the gravel at {place}, somebody went down there this morning (they are fine).",
        ],
        goal: "Ride a hundred kilometres in one day",
        tasks: [
            "Service the bike",
            "Ride forty before work once",
            "Plan the route with two cake stops",
            "Ride seventy with the group",
        ],
    },
    Topic {
        tag: "running",
        also: "couchto5k",
        group: "Slow Runners Welcome",
        posts: [
            "Five kilometres without walking. I am as surprised as you are.",
            "Fog at {place} this morning, I could hear geese and nothing else.",
            "Rest day. I am very good at those.",
            "Does the half marathon on {day} still take entries?",
            "Ran past {place} and somebody handed me a plum. I love this town.",
            "Knee says no, so it is swimming this week.",
        ],
        goal: "Finish the autumn ten kilometres",
        tasks: [
            "Run three times this week",
            "Buy shoes that fit",
            "Run eight kilometres",
            "Rest for two days before",
        ],
    },
    Topic {
        tag: "books",
        also: "bookclub",
        group: "The Thursday Book Club",
        posts: [
            "Finished it on the tram and missed my stop at {place}.",
            "Book club is at {place} on {day}. Nobody has to have finished.",
            "Looking for something short and strange. Suggestions?",
            "The little library by {place} has a whole shelf of old atlases now.",
            "Read aloud to my neighbour for an hour. We both fell asleep.",
            "I do not lend books. I give them away and hope.",
        ],
        goal: "Read twenty books this year",
        tasks: [
            "Finish the one on the night table",
            "Get a card for the town library",
            "Read something older than me",
            "Lead an evening of the book club",
        ],
    },
    Topic {
        tag: "chess",
        also: "endgame",
        group: "Rook and Pawn",
        posts: [
            "Lost in nineteen moves at {place}. A very educational evening.",
            "Rook endings: everybody knows the rule, nobody knows the exception.",
            "Boards are set up on {day} from six. Beginners first.",
            "I have promised never to play that opening again. Again.",
            "A nine-year-old offered me a draw out of politeness.",
            "Anybody up for correspondence chess? One move a day, no hurry.",
        ],
        goal: "Win a game in the club league",
        tasks: [
            "Solve a puzzle every day for a week",
            "Learn the two-bishop mate",
            "Play ten slow games",
            "Go through my losses",
        ],
    },
    Topic {
        tag: "birds",
        also: "dawnchorus",
        group: "Early Birders",
        posts: [
            "Two kingfishers by {place}, at the old weir. Went home grinning.",
            "The swifts are back. It is summer, whatever the thermometer says.",
            "Owl in the chestnut again. She looks at me as if I were late with the rent.",
            "Count for {day}: 31 species, one of them a very ambitious pigeon.",
            "Please keep dogs on a lead near {place}, the lapwings are nesting.",
            "Heard a nightingale over the traffic. Stood there for a quarter of an hour.",
        ],
        goal: "See a hundred species in one year",
        tasks: [
            "Clean the binoculars",
            "Join the dawn walk",
            "Count at the reservoir",
            "Learn five new calls",
        ],
    },
    Topic {
        tag: "pottery",
        also: "handmade",
        group: "Kiln Sharing",
        posts: [
            "The kiln opened. Four bowls survived, and one of them is round.",
            "Glaze test number twelve: finally the green of {place} in March.",
            "Wheel class has two places free on {day}.",
            "A handle fell off. It is a vase now.",
            "If you find a mug at {place}, it is a gift.",
            "Clay under every fingernail and not a single thought all afternoon.",
        ],
        goal: "Make a set of six cups that match",
        tasks: [
            "Throw twenty and keep six",
            "Mix the grey glaze",
            "Book the kiln",
            "Sand the feet",
        ],
    },
    Topic {
        tag: "hiking",
        also: "weekendwalk",
        group: "Over Hill and Stile",
        posts: [
            "Up before six, on the ridge by eight, soup at {place} by noon.",
            "The footbridge is closed until {day}. The detour has blackberries.",
            "Eighteen kilometres and I only got lost on purpose.",
            "New boots. My heels have opinions.",
            "If you walk from {place} at dusk you meet the deer.",
            "Map, apple, spare socks. Everything else is luxury.",
        ],
        goal: "Walk the whole river path",
        tasks: [
            "Walk from the spring to the mill",
            "Walk from the mill to the lock",
            "Walk from the lock to the sea",
            "Write it up for the group",
        ],
    },
    Topic {
        tag: "photography",
        also: "film",
        group: "Slow Shutter",
        posts: [
            "Thirty-six frames of {place} in the rain, two of them sharp.",
            "Found my grandmother's camera. It works. It is smarter than me.",
            "Light was doing something ridiculous on {day} and I had left the film at home.",
            "Darkroom evening: bring your negatives and something to nibble.",
            "Portrait of a bus stop. It was patient.",
            "Does anybody repair shutters near {place}?",
        ],
        goal: "Hang ten pictures in the café",
        tasks: [
            "Choose thirty",
            "Print ten",
            "Find frames that match badly",
            "Ask the café nicely",
        ],
    },
    Topic {
        tag: "cooking",
        also: "soup",
        group: "Soup Exchange",
        posts: [
            "Lentil soup for twelve, and I am one person. Come by {place} with a jar.",
            "The market on {day} has quinces. Run.",
            "Burnt the onions on purpose. Highly recommended.",
            "A question of principle: does dill belong in it? (It does.)",
            "Cooked from the back of the cupboard and it was the best in weeks.",
            "Dumplings at {place} tonight, folding starts at six.",
        ],
        goal: "Cook a new dish every week for a season",
        tasks: [
            "Cook something from a neighbour's recipe",
            "Use up the jar of barley",
            "Learn to fold dumplings",
            "Invite six people",
        ],
    },
    Topic {
        tag: "music",
        also: "choir",
        group: "The Kitchen Choir",
        posts: [
            "Choir met at {place}. Thirty voices, one of them in tune. Glorious.",
            "Looking for a second viola for {day}. Enthusiasm beats practice.",
            "Learnt a new chord. My neighbours have learnt it, too.",
            "Somebody plays the accordion by {place} every evening. Thank you, whoever you are.",
            "Broke a string during the quiet part.",
            "We need a name for the band. So far: Damp Cardboard.",
        ],
        goal: "Play one whole evening without sheet music",
        tasks: [
            "Learn six songs",
            "Practise with the metronome",
            "Play for two friends",
            "Ask for the Thursday slot",
        ],
    },
    Topic {
        tag: "stargazing",
        also: "nightsky",
        group: "Lights Out",
        posts: [
            "Saturn over {place}, rings and all. Everybody in the queue gasped.",
            "Clear skies on {day}, they say. They said that last week, too.",
            "Nine meteors in an hour. Made nine very small wishes.",
            "Please, whoever owns the floodlight at {place}: there is a galaxy behind it.",
            "Explained light years to my nephew. He asked who waits that long.",
            "Fingers frozen, tea spilt, Orion splendid.",
        ],
        goal: "Find all the bright Messier objects",
        tasks: [
            "Align the finder",
            "Borrow the big telescope",
            "Sketch ten of them",
            "Host an evening on the hill",
        ],
    },
    Topic {
        tag: "repair",
        also: "repaircafe",
        group: "Repair Café",
        posts: [
            "Toaster: saved. Lamp: saved. Umbrella: we held a short ceremony.",
            "Repair café at {place} on {day}, bring it broken.",
            "It was the fuse. It is always the fuse.",
            "Does anybody have a spare belt for a sewing machine from the sixties?",
            "Sharpened nineteen knives and kept all fingers.",
            "Fixed the bench at {place}. Sit on it, that is what it is for.",
        ],
        goal: "Keep fifty things out of the bin",
        tasks: [
            "Sort the screws",
            "Borrow the soldering station",
            "Mend the neighbour's radio",
            "Write down what broke and why",
        ],
    },
];

/// Places of the town.
pub(super) const PLACES: [&str; 18] = [
    "the old mill",
    "the lock",
    "Lantern Square",
    "the north bridge",
    "the tram depot",
    "Quince Lane",
    "the weir",
    "the town library",
    "Saint Orla's yard",
    "the fish market",
    "the water tower",
    "Cooper's Steps",
    "the botanical garden",
    "the ferry landing",
    "the swimming hall",
    "the chestnut avenue",
    "the clock house",
    "the long meadow",
];

/// Days of the week.
pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
