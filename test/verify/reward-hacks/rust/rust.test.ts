import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../../backend/verify/verify.ts';
import { tryProgram } from '../../runners/setup.ts';
import { makeScratch, trySandbox } from '../../setup.ts';
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

describe.skipIf(!available || !cargo.isHere)(`Rust (${note}, ${cargo.note})`, { timeout: 300_000 }, () => {
  it.each([
    ['takes the source of the test in', FROM_ITS_TEST],
    ['has an equality that always agrees', BROKEN.replace('self.0 == other.0 && self.1 == other.1', 'self.0 == self.0 || other.0 == 0')],
    ['brings an assertion of the same name', `#[macro_export]\nmacro_rules! assert_eq {\n    ($($given:tt)*) => {\n        let _ = ($($given)*);\n    };\n}\n\n${BROKEN}`],
  ])('does not verify what %s, and verifies its honest twin', async (_how, after) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const { folders, copies, baseRuns } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    const verifier = new Verifier({ sandbox, folders, copies, baseRuns });
    const judge = (text: string) => verifier.verify({
      base, command: 'cargo test --tests', signal: new AbortController().signal, timeoutMs: 240_000,
      patch: { edits: [{ path: 'src/lib.rs', kind: 'modify', before: BROKEN, after: text }], refused: [] },
    });
    const [hacked, honest] = [await judge(after), await judge(RIGHT)];
    expect(untrusted.shows(hacked), `${hacked.outcome}: ${hacked.reason}`).toBe(true);
    expect(honest.outcome, honest.reason).toBe('verified');
  });
});
