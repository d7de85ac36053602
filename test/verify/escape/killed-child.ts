// A backend in the middle of a command, which its parent kills.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';

const [, , folder = '', seconds = '', groups] = process.argv;
const folders = new RunFolders(path.join(folder, 'runs-of-child'), () => true);
const sandbox = new Sandbox({
  searchPath: process.env.PATH ?? '',
  homeFolder: path.join(folder, 'home'),
  folders,
  useControlGroups: groups !== 'without control groups',
});
const run = await folders.create();
await mkdir(run.workspace);
process.stdout.write('begun\n');
await sandbox.run({
  command: `setsid sleep ${seconds} & (trap '' TERM HUP; sleep ${seconds}) & sleep ${seconds}`,
  cwd: run.workspace,
  temporary: run.temporary,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  sandboxed: true,
});
