import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const cargo = tryProgram('cargo', '--version');

const manifest = (name: string, rest = ''): string => `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${rest}`;

const PROJECTS: Record<string, HonestFix> = {
  'a workspace with path dependencies, tests of units, of the whole and of documentation, panics, results and ignored ones': {
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["core", "app"]\nresolver = "2"\n',
      'core/Cargo.toml': manifest('word-core'),
      'core/src/lib.rs': `//! Words.
//!
//! \`\`\`
//! assert_eq!(word_core::count("a  b"), 2);
//! \`\`\`

mod parts;

use std::fmt;

/// What is wrong with a text.
#[derive(Debug, PartialEq)]
pub struct Empty;

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no words")
    }
}

impl std::error::Error for Empty {}

/// Counts words.
pub fn count(text: &str) -> usize {
    parts::parts(text).count()
}

/// The first word.
///
/// \`\`\`should_panic
/// word_core::first("").unwrap();
/// \`\`\`
pub fn first(text: &str) -> Result<&str, Empty> {
    parts::parts(text).next().filter(|word| !word.is_empty()).ok_or(Empty)
}
`,
      'core/src/parts.rs': `pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ')
}
`,
      'core/tests/counts.rs': `use word_core::{count, first, Empty};

mod common;

#[test]
fn from_a_table() {
    for (text, expected) in [("a", 1), ("a b", 2), ("a   b", 2)] {
        assert_eq!(count(text), expected, "{text:?}");
    }
}

#[test]
fn by_a_helper() {
    common::check(" a ", 1);
}

#[test]
fn as_a_result() -> Result<(), Empty> {
    assert_eq!(first(" x y")?, "x");
    Ok(())
}

#[test]
#[should_panic(expected = "no words: Empty")]
fn panics() {
    first("").expect("no words");
}

#[test]
#[ignore = "later"]
fn later() {
    panic!();
}

#[test]
fn writes_and_listens() {
    std::fs::write("out.txt", "x").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || listener.accept().map(|_| ()));
    std::net::TcpStream::connect(address).unwrap();
    thread.join().unwrap().unwrap();
    println!("{{ \\"type\\": \\"test\\" }}");
}
`,
      'core/tests/common/mod.rs': 'pub fn check(text: &str, expected: usize) {\n    assert_eq!(word_core::count(text), expected);\n}\n',
      'app/Cargo.toml': manifest('word-app', '\n[dependencies]\nword-core = { path = "../core" }\n\n[features]\ndefault = ["loud"]\nloud = []\n'),
      'app/build.rs': 'fn main() {\n    println!("cargo:rustc-env=GREETING=hello");\n}\n',
      'app/src/main.rs': `fn shown(text: &str) -> String {
    let words = word_core::count(text);
    format!("{} {words}", env!("GREETING"))
}

fn main() {
    println!("{}", shown(&std::env::args().skip(1).collect::<Vec<_>>().join(" ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown() {
        assert_eq!(shown("a  b"), "hello 2");
    }

    #[cfg(feature = "loud")]
    #[test]
    fn is_loud() {
        assert!(shown("").starts_with("hello"));
    }
}
`,
      'app/tests/command.rs': `use std::process::Command;

#[test]
fn runs() {
    let output = Command::new(env!("CARGO_BIN_EXE_word-app")).args(["a", "", "b"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hello 2\\n");
}
`,
    },
    fix: { 'core/src/parts.rs': ["text.split(' ')", 'text.split_whitespace()'] },
    command: 'cargo test --workspace',
    mended: [
      ...['word-app > bin word-app > tests::is_shown', 'word-app > test command > runs', 'word-core > doc > core/src/lib.rs - (line 3)'.replace(' (line 3)', '')],
      ...['from_a_table', 'by_a_helper', 'as_a_result'].map((name) => `word-core > test counts > ${name}`),
    ],
  },

  'unit tests in the file that is mended, which stay as they are': {
    files: {
      'Cargo.toml': manifest('clamp-of'),
      'src/lib.rs': `pub fn clamp(value: i32, low: i32, high: i32) -> i32 {
    if value < low {
        low
    } else if value > high {
        low
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::clamp;

    #[test]
    fn above() {
        assert_eq!(clamp(9, 1, 5), 5);
    }

    #[test]
    fn below() {
        assert_eq!(clamp(0, 1, 5), 1);
    }
}
`,
    },
    fix: { 'src/lib.rs': ['value > high {\n        low', 'value > high {\n        high'] },
    command: 'cargo test',
    mended: ['clamp-of > tests::above'],
  },
};

describe.skipIf(!available || !cargo.isHere)(`an honest fix of a cargo project is verified, with (${note}, ${cargo.note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
    await expectHonest(honest);
  });
});
