// Started as another user than root, with a folder of its own. Prints what became of the hogs of which root could read more.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { HOGS } from './hogs.ts';

const [, , folder = ''] = process.argv;
const home = path.join(folder, 'home-of-nobody');
await mkdir(home);
const folders = new RunFolders(path.join(folder, 'runs-of-nobody'), () => true);
const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: home, folders });
const KINDS = [/^forks/, /many processes/, /shared mappings/, /in \/home/, /no name/, /look into/];
const found = [];
for (const { does, command, limits } of HOGS.filter((hog) => KINDS.some((kind) => kind.test(hog.does)))) {
  const run = await folders.create();
  await mkdir(run.workspace);
  const outcome = await sandbox.run({
    command,
    cwd: run.workspace,
    temporary: run.temporary,
    environment: { HOME_OUTSIDE: home },
    timeoutMs: 60_000,
    limits,
    signal: new AbortController().signal,
    sandboxed: true,
  });
  found.push({ does, exceeded: outcome.exceeded });
  await run.remove();
}
process.stdout.write(JSON.stringify(found));
