//! Compares answers with those of another commit: `oracle generate COUNT SEED` writes documents,
//! `oracle compare FILE` compares.

#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a failed run should stop")]
#![expect(clippy::print_stdout, reason = "the comparison is the output")]

use std::fs::File;
use std::io::{BufReader, BufWriter};

use roundtable_fuzz::{compare_with_oracle, generate_oracle};

const USAGE: &str = "usage: oracle generate COUNT SEED | oracle compare FILE";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["generate", count, seed] => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            generate_oracle(count.parse().unwrap(), seed.parse().unwrap(), &mut out);
        }
        ["compare", file] => {
            let comparison = compare_with_oracle(BufReader::new(File::open(file).unwrap()));
            println!("{comparison}");
            assert_eq!(comparison.unexplained, 0, "there are differences that are not accepted");
        }
        _ => println!("{USAGE}"),
    }
}
