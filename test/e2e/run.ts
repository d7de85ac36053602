// The tests in real VS Code: the flows through its windows with the packed extension, and the suites inside its extension host.
//   npm run test:e2e [-- flows [OPTIONS AND FILTERS OF VITEST …] | -- host]
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { CHROMIUM_IS_MISSING, findChromium } from './harness/browser.ts';

const repository = path.join(import.meta.dirname, '..', '..');
const [suite, ...options] = process.argv.slice(2);

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { cwd: repository, stdio: 'inherit' }).status === 0;
}

function need(done: boolean): void {
  if (!done) process.exit(1);
}

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('The flows need Linux x64. Elsewhere, "npm run test:host" runs the suites in a VS Code that it downloads.');
  process.exit(1);
}
if (!findChromium()) {
  console.error(CHROMIUM_IS_MISSING);
  process.exit(1);
}
if (suite !== undefined && suite !== 'flows' && suite !== 'host') {
  console.error(`There is no suite "${suite}": npm run test:e2e [-- flows [OPTIONS AND FILTERS OF VITEST …] | -- host]`);
  process.exit(2);
}
need(run('bash', path.join(import.meta.dirname, 'vscode', 'install.sh')));
const passed = [suite !== 'host' ? flows() : true, suite !== 'flows' ? host() : true];
process.exit(passed.every(Boolean) ? 0 : 1);

function flows(): boolean {
  need(run(process.execPath, 'package-vsix.mjs', `${process.platform}-${process.arch}`));
  forgetArtifactsOf('flows');
  return run('vitest', 'run', '--config', 'test/e2e/vitest.config.ts', ...options);
}

function host(): boolean {
  need(run(process.execPath, 'build.mjs'));
  forgetArtifactsOf('extension-host');
  return run('vscode-test');
}

function forgetArtifactsOf(name: string): void {
  rmSync(path.join(import.meta.dirname, 'artifacts', name), { recursive: true, force: true });
}
