use std::collections::BTreeSet;

use roundtable_model::Core;
use roundtable_model::shape::EntityShape;

use super::*;

/// Returns the names between braces.
fn holes(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn entity(name: &str) -> &'static EntityShape {
    Core::SHAPE.entity(name).unwrap_or_else(|| panic!("there is no entity {name}"))
}

#[test]
fn every_attribute_becomes_a_field_that_there_is() {
    for document in DOCUMENTS {
        for shape in document.shapes {
            for DocumentAttribute { name, becomes } in shape.attributes.iter().chain(shape.parts) {
                let (of, field) = match becomes {
                    Becomes::Field(field) => (entity(shape.ours), field),
                    Becomes::Of(other, field) => (entity(other), field),
                    Becomes::Nothing(why) => {
                        assert!(!why.is_empty());
                        continue;
                    }
                };
                let found = of.fields.iter().any(|known| known.field == *field);
                assert!(found, "{}: {}.{name} becomes {field}", document.name, shape.entity);
            }
        }
    }
}

#[test]
fn every_key_is_made_of_what_its_shape_knows() {
    for document in DOCUMENTS {
        for shape in document.shapes {
            let known = shape.attributes.iter().chain(shape.parts);
            let known: BTreeSet<&str> = known.map(|attribute| attribute.name).collect();
            assert_eq!(known.len(), shape.attributes.len() + shape.parts.len(), "{}", shape.entity);
            for key in shape.keys {
                let index = key.index.is_none_or(|index| document.indexes.contains(&index));
                assert!(index, "{}: {} has a key of no index", document.name, shape.entity);
                for hole in holes(key.partition).chain(holes(key.sort)) {
                    assert!(known.contains(hole), "{}: {} {hole}", document.name, shape.entity);
                }
            }
        }
    }
}

#[test]
fn every_question_has_a_name_of_its_own_and_a_pattern_that_answers_it() {
    for document in DOCUMENTS {
        let mut names = BTreeSet::new();
        for question in document.questions {
            let place = format!("{} {}", document.name, question.name);
            assert!(names.insert(question.name), "{place} is there twice");
            let index = question.index.is_none_or(|index| document.indexes.contains(&index));
            assert!(index, "{place} names no index");
            let ours = question.answered_by;
            let composites = Core::SHAPE.composites.iter();
            let found = composites.map(|composite| composite.name).any(|name| name == ours);
            assert!(found || Core::SHAPE.pattern(ours).is_some(), "{place}: no pattern {ours}");
        }
    }
}

#[test]
fn a_filter_on_a_key_of_a_query_is_marked_as_rejected() {
    for question in DOCUMENTS.iter().flat_map(|document| document.questions) {
        let index = question.index.unwrap_or("");
        let keys = [format!("{index}PK"), format!("{index}SK")];
        let on_key =
            question.filter.iter().any(|filter| keys.iter().any(|k| k == filter.attribute()));
        let rejected = on_key && question.operation == DocumentOperation::Query;
        assert_eq!(question.rejected.is_some(), rejected, "{}", question.name);
    }
}

#[test]
fn every_table_can_be_made() {
    for document in DOCUMENTS {
        assert_eq!(document.definition().check(), Ok(()), "{}", document.name);
    }
}
