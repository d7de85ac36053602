import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

/** On disk, and not emptied at a restart, as /tmp may be. On Windows, the user's own. */
const sharedFolder = (): string | undefined => (process.platform === 'win32' ? process.env['LOCALAPPDATA'] : '/var/tmp');

/**
 * The folder in which the runs of a Conductor home (absolute) work. Servers of static files, globs and watchers skip what is below a folder
 * whose name begins with a dot, such as ~/.conductor, and tests that use them fail there. So the folder has no such name in its path.
 */
export async function runsRoot(home: string): Promise<string> {
  const inHome = path.join(home, 'verify');
  const hasDot = home.split(path.sep).some((name) => name.startsWith('.'));
  const shared = sharedFolder();
  if (!hasDot || shared === undefined) return inHome;
  const isThere = await access(shared, constants.W_OK).then(() => true, () => false);
  const ofHome = createHash('sha256').update(home).digest('hex').slice(0, 8);
  return isThere ? path.join(shared, `conductor-${process.getuid?.() ?? 'tests'}-${ofHome}`) : inHome;
}
