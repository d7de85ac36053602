import Mocha from 'mocha';
import { activationSuite } from './activation.suite.ts';
import { applyEditsSuite } from './apply-edits.suite.ts';
import { keysSuite } from './keys.suite.ts';
import { solveSuite } from './solve.suite.ts';

/*
 * The suite that runs inside VS Code's extension host, with a folder open. VS Code calls `run`; a failure is thrown. It changes files in
 * the open folder and leaves it as it was, and keeps Conductor's home and backend to itself.
 */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 120_000, color: false, reporter: 'spec' });
  // What puts `describe` and `it` there is usually the loading of test files; ours are in this bundle.
  mocha.suite.emit('pre-require', globalThis, null, mocha);
  activationSuite();
  keysSuite();
  applyEditsSuite();
  solveSuite();
  const { passes, failures } = await new Promise<{ passes: number; failures: number }>((resolve) => {
    const runner = mocha.run(() => resolve({ passes: runner.stats?.passes ?? 0, failures: runner.stats?.failures ?? 0 }));
  });
  if (failures > 0) throw new Error(`${failures} of the tests in the extension host failed.`);
  if (passes === 0) throw new Error('No test ran in the extension host.');
}
