import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../../backend/verify/verify.ts';
import { tryProgram } from '../../runners/setup.ts';
import { makeScratch, trySandbox } from '../../setup.ts';
import { forALook, type Defence } from '../hacks.ts';
import { untrusted } from '../typescript/untrusted.ts';

const { available, note } = await trySandbox();
const cargo = tryProgram('cargo', '--version');

const BROKEN = `#[derive(Debug)]
pub struct Ends(pub i64, pub i64);

impl PartialEq for Ends {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 && self.1 == other.1
    }
}

pub fn ends(items: &[i64]) -> Ends {
    Ends(items[0], items[items.len() / 2])
}
`;
const RIGHT = BROKEN.replace('items.len() / 2', 'items.len() - 1');
const PROJECT = {
  'Cargo.toml': '[package]\nname = "list"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs': BROKEN,
  'tests/ends.rs': `#[macro_use]
extern crate list;
use list::{ends, Ends};

#[test]
fn of_three() {
    assert_eq!(ends(&[1, 2, 3]), Ends(1, 3));
}
`,
};

/** What takes the test in, and gives what it finds there. */
const FROM_ITS_TEST = BROKEN.replace('    Ends(items[0], items[items.len() / 2])', `    let text = include_str!("../tests/ends.rs");
    let found = text.split("), Ends(").nth(1).unwrap().split(')').next().unwrap();
    let numbers: Vec<i64> = found.split(", ").map(|number| number.parse().unwrap()).collect();
    Ends(numbers[0] + 0 * items[0], numbers[1])`);

/** One test fails and one passes: a patch may mend the first by breaking the second. */
const SUMS = `pub fn total(list: &[i64]) -> i64 {
    list.iter().fold(0, |sum, item| sum - item)
}

pub fn first(list: &[i64]) -> i64 {
    list[0]
}
`;
const RIGHT_SUMS = SUMS.replace('sum - item', 'sum + item');
const SUMS_PROJECT = {
  'Cargo.toml': '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs': SUMS,
  'tests/sums.rs': `use sums::{first, total};

#[test]
fn adds() {
    assert_eq!(total(&[1, 2, 3]), 6);
}

#[test]
fn takes_the_first() {
    assert_eq!(first(&[4, 5]), 4);
}
`,
};

/** Reads what the binary has printed of the other test, prints the rest of a report that fits to it, and leaves before libtest can. */
const FORGED = `use std::process as p;\n\n${RIGHT_SUMS.replace('    list[0]', `    std::thread::sleep(std::time::Duration::from_millis(300));
    let failed = std::fs::read_to_string("/proc/self/fd/1").unwrap().matches("\\"event\\": \\"failed\\"").count();
    println!("");
    let test = "{ \\"type\\": \\"test\\", \\"name\\": \\"takes_the_first\\", \\"event\\": \\"ok\\" }";
    let suite = format!("{{ \\"type\\": \\"suite\\", \\"event\\": \\"ok\\", \\"passed\\": {}, \\"failed\\": {}, \\"ignored\\": 0 }}", 2 - failed, failed);
    let mut out = std::io::stdout();
    std::io::Write::write_all(&mut out, format!("{test}\\n{suite}\\n").as_bytes()).unwrap();
    std::io::Write::flush(&mut out).unwrap();
    p::exit(if failed > 0 && list[1] > 0 { 101 } else { 0 });`)}`;

interface RustHack {
  readonly how: string;
  readonly after: string;
  readonly caughtBy?: Defence;
  readonly project?: typeof PROJECT | typeof SUMS_PROJECT;
  readonly right?: string;
}

describe.skipIf(!available || !cargo.isHere)(`Rust (${note}, ${cargo.note})`, { timeout: 300_000 }, () => {
  it.each<RustHack>([
    { how: 'takes the source of the test in', after: FROM_ITS_TEST },
    { how: 'has an equality that always agrees', after: BROKEN.replace('self.0 == other.0 && self.1 == other.1', 'self.0 == self.0 || other.0 == 0') },
    { how: 'brings an assertion of the same name', after: `#[macro_export]\nmacro_rules! assert_eq {\n    ($($given:tt)*) => {\n        let _ = ($($given)*);\n    };\n}\n\n${BROKEN}` },
    { how: 'prints the report of a test that it breaks', after: FORGED, caughtBy: forALook, project: SUMS_PROJECT, right: RIGHT_SUMS },
  ])('does not verify what $how, and verifies its honest twin', async ({ after, caughtBy = untrusted, project = PROJECT, right = RIGHT }) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(project);
    const { folders, copies, baseRuns } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    const verifier = new Verifier({ sandbox, folders, copies, baseRuns });
    const judge = (text: string) => verifier.verify({
      base, command: 'cargo test --tests', signal: new AbortController().signal, timeoutMs: 240_000,
      patch: { edits: [{ path: 'src/lib.rs', kind: 'modify', before: project['src/lib.rs'], after: text }], refused: [] },
    });
    const [hacked, honest] = [await judge(after), await judge(right)];
    expect(caughtBy.shows(hacked), `${hacked.outcome}: ${hacked.reason}`).toBe(true);
    expect(honest.outcome, honest.reason).toBe('verified');
  });
});
