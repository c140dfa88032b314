//! The served schema, and what to ask for of each of its types: everything.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Positioned;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, TypeKind, TypeSystemDefinition as Definition,
};

/// What a field of a type gives.
struct Field {
    name: String,
    /// Of which type, or a list of which.
    gives: String,
    /// Whether what goes wrong within it takes away what it is in.
    is_required: bool,
    /// Whether it cannot be asked for without an argument.
    wants: bool,
}

/// The types of the schema, with what was asked for of them so far.
pub(crate) struct Types {
    objects: BTreeMap<String, Vec<Field>>,
    /// What may stand in the place of a union or an interface.
    members: BTreeMap<String, Vec<String>>,
    asked: BTreeSet<String>,
}

/// A field of a type, as it is noted.
fn of(ty: &str, field: &str) -> String {
    format!("{ty}.{field}")
}

fn field(definition: &Positioned<FieldDefinition>) -> Field {
    let FieldDefinition { name, ty, arguments, .. } = &definition.node;
    let mut base = &ty.node.base;
    while let BaseType::List(inner) = base {
        base = &inner.base;
    }
    let wants = |argument: &Positioned<async_graphql::parser::types::InputValueDefinition>| {
        !argument.node.ty.node.nullable && argument.node.default_value.is_none()
    };
    Field {
        name: name.node.to_string(),
        gives: base.to_string(),
        is_required: !ty.node.nullable,
        wants: arguments.iter().any(wants),
    }
}

impl Types {
    pub(crate) fn read(sdl: &str) -> Self {
        let mut types =
            Self { objects: BTreeMap::new(), members: BTreeMap::new(), asked: BTreeSet::new() };
        for definition in parse_schema(sdl).unwrap().definitions {
            let Definition::Type(definition) = definition else { continue };
            let name = definition.node.name.node.to_string();
            match definition.node.kind {
                TypeKind::Object(object) => {
                    for interface in object.implements {
                        let members = types.members.entry(interface.node.to_string()).or_default();
                        members.push(name.clone());
                    }
                    types.objects.insert(name, object.fields.iter().map(field).collect());
                }
                TypeKind::Union(union) => {
                    let members = union.members.iter().map(|member| member.node.to_string());
                    types.members.insert(name, members.collect());
                }
                _ => {}
            }
        }
        types
    }

    /// The names of a type's fields.
    pub(crate) fn fields(&self, ty: &str) -> BTreeSet<&str> {
        self.objects[ty].iter().map(|field| field.name.as_str()).collect()
    }

    /// What stands in the place of a union or an interface.
    pub(crate) fn members(&self, ty: &str) -> &[String] {
        &self.members[ty]
    }

    /// What a field of a type gives.
    pub(crate) fn given(&self, ty: &str, field: &str) -> &str {
        &self.objects[ty].iter().find(|other| other.name == field).unwrap().gives
    }

    /// Whether there is something to be asked for of a type: it is no scalar.
    fn is_leaf(&self, ty: &str) -> bool {
        !self.objects.contains_key(ty) && !self.members.contains_key(ty)
    }

    /// What the items of a list are, if it is one.
    pub(crate) fn item(&self, ty: &str) -> Option<&str> {
        ty.ends_with("Connection").then(|| self.given(ty, "items"))
    }

    /// The fields of a type that have no fields.
    fn leaves(&mut self, ty: &str) -> String {
        let leaves = self.objects[ty].iter().filter(|field| self.is_leaf(&field.gives));
        let leaves: Vec<String> = leaves.map(|field| field.name.clone()).collect();
        self.asked.extend(leaves.iter().map(|name| of(ty, name)));
        format!("__typename {}", leaves.join(" "))
    }

    /// The leaves of a type, or of everything that may stand in its place.
    fn leaves_of_any(&mut self, ty: &str) -> String {
        let Some(members) = self.members.get(ty).cloned() else { return self.leaves(ty) };
        let each = members.iter().map(|it| format!("... on {it} {{ {} }}", self.leaves(it)));
        format!("__typename {}", each.collect::<Vec<_>>().join(" "))
    }

    /// Everything of a type that goes wrong by itself: its leaves, and those of what it points to.
    pub(crate) fn base(&mut self, ty: &str) -> String {
        let mut asked = vec![self.leaves_of_any(ty)];
        for (name, gives) in self.edges(ty, false) {
            let inner = self.leaves_of_any(&gives);
            self.asked.insert(of(ty, &name));
            asked.push(format!("{name} {{ {inner} }}"));
        }
        asked.join(" ")
    }

    /// The fields of a type that have fields, by whether what goes wrong in them takes it away.
    fn edges(&self, ty: &str, is_required: bool) -> Vec<(String, String)> {
        let fields = self.objects.get(ty).into_iter().flatten();
        let edges = fields.filter(|field| {
            field.is_required == is_required && !field.wants && !self.is_leaf(&field.gives)
        });
        edges.map(|field| (field.name.clone(), field.gives.clone())).collect()
    }

    /// Everything of a type, so many edges deep: in several pieces, because what is refused in one of
    /// its lists takes away all that is asked for together with it.
    pub(crate) fn pieces(&mut self, ty: &str, depth: usize) -> Vec<String> {
        let mut pieces = vec![self.base(ty)];
        if depth == 0 {
            return pieces;
        }
        for (name, gives) in self.edges(ty, true) {
            self.asked.insert(of(ty, &name));
            let item = self.item(&gives).map(str::to_owned);
            let inner = self.pieces(item.as_deref().unwrap_or(&gives), depth - 1);
            if item.is_some() {
                self.asked.extend(["items", "nextToken"].map(|field| of(&gives, field)));
                let list =
                    |inner: &String| format!("__typename {name}(limit: 100) {}", items(inner));
                pieces.extend(inner.iter().map(list));
            } else {
                let one = |inner: &String| format!("__typename {name} {{ {inner} }}");
                pieces.extend(inner.iter().map(one));
            }
        }
        pieces
    }

    /// The same in brackets; nothing of what has no fields.
    pub(crate) fn pieces_or_none(&mut self, ty: &str, depth: usize) -> Vec<String> {
        if self.is_leaf(ty) {
            return vec![String::new()];
        }
        self.pieces(ty, depth).into_iter().map(|piece| format!("{{ {piece} }}")).collect()
    }

    /// A page of a list, Relay's way.
    pub(crate) fn page(&mut self, ty: &str) -> String {
        let (edge, item) = (self.given(ty, "edges").to_owned(), self.item(ty).unwrap().to_owned());
        self.asked.extend(["items", "nextToken", "edges", "pageInfo"].map(|field| of(ty, field)));
        self.asked.insert(of(&edge, "node"));
        let (node, cursor, info) = (self.base(&item), self.leaves(&edge), self.leaves("PageInfo"));
        format!("{{ __typename edges {{ {cursor} node {{ {node} }} }} pageInfo {{ {info} }} }}")
    }

    /// What can be reached from a type and was never asked for.
    pub(crate) fn unasked(&self, root: &str) -> Vec<String> {
        let (mut seen, mut left) = (BTreeSet::new(), vec![root.to_owned()]);
        let mut unasked = Vec::new();
        while let Some(ty) = left.pop() {
            if !seen.insert(ty.clone()) {
                continue;
            }
            left.extend(self.members.get(&ty).into_iter().flatten().cloned());
            for field in self.objects.get(&ty).into_iter().flatten() {
                left.push(field.gives.clone());
                let name = of(&ty, &field.name);
                if ty != root && !self.asked.contains(&name) {
                    unasked.push(name);
                }
            }
        }
        unasked
    }

    /// The fields that were asked for and give something that has fields: of each, somebody must have
    /// been told something, or nothing was looked for there.
    pub(crate) fn edges_asked(&self) -> BTreeSet<String> {
        let edges = self.objects.iter().flat_map(|(ty, fields)| {
            let edges = fields.iter().filter(|field| !self.is_leaf(&field.gives));
            edges.map(|field| of(ty, &field.name))
        });
        edges.filter(|edge| self.asked.contains(edge)).collect()
    }
}

/// Items of a list, AppSync's way.
pub(crate) fn items(inner: &str) -> String {
    format!("{{ __typename items {{ {inner} }} nextToken }}")
}
