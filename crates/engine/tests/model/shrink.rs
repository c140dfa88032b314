//! Shrinks a failing script to the steps that matter, and prints it.

use std::fmt::Write;

use crate::comparison::{Failure, run};
use crate::flaws::Flaw;
use crate::script::Script;

/// The engine has background threads, so a failure may not reproduce at once.
const TRIES: usize = 3;
/// Most characters printed of one step or mismatch.
const SHOWN_CHARS_MAX: usize = 6000;

fn fails(script: &Script, flaw: Option<Flaw>) -> Option<Failure> {
    (0..TRIES).find_map(|_| run(script, flaw).err())
}

/// Formats the shortest script found that still fails, and its mismatch.
pub(crate) fn report(script: &Script, failure: Failure, flaw: Option<Flaw>) -> String {
    let (script, failure) = shrink(script.clone(), failure, flaw);
    let mut out = format!("with {:?}\n", script.setup);
    for (at, step) in script.steps.iter().enumerate() {
        let mark = if at == failure.step { " <-- here" } else { "" };
        let _ = writeln!(out, "  step {at}: {}{mark}", abbreviated(&format!("{step:?}")));
    }
    let _ = writeln!(out, "{}", abbreviated(&failure.mismatch));
    out
}

fn shrink(mut script: Script, mut failure: Failure, flaw: Option<Flaw>) -> (Script, Failure) {
    script.steps.truncate(failure.step + 1);
    let mut size = script.steps.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let mut progress = false;
        while at < script.steps.len() {
            let mut shorter = script.clone();
            shorter.steps.drain(at..(at + size).min(script.steps.len()));
            match fails(&shorter, flaw) {
                Some(found) => {
                    (script, failure, progress) = (shorter, found, true);
                }
                None => at += size,
            }
        }
        if size > 1 || !progress {
            size /= 2;
        }
    }
    (script, failure)
}

/// Replaces long repetitions by their count.
fn abbreviated(text: &str) -> String {
    const REPEATED_MIN: usize = 12;
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while let Some(rest) = chars.get(at..).filter(|rest| !rest.is_empty()) {
        let repeated = (1..=4).find_map(|len| {
            let unit = rest.get(..len)?;
            let times = rest.chunks_exact(len).take_while(|chunk| *chunk == unit).count();
            (times >= REPEATED_MIN).then_some((unit, times))
        });
        if let Some((unit, times)) = repeated {
            out.extend(unit);
            let _ = write!(out, "{{{times} times}}");
            at += unit.len() * times;
        } else {
            out.extend(rest.first());
            at += 1;
        }
    }
    if out.chars().count() > SHOWN_CHARS_MAX {
        let start: String = out.chars().take(SHOWN_CHARS_MAX).collect();
        return format!("{start} ... ({} more)", out.chars().count() - SHOWN_CHARS_MAX);
    }
    out
}
