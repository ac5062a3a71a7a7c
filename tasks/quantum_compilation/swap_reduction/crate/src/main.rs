//! Routes one circuit on one device with the candidate's policy.
//!
//! `router HASH_SEED SEED LAYOUT_TRIALS ROUTING_TRIALS` reads a case from standard input and writes
//! `trace.json` into the working directory: `{"initial_layout", "swaps", "forced"}` or `{"error"}`.
//! A case is text: the numbers of physical qubits, edges, logical qubits and operations, then the
//! edges (`a b`), then the operations (name and qubits), one a line.

#[allow(warnings)]
#[forbid(unsafe_code)]
mod candidate;
#[allow(dead_code)]
mod engine;
mod hash_seed;

use std::any::Any;
use std::io::Read;
use std::panic::{catch_unwind, AssertUnwindSafe};

use engine::circuit::{Circuit, Operation};
use engine::routing_target::RoutingTarget;
use engine::sabre::trials::{route, Routing, Trials};
use engine::RouterError;

fn main() {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let (hash_seed, trials) = match arguments[..] {
        [hash_seed, seed, layouts, runs] => (
            hash_seed,
            Trials {
                seed,
                layouts: layouts as usize,
                runs: runs as usize,
            },
        ),
        _ => {
            eprintln!("usage: router HASH_SEED SEED LAYOUT_TRIALS ROUTING_TRIALS < case");
            std::process::exit(2);
        }
    };
    hash_seed::set(hash_seed);
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("a case on standard input");
    let outcome = read_case(&text).and_then(|(circuit, target)| {
        let dag = engine::dag::build(&circuit);
        let policy_run = || route(&dag, &target, candidate::CandidatePolicy::default(), trials);
        catch_unwind(AssertUnwindSafe(policy_run))
            .unwrap_or_else(|payload| Err(RouterError::Routing(panic_message(&*payload))))
    });
    let record = match outcome {
        Ok(routing) => trace(&routing),
        Err(error) => format!("{{\"error\":{}}}", quoted(&error.to_string())),
    };
    std::fs::write("trace.json", record).expect("trace.json can be written");
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    format!("the policy panicked: {}", text.unwrap_or_default())
}

fn read_case(text: &str) -> Result<(Circuit, RoutingTarget), RouterError> {
    let mut lines = text.lines();
    let (num_physical, num_edges, num_qubits, num_operations) =
        match numbers(lines.next().unwrap_or_default())?[..] {
            [physical, edges, logical, operations] => (physical, edges, logical, operations),
            _ => {
                return Err(RouterError::Parse(
                    "the first line needs four numbers".into(),
                ))
            }
        };
    let mut edges = Vec::with_capacity(num_edges);
    for line in lines.by_ref().take(num_edges) {
        match numbers(line)?[..] {
            [a, b] => edges.push([a, b]),
            _ => return Err(RouterError::Parse(format!("{line:?} is no edge"))),
        }
    }
    let mut operations = Vec::with_capacity(num_operations);
    for line in lines.take(num_operations) {
        let (name, qubits) = line.split_once(' ').unwrap_or((line, ""));
        let qubits = numbers(qubits)?;
        if qubits.iter().any(|&qubit| qubit >= num_qubits) {
            return Err(RouterError::Parse(format!(
                "{line:?} leaves the {num_qubits} qubits"
            )));
        }
        operations.push(Operation {
            name: name.to_string(),
            qubits,
        });
    }
    if (edges.len(), operations.len()) != (num_edges, num_operations) {
        return Err(RouterError::Parse("the case is cut off".into()));
    }
    Ok((
        Circuit {
            num_qubits,
            operations,
        },
        RoutingTarget::new(num_physical, &edges)?,
    ))
}

fn numbers(line: &str) -> Result<Vec<usize>, RouterError> {
    let number = |word: &str| {
        word.parse()
            .map_err(|_| RouterError::Parse(format!("{word:?} is no number")))
    };
    line.split_whitespace().map(number).collect()
}

fn trace(routing: &Routing) -> String {
    let layout: Vec<String> = routing
        .initial_layout
        .iter()
        .map(usize::to_string)
        .collect();
    let swaps: Vec<String> = routing
        .swaps
        .iter()
        .map(|(a, b)| format!("[{a},{b}]"))
        .collect();
    format!(
        "{{\"initial_layout\":[{}],\"swaps\":[{}],\"forced\":{}}}",
        layout.join(","),
        swaps.join(","),
        routing.forced
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if (letter as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", letter as u32)),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}
