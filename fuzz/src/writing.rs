//! Writes documents that the schema would accept, mostly.

use std::fmt::Write as _;

use async_graphql::Value;

use crate::bytes::Bytes;
use crate::grammar::{Argument, Field, Grammar, Kind};
use crate::literals::Literals;
use crate::pool::Pool;

/// Fields within fields.
const DEEP: usize = 7;
/// Bytes of a document.
const LONG: usize = 20_000;

/// Something to ask.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) variables: serde_json::Value,
}

struct Writing<'a, 'b> {
    bytes: &'a mut Bytes<'b>,
    grammar: &'a Grammar,
    pool: &'a Pool,
    /// How each is declared, and what it is.
    variables: Vec<(String, Value)>,
    fragments: Vec<String>,
}

/// Writes one.
pub(crate) fn document(bytes: &mut Bytes<'_>, grammar: &Grammar, pool: &Pool) -> Document {
    let (kind, root) = match bytes.pick(8) {
        0..4 => ("query", "Query"),
        4..7 => ("mutation", "Mutation"),
        _ => ("subscription", "Subscription"),
    };
    let (variables, fragments) = (Vec::new(), Vec::new());
    let mut writing = Writing { bytes, grammar, pool, variables, fragments };
    let body = writing.selection(root, 0);
    let directive = writing.directive(40);
    let Writing { variables, fragments, .. } = writing;
    let mut text = String::from(kind);
    if !variables.is_empty() {
        let declared: Vec<&str> = variables.iter().map(|(declared, _)| &**declared).collect();
        write!(text, " Q({})", declared.join(", ")).unwrap();
    }
    write!(text, "{directive} {body}").unwrap();
    fragments.iter().for_each(|fragment| write!(text, " {fragment}").unwrap());
    let given = variables.into_iter().enumerate();
    let given =
        given.map(|(number, (_, value))| (format!("v{number}"), value.into_json().unwrap()));
    Document { text, variables: given.collect() }
}

impl Writing<'_, '_> {
    fn selection(&mut self, of: &str, deep: usize) -> String {
        let grammar = self.grammar;
        let Kind::Composite { fields, kinds } = grammar.kind(of) else { return String::new() };
        if deep > DEEP {
            return String::from("{ __typename }");
        }
        let mut text = String::from("{");
        let count = 1 + self.bytes.pick(if (1..4).contains(&deep) { 6 } else { 2 });
        let mut asked = Vec::new();
        for _ in 0..count {
            if fields.is_empty() || self.bytes.once_in(30) {
                text.push_str(" __typename");
            } else if self.bytes.once_in(200) {
                text.push_str(" nothingLikeThis");
            } else {
                let field = self.bytes.of(fields);
                // Twice the same with other arguments is a conflict, which the rest would not survive.
                if asked.contains(&&field.name) && !self.bytes.once_in(20) {
                    continue;
                }
                asked.push(&field.name);
                self.field(field, deep, &mut text);
            }
            if self.bytes.is_over() {
                break;
            }
        }
        let is_one_of_several = kinds.len() > 1;
        let members = if is_one_of_several { 1 + self.bytes.pick(3) } else { 0 };
        for _ in 0..members {
            let kind = self.bytes.of(kinds);
            let inner = self.selection(kind, deep + 1);
            let directive = self.directive(20);
            write!(text, " ... on {kind}{directive} {inner}").unwrap();
        }
        if self.bytes.once_in(30) {
            self.fragment(of, deep, &mut text);
        }
        text.push_str(" }");
        text
    }

    fn field(&mut self, field: &Field, deep: usize, text: &mut String) {
        let is_composite = matches!(self.grammar.kind(&field.of), Kind::Composite { .. });
        text.push(' ');
        if self.bytes.once_in(10) {
            write!(text, "{}{}: ", field.name, self.bytes.pick(2)).unwrap();
        }
        text.push_str(&field.name);
        let given: Vec<String> =
            field.arguments.iter().filter_map(|argument| self.argument(argument)).collect();
        if !given.is_empty() {
            write!(text, "({})", given.join(", ")).unwrap();
        }
        text.push_str(&self.directive(30));
        if is_composite && text.len() < LONG {
            let inner = self.selection(&field.of, deep + 1);
            write!(text, " {inner}").unwrap();
        } else if is_composite {
            text.push_str(" { __typename }");
        }
    }

    fn argument(&mut self, argument: &Argument) -> Option<String> {
        // Pages of any length, within each other, are more than anybody may ask for.
        let is_length = matches!(&*argument.name, "limit" | "first");
        let chosen = self.bytes.pick(4);
        let wanted = !argument.ty.nullable || chosen == 1 || is_length && chosen > 0;
        if !wanted || self.bytes.once_in(100) {
            return None;
        }
        let literals = Literals { grammar: self.grammar, pool: self.pool };
        let value = literals.of(self.bytes, &argument.name, &argument.ty, 0);
        if !self.bytes.once_in(5) {
            return Some(format!("{}: {value}", argument.name));
        }
        let number = self.variables.len();
        self.variables.push((format!("$v{number}: {}", argument.ty), value));
        Some(format!("{}: $v{number}", argument.name))
    }

    fn directive(&mut self, times: usize) -> String {
        if !self.bytes.once_in(times) {
            return String::new();
        }
        if self.bytes.once_in(30) {
            return String::from(" @nothing(like: this)");
        }
        let directives = [" @include(if: true)", " @skip(if: true)", " @skip(if: false)"];
        (*self.bytes.of(&directives)).to_owned()
    }

    /// A part with a name, which may be about another type, or contain itself.
    fn fragment(&mut self, of: &str, deep: usize, text: &mut String) {
        let number = self.fragments.len();
        self.fragments.push(String::new());
        let inner = if self.bytes.once_in(8) {
            format!("{{ __typename ...F{number} }}")
        } else {
            self.selection(of, deep + 1)
        };
        let on = if self.bytes.once_in(10) { "User" } else { of };
        let fragment = format!("fragment F{number} on {on} {inner}");
        self.fragments.get_mut(number).unwrap().push_str(&fragment);
        write!(text, " ...F{number}").unwrap();
    }
}
