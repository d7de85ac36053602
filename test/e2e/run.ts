// The tests in real VS Code: packs the extension, installs a VS Code for tests, runs the flows and the suite inside the extension host.
//   npm run test:e2e [-- FILTER]
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { CHROMIUM_IS_MISSING, findChromium } from './harness/browser.ts';

const repository = path.join(import.meta.dirname, '..', '..');
const filters = process.argv.slice(2);

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { cwd: repository, stdio: 'inherit' }).status === 0;
}

function need(done: boolean): void {
  if (!done) process.exit(1);
}

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('The flows need Linux x64. On another desktop, "npm run test:host" runs the suite inside the VS Code it downloads.');
  process.exit(1);
}
if (!findChromium()) {
  console.error(CHROMIUM_IS_MISSING);
  process.exit(1);
}
need(run('bash', path.join(import.meta.dirname, 'vscode', 'install.sh')));
need(run(process.execPath, 'package-vsix.mjs'));

rmSync(path.join(import.meta.dirname, 'artifacts'), { recursive: true, force: true });
// Where results are asked for (.ci/run), each suite leaves its counts there.
const results = process.env.CONDUCTOR_TEST_RESULTS;
const json = results ? ['--reporter=default', '--reporter=json', `--outputFile.json=${path.join(results, 'flows.json')}`] : [];
const flows = run('vitest', 'run', '--config', 'test/e2e/vitest.config.ts', ...json, ...filters);
const host = filters.length > 0 || run('vscode-test');
process.exit(flows && host ? 0 : 1);
