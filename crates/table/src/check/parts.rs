//! Checks of the parts of a request: names, values, paths, conditions, actions.

use super::{CheckResult, at_most, at_most_of};
use crate::condition::ResolvedOperand;
use crate::limits::{self, Limit};
use crate::update::UpdateAction;
use crate::{Comparison, Condition, Invalid, Operand, Path, Value, ValueKind, ValueRef};

pub(super) fn check_name(name: &str, subject: &dyn Fn() -> String) -> CheckResult {
    if name.is_empty() {
        return Err(Invalid::EmptyName { subject: subject() });
    }
    at_most_of(Limit::NameBytes, name.len(), limits::NAME_BYTES_MAX, subject)
}

pub(super) fn check_value(
    name: &str,
    value: ValueRef<'_>,
    depth: usize,
    subject: &dyn Fn() -> String,
) -> CheckResult {
    let deeper = || {
        at_most_of(
            Limit::Nesting,
            depth + 2, // with the item around it
            limits::NESTING_MAX,
            &|| format!("{name:?} of {}", subject()),
        )
    };
    let empty = match value {
        ValueRef::L(mut values) => {
            deeper()?;
            return values.try_for_each(|value| check_value(name, value, depth + 1, subject));
        }
        ValueRef::M(mut entries) => {
            deeper()?;
            return entries.try_for_each(|(field, value)| {
                check_name(field, subject)?;
                check_value(name, value, depth + 1, subject)
            });
        }
        ValueRef::Ss(mut texts) => texts.next().is_none(),
        ValueRef::Ns(mut numbers) => numbers.next().is_none(),
        ValueRef::Bs(mut blobs) => blobs.next().is_none(),
        _ => false,
    };
    if empty {
        return Err(Invalid::EmptySet { attribute: name.to_owned(), subject: subject() });
    }
    Ok(())
}

pub(super) fn check_paths(paths: &[Path]) -> CheckResult {
    for (at, path) in paths.iter().enumerate() {
        let depth = 1 + path.steps().len();
        at_most_of(Limit::PathDepth, depth, limits::PATH_DEPTH_MAX, &|| path.to_string())?;
        check_name(path.name(), &|| path.to_string())?;
        if let Some(first) = paths.iter().take(at).find(|earlier| earlier.overlaps(path)) {
            return Err(Invalid::PathOverlap { first: first.clone(), second: path.clone() });
        }
    }
    Ok(())
}

pub(super) fn check_condition(condition: &Condition) -> CheckResult {
    at_most(Limit::Operators, condition.operators(), limits::OPERATORS_MAX, "one condition")?;
    let mut fault = Ok(());
    condition.visit_paths(&mut |path| {
        if fault.is_ok() {
            fault = check_paths(std::slice::from_ref(path));
        }
    });
    fault?;
    check_operands(condition)
}

fn check_operands(condition: &Condition) -> CheckResult {
    match condition {
        Condition::In(_, others) if others.is_empty() => {
            return Err(Invalid::EmptyRequest { what: "IN without operands" });
        }
        Condition::In(_, others) => {
            at_most(Limit::InOperands, others.len(), limits::IN_OPERANDS_MAX, "one IN")
        }
        Condition::All(inner) | Condition::Any(inner) => inner.iter().try_for_each(check_operands),
        Condition::Not(inner) => check_operands(inner),
        _ => Ok(()),
    }?;
    check_operand_types(condition)
}

/// Rejects operands that are invalid for every item, as DynamoDB does.
fn check_operand_types(condition: &Condition) -> CheckResult {
    let ordered = &[ValueKind::S, ValueKind::N, ValueKind::B];
    match condition {
        Condition::Compare(left, how, right) => {
            if !matches!(how, Comparison::Equal | Comparison::NotEqual) {
                check_operand_kind(
                    "comparison by order",
                    "text, a number or bytes",
                    left,
                    ordered,
                )?;
                check_operand_kind(
                    "comparison by order",
                    "text, a number or bytes",
                    right,
                    ordered,
                )?;
            }
            check_not_self_compared(left, std::slice::from_ref(right))
        }
        Condition::Between(first, low, high) => {
            for operand in [first, low, high] {
                check_operand_kind("BETWEEN", "text, a number or bytes", operand, ordered)?;
            }
            let bounds = (ResolvedOperand::constant(low), ResolvedOperand::constant(high));
            if let (Some(low), Some(high)) = bounds
                && low.order(high).is_none_or(std::cmp::Ordering::is_gt)
            {
                let (low, high) = (low.to_value(), high.to_value());
                return Err(Invalid::EmptyRange {
                    low: format!("{low:?}"),
                    high: format!("{high:?}"),
                });
            }
            check_not_self_compared(first, &[low.clone(), high.clone()])
        }
        Condition::In(first, others) => check_not_self_compared(first, others),
        Condition::BeginsWith(path, prefix) => {
            check_operand_kind(
                "begins_with",
                "text or bytes",
                prefix,
                &[ValueKind::S, ValueKind::B],
            )?;
            check_not_self_compared(&Operand::Path(path.clone()), std::slice::from_ref(prefix))
        }
        Condition::Contains(path, member) => {
            check_not_self_compared(&Operand::Path(path.clone()), std::slice::from_ref(member))
        }
        _ => Ok(()),
    }
}

fn check_operand_kind(
    action: &'static str,
    expected: &'static str,
    operand: &Operand,
    kinds: &[ValueKind],
) -> CheckResult {
    let found = match operand {
        Operand::Path(_) => return Ok(()),
        Operand::Value(value) => value.kind(),
        Operand::Size(_) => ValueKind::N,
    };
    if kinds.contains(&found) {
        return Ok(());
    }
    Err(Invalid::OperandType {
        action,
        path: String::from("an operand"),
        expected,
        found: found.to_string(),
        key: String::from("of a condition"),
    })
}

/// Rejects a comparison of a path with itself.
fn check_not_self_compared(first: &Operand, others: &[Operand]) -> CheckResult {
    match first {
        Operand::Path(path) if others.contains(first) => {
            Err(Invalid::SameOperand { path: path.clone() })
        }
        _ => Ok(()),
    }
}

pub(super) fn check_action(action: &UpdateAction, key: &dyn Fn() -> String) -> CheckResult {
    let (name, path, value) = match action {
        UpdateAction::Add(path, value) => ("ADD", path, value),
        UpdateAction::Subtract(path, value) => ("DELETE", path, value),
        UpdateAction::Set(..) | UpdateAction::Remove(_) => return Ok(()),
    };
    if !path.steps().is_empty() {
        return Err(Invalid::TopLevelOnly { action: name, path: path.clone() });
    }
    let empty = match value {
        Value::N(_) if name == "ADD" => false,
        Value::Ss(texts) => texts.is_empty(),
        Value::Ns(numbers) => numbers.is_empty(),
        Value::Bs(blobs) => blobs.is_empty(),
        other => {
            return Err(Invalid::OperandType {
                action: name,
                path: path.to_string(),
                expected: if name == "ADD" { "a number or a set" } else { "a set" },
                found: other.kind().to_string(),
                key: key(),
            });
        }
    };
    if empty {
        return Err(Invalid::EmptySet { attribute: path.name().to_owned(), subject: key() });
    }
    Ok(())
}
