//! A document as a list of steps: its fenced blocks in order, each with its expected result.

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) steps: Vec<Step>,
}

/// A block that does something, or the expected result of the previous one.
#[derive(Debug)]
pub(crate) struct Step {
    /// The section and line, for messages.
    pub(crate) location: String,
    section: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// The kind of a block, by its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Shell,
    /// A document for `POST /graphql`.
    Graphql,
    /// Messages sent (`>`) and received (`<`) over a WebSocket.
    Socket,
    Json,
    /// A response with its headers.
    Http,
    /// The output of a command.
    Text,
    /// Events of the latest connection.
    Events,
    /// Not run: configuration, code, and commands for several machines.
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
            let location = format!("{name}:{number}, {section}");
            let kind = Kind::of(language).unwrap_or_else(|| panic!("{location}: `{language}`?"));
            let inside = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```");
            let text = inside.collect::<Vec<_>>().join("\n");
            steps.push(Step { location, section: section.clone(), kind, text });
        }
        Self { steps }
    }

    /// The sections with something to run.
    pub(crate) fn sections(&self) -> Vec<&str> {
        let runs = |step: &&Step| matches!(step.kind, Kind::Shell | Kind::Graphql | Kind::Socket);
        let mut sections: Vec<_> =
            self.steps.iter().filter(runs).map(|step| step.section.as_str()).collect();
        sections.dedup();
        sections
    }
}
