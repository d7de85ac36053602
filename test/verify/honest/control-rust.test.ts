import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const cargo = tryProgram('cargo', '--version');

const BROKEN = `pub mod calc {
    pub fn twice(number: i64) -> i64 {
        number
    }

    pub fn half(number: i64) -> Result<i64, String> {
        Ok(number / 2)
    }
}
`;
const CALC = BROKEN.replace('        number\n', '        number * 2\n').replace(
  'Ok(number / 2)',
  'if number % 2 == 0 { Ok(number / 2) } else { Err(format!("odd: {number}")) }',
);

/** Tests of which an expectation, altered in a simple way, would hold all the same, or would never be come to. */
const TESTS = `use calc_of::calc::{half, twice};

/// Equals everything, as a matcher does.
#[derive(Debug)]
struct Any;

impl PartialEq<Any> for i64 {
    fn eq(&self, _: &Any) -> bool {
        true
    }
}

fn check(found: i64, expected: i64) {
    assert_eq!(found, expected, "{found} is not {expected}");
}

macro_rules! doubles {
    ($name:ident: $given:expr => $expected:expr) => {
        #[test]
        fn $name() {
            assert_eq!(twice($given), $expected);
        }
    };
}

doubles!(by_a_macro: 2 => 4);
doubles!(by_a_macro_again: 3 => 6);

#[test]
fn forms() {
    assert!(twice(1) == 2);
    assert!(twice(100) > 150, "too small: {}", twice(100));
    assert_ne!(twice(1), 1);
    assert_eq!([twice(1), twice(2)], [2, 4]);
    assert_eq!(twice(1).to_string(), "2");
    assert!(matches!(half(3), Err(text) if text.contains("odd")));
    assert!(half(3).is_err());
    assert!(!(twice(1) == 1));
    assert!((twice(1) as f64 - 2.1).abs() < 0.5);
    debug_assert!(twice(2) == 4);
}

#[test]
fn equals_everything() {
    assert_eq!(twice(1), Any);
    assert_eq!(twice(1), 2);
}

#[test]
fn as_a_result() -> Result<(), String> {
    let found = half(twice(3))?;
    assert_eq!(found, 3);
    if twice(1) != 2 {
        return Err("not two".to_string());
    }
    Ok(())
}

#[test]
#[should_panic(expected = "is not 5")]
fn expects_a_panic() {
    assert_eq!(twice(1), 2, "no panic of the kind");
    check(twice(1), 5);
}

#[test]
#[should_panic]
fn expects_an_assertion_to_fail() {
    assert_eq!(twice(1), 1);
}

#[test]
fn catches_a_panic() {
    assert!(std::panic::catch_unwind(|| assert_eq!(twice(1), 1)).is_err());
}

#[test]
fn unwraps() {
    assert_eq!(half(5).unwrap_err(), "odd: 5");
    half(7).expect_err("seven is odd");
}

#[test]
fn returns_early() {
    for number in 0.. {
        if twice(number) == 6 && number == 3 {
            return;
        }
        assert!(number < 6, "never");
    }
}

#[test]
fn tries_until_it_holds() {
    let found = (0..10).find(|number| twice(*number) == 18);
    assert_eq!(found, Some(9));
}

#[test]
fn in_no_iteration() {
    for number in 0..twice(0) {
        assert_eq!(number, -1);
    }
    assert_eq!(twice(5), 10);
}

#[test]
fn by_a_helper() {
    check(twice(2), 4);
}

#[test]
fn by_a_closure() {
    let equal = |given: i64, expected: i64| assert_eq!(twice(given), expected);
    equal(1, 2);
    [(2, 4), (3, 6)].into_iter().for_each(|(given, expected)| equal(given, expected));
}

#[test]
fn in_a_thread() {
    std::thread::spawn(|| assert_eq!(twice(1), 2)).join().unwrap();
}

#[test]
fn both_sides() {
    assert_eq!(twice(twice(1)) - twice(1), twice(1));
}

fn there_and_back(number: i64) {
    assert_eq!(half(twice(number)), Ok(number));
    assert_eq!(number, twice(number) - number);
}

#[test]
fn given_and_expected_in_a_helper() {
    there_and_back(3);
}

#[test]
fn given_and_expected_in_a_loop() {
    for number in [3, 5] {
        assert_eq!(number, twice(number) - number);
    }
}

#[test]
fn expected_in_a_loop() {
    for (given, expected) in [(1, 2), (2, 4)] {
        assert_eq!(twice(given), expected, "{given} gives {expected}, not {}", expected + 1);
    }
}

#[test]
fn side_effects() {
    let mut numbers = [1, 2].into_iter().map(twice);
    assert_eq!(numbers.next(), Some(2));
    assert_eq!(numbers.next().unwrap(), 4);
    assert!(numbers.next().is_none());
}

#[test]
fn without_an_assertion() {
    if twice(1) != 2 {
        panic!("not two");
    }
}

mod nested {
    use super::*;

    #[test]
    fn deeper() {
        assert_eq!(twice(7), 14);
    }
}
`;

/** A crate of tests that has no `std` in scope. */
const CORE = `#![no_std]
#![deny(unused_extern_crates)]
use calc_of::calc::twice;

#[test]
fn without_std() {
    assert_eq!(twice(4), 8);
}
`;

const RUST: HonestFix = {
  files: {
    'Cargo.toml': '[package]\nname = "calc-of"\nversion = "0.1.0"\nedition = "2021"\n',
    'src/lib.rs': BROKEN,
    'tests/calc.rs': TESTS,
    'tests/core.rs': CORE,
  },
  fix: { 'src/lib.rs': CALC },
  command: 'cargo test',
  mended: [
    'by_a_macro',
    'by_a_macro_again',
    ...[...TESTS.matchAll(/^(?:#\[should_panic.*\n)?fn (\w+)\(\)(?: -> Result.*)? \{/gm)].map(([, name]) => name),
    'nested::deeper',
  ].map((name) => `calc-of > test calc > ${name}`).concat('calc-of > test core > without_std'),
};

describe.skipIf(!available || !cargo.isHere)(
  `an honest fix passes the negative control, whatever its tests look like (${note}, ${cargo.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it('of cargo', async () => {
      await expectHonest(RUST);
    });
  },
);
