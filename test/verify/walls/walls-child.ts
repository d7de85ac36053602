// Started as another user or in a namespace. Prints whether there is a sandbox, and what became of a command in it.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';

const [, , folder = '', command = ''] = process.argv;
const home = path.join(folder, 'home-of-child');
await mkdir(home);
const folders = new RunFolders(path.join(folder, 'runs-of-child'), () => true);
const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: home, folders });
const availability = await sandbox.availability();
const run = await folders.create();
const outcome = availability.available
  ? await sandbox.run({
      command, cwd: await run.makeWorkspace(), temporary: run.temporary, timeoutMs: 30_000, signal: new AbortController().signal, sandboxed: true,
      environment: { HOME_OUTSIDE: home },
    })
  : undefined;
await run.remove();
process.stdout.write(JSON.stringify({ availability, outcome }));
