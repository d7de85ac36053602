// A backend that was started with open files. Prints what a command in its sandbox finds in all its descriptors.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';

const [, , folder = ''] = process.argv;
const folders = new RunFolders(path.join(folder, 'runs-of-child'), () => true);
const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: path.join(folder, 'home'), folders });
const run = await folders.create();
await mkdir(run.workspace);
const { stdout } = await sandbox.run({
  command: 'for descriptor in /proc/self/fd/*; do timeout 1 cat "$descriptor" 2>/dev/null; done; echo end',
  cwd: run.workspace,
  temporary: run.temporary,
  timeoutMs: 30_000,
  signal: new AbortController().signal,
  sandboxed: true,
});
process.stdout.write(stdout);
await run.remove();
