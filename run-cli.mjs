// Runs the command line of this checkout, built first when the sources are newer than the build.
//   node run-cli.mjs solve "question" …
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const cli = path.join(root, 'dist', 'cli.mjs');

/** The inputs of the build. npm updates `node_modules/.package-lock.json` when it installs. */
const SOURCES = [
  'backend', 'extension', 'webview', 'build.mjs', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json',
];

/** Time of the latest change to a file or, because removed files leave no other trace, to a folder. */
function changedAtMs(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(file).reduce((latest, name) => Math.max(latest, changedAtMs(path.join(file, name))), stat.mtimeMs);
}

const builtAtMs = statSync(path.join(root, 'dist', '.built'), { throwIfNoEntry: false })?.mtimeMs ?? -1;
if (SOURCES.some((source) => changedAtMs(path.join(root, source)) > builtAtMs)) {
  // In a separate process, silent on success: scripts read the command line's output.
  const build = spawnSync(process.execPath, ['build.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (build.status !== 0) {
    console.error('The command line could not be built; the errors above say why.');
    process.exit(1);
  }
}

// npm runs scripts in the package's folder. INIT_CWD is the user's folder, to which relative paths refer.
if (process.env.INIT_CWD && process.cwd() === root) process.chdir(process.env.INIT_CWD);
// In this process, so that signals, the terminal and the exit code belong to the command line.
process.argv.splice(1, 1, cli);
await import(pathToFileURL(cli).href);
