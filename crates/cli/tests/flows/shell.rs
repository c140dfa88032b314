//! The subset of shell that the documents use, so that running them needs neither a shell nor curl:
//! words, quotes, continued lines, variables, and some flags of curl. Anything else is an error in the
//! document.

use std::collections::BTreeMap;

/// The values of names in capitals.
pub(crate) type Names = BTreeMap<String, String>;

/// The commands of a block, each as a list of words.
pub(crate) fn commands(text: &str, names: &Names) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(q), c) if q == c => quote = None,
            (None, '#') if word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            (None, '\\') if rest.next_if_eq(&'\n').is_some() => words.extend(word.take()),
            (None, '\n') => {
                words.extend(word.take());
                if !words.is_empty() {
                    commands.push(std::mem::take(&mut words));
                }
            }
            (None, ' ') => words.extend(word.take()),
            (None | Some('"'), '$') => {
                let mut name = String::new();
                while let Some(c) = rest.next_if(|c| is_name(*c)) {
                    name.push(c);
                }
                word.get_or_insert_default().push_str(value(names, &name));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "a quote is left open: {text}");
    words.extend(word);
    commands.extend((!words.is_empty()).then_some(words));
    commands
}

/// Replaces every name in capitals by its value.
pub(crate) fn fill_names(text: &str, names: &Names) -> String {
    let mut parts = text.split('$');
    let mut output = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        // GraphQL variables begin with a small letter.
        let value = if name.is_empty() { "$" } else { value(names, name) };
        output.extend([value, rest]);
    }
    output
}

fn is_name(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

fn value<'a>(names: &'a Names, name: &str) -> &'a str {
    names.get(name).unwrap_or_else(|| panic!("nothing has said what ${name} is"))
}

/// A parsed curl command.
#[derive(Debug, Default)]
pub(crate) struct Curl {
    pub(crate) method: Option<String>,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Body>,
    /// `-G`: puts the data into the URL.
    pub(crate) in_address: bool,
    /// `-i`: includes the headers of the response.
    pub(crate) head: bool,
    /// `-N`: reads the response as it comes.
    pub(crate) listens: bool,
}

#[derive(Debug)]
pub(crate) enum Body {
    Text(String),
    Encoded(String, String),
    File(String),
}

impl Curl {
    pub(crate) fn read(words: &[String]) -> Self {
        let (mut curl, mut words) = (Self::default(), words.iter());
        while let Some(word) = words.next() {
            let mut next =
                || words.next().unwrap_or_else(|| panic!("nothing after {word}")).clone();
            match word.as_str() {
                "-s" => {}
                "-i" => curl.head = true,
                "-N" => curl.listens = true,
                "-G" => curl.in_address = true,
                "-X" => curl.method = Some(next()),
                "-T" => {
                    curl.method = Some(String::from("PUT"));
                    curl.body = Some(Body::File(next()));
                }
                "-H" => {
                    let header = next();
                    let (name, value) = header.split_once(": ").unwrap();
                    curl.headers.push((name.to_owned(), value.to_owned()));
                }
                "-d" => curl.body = Some(Body::Text(next())),
                "--data-urlencode" => {
                    let pair = next();
                    let (name, value) = pair.split_once('=').unwrap();
                    curl.body = Some(Body::Encoded(name.to_owned(), value.to_owned()));
                }
                url if url.starts_with("http") => url.clone_into(&mut curl.url),
                other => panic!("this does not know curl's {other}"),
            }
        }
        curl
    }
}

#[test]
fn words_are_split_as_a_shell_does() {
    let names = Names::from([(String::from("ID"), String::from("7"))]);
    let text = "a 'b $ID' \"c $ID\" \\\n  d'\"'$ID'\"'  # e\n\nf=1 g";
    let expected = [vec!["a", "b $ID", "c 7", "d\"7\""], vec!["f=1", "g"]];
    assert_eq!(commands(text, &names), expected);
    assert_eq!(
        fill_names("query ($id: ID) { a(b: \"$ID\") }", &names),
        "query ($id: ID) { a(b: \"7\") }"
    );
}
