import { TEST_RUNNERS, type TestRunnerName } from '../../protocol/test-runners.ts';
import { ava } from './ava.ts';
import { bunTest } from './bun-test.ts';
import { cargoNextest } from './cargo-nextest.ts';
import { cargoTest } from './cargo-test.ts';
import { ctest } from './ctest.ts';
import { custom } from './custom.ts';
import { denoTest } from './deno-test.ts';
import { exitCode } from './exit-code.ts';
import { goTest } from './go-test.ts';
import { gradle } from './gradle.ts';
import { jasmine } from './jasmine.ts';
import { jest } from './jest.ts';
import { maven } from './maven.ts';
import { minitest } from './minitest.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { phpunit } from './phpunit.ts';
import { pytest } from './pytest.ts';
import { rspec } from './rspec.ts';
import { tap } from './tap.ts';
import { tape } from './tape.ts';
import type { TestRunner } from './test-runner.ts';
import { unittest } from './unittest.ts';
import { vitest } from './vitest.ts';

const BY_NAME: { readonly [Name in TestRunnerName]: TestRunner<Name> } = {
  vitest,
  jest,
  mocha,
  jasmine,
  ava,
  tape,
  tap,
  bun: bunTest,
  deno: denoTest,
  pytest,
  unittest,
  go: goTest,
  nextest: cargoNextest,
  cargo: cargoTest,
  maven,
  gradle,
  phpunit,
  ctest,
  rspec,
  minitest,
  'node-test': nodeTest,
  custom,
  'exit-code': exitCode,
};

/** Every runner, in the order in which a project and a command are tried with them. */
export const RUNNERS: readonly TestRunner[] = TEST_RUNNERS.map((name) => BY_NAME[name]);
