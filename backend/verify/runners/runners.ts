import { cargoNextest } from './cargo-nextest.ts';
import { cargoTest } from './cargo-test.ts';
import { ctest } from './ctest.ts';
import { custom } from './custom.ts';
import { goTest } from './go-test.ts';
import { gradle } from './gradle.ts';
import { jest } from './jest.ts';
import { maven } from './maven.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { pytest } from './pytest.ts';
import type { TestRunner } from './test-runner.ts';
import { unittest } from './unittest.ts';
import { vitest } from './vitest.ts';

/** Every runner whose reports can be read, in the order in which a project and a command are offered to them. */
export const RUNNERS: readonly TestRunner[] = [
  ...[vitest, jest, mocha],
  ...[pytest, unittest],
  ...[goTest, cargoNextest, cargoTest, maven, gradle, ctest],
  // After those that node itself may start.
  nodeTest,
  custom,
];
