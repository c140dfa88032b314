//! A document as a list of steps: its fenced blocks, in their order, each with what is expected of it.

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) steps: Vec<Step>,
}

/// A block that does something, or what the one before it must have come to.
#[derive(Debug)]
pub(crate) struct Step {
    /// Where it stands, for people.
    pub(crate) place: String,
    section: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// What a block is, by its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commands.
    Shell,
    /// A document for `POST /graphql`.
    Graphql,
    /// What a WebSocket says (`>`) and hears (`<`).
    Socket,
    /// An answer.
    Json,
    /// An answer with its head.
    Http,
    /// What a command prints.
    Text,
    /// Events of the connection that was opened last.
    Events,
    /// For readers only: configuration, code, and commands for several machines.
    Shown,
}

impl Kind {
    fn of(language: &str) -> Option<Self> {
        Some(match language {
            "sh" => Self::Shell,
            "graphql" => Self::Graphql,
            "ws" => Self::Socket,
            "json" => Self::Json,
            "http" => Self::Http,
            "text" => Self::Text,
            "event-stream" => Self::Events,
            "rust" | "toml" | "console" => Self::Shown,
            _ => return None,
        })
    }
}

impl Document {
    pub(crate) fn read(name: &str, text: &str) -> Self {
        let (mut steps, mut section) = (Vec::new(), String::new());
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                title.clone_into(&mut section);
            }
            let Some(language) = line.strip_prefix("```") else { continue };
            let place = format!("{name}:{number}, {section}");
            let kind = Kind::of(language).unwrap_or_else(|| panic!("{place}: `{language}`?"));
            let inside = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```");
            let text = inside.collect::<Vec<_>>().join("\n");
            steps.push(Step { place, section: section.clone(), kind, text });
        }
        Self { steps }
    }

    /// The sections that have something to run.
    pub(crate) fn sections(&self) -> Vec<&str> {
        let runs = |step: &&Step| matches!(step.kind, Kind::Shell | Kind::Graphql | Kind::Socket);
        let mut sections: Vec<_> =
            self.steps.iter().filter(runs).map(|step| step.section.as_str()).collect();
        sections.dedup();
        sections
    }
}
