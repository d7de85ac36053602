import { nodeTest } from './node-test.ts';
import type { TestRunner } from './test-runner.ts';

/** Every runner whose reports can be read, in the order in which a project and a command are offered to them. */
export const RUNNERS: readonly TestRunner[] = [nodeTest];
