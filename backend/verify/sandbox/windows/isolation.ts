import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { SandboxAvailability } from '../sandbox-availability.ts';
import { valueOf, type Variables } from './windows-environment.ts';

/*
 * Windows isolates a process from the files and the network of its own user only after an administrator has set up another account, and a container or
 * WSL does not run the programs that a project has installed for Windows. In WSL 2, all of Conductor runs in Linux, with the sandbox of Linux
 * (docs/decisions/0034-tests-on-windows.md). So this file says what there is and what to do.
 */

const PATIENCE_MS = 10_000;

const NO_SANDBOX = 'Windows has no sandbox that Conductor could use';
const WRITES_LITTLE = ': tests could read your files and use the network, but write only to their own folders';

/** Why no test runs in a sandbox on Windows, and what to do. Starts nothing but `wsl.exe`. @param isLow whether commands write only to their folders */
export async function windowsIsolation(own: Variables, { isLow }: { readonly isLow: boolean }): Promise<SandboxAvailability> {
  const listed = await promisify(execFile)(`${valueOf(own, 'SystemRoot') ?? 'C:\\Windows'}\\System32\\wsl.exe`, ['--list', '--verbose'], {
    env: { ...own, WSL_UTF8: '1' }, timeout: PATIENCE_MS, windowsHide: true, encoding: 'utf8',
  }).then(({ stdout }) => stdout, () => '');
  const [distribution] = distributionsIn(listed);
  const none = `${NO_SANDBOX}${isLow ? WRITES_LITTLE : ''}.`;
  return distribution === undefined
    ? { available: false, reason: `${none} Linux has one: install WSL 2 and open the folder there.`, remedy: 'wsl --install' }
    : { available: false, reason: `${none} Linux has one: open the folder in WSL ("${distribution}" is installed), in VS Code by "WSL: Reopen Folder in WSL".` };
}

/** Of an image, too: a container of Linux runs nothing that was installed for Windows. */
export const NO_IMAGES: SandboxAvailability = {
  available: false, reason: 'On Windows, tests do not run in containers: open the folder in WSL, and name the image there, or name none.',
};

/**
 * The names of the Linux systems of version 2 in the output of `wsl.exe --list --verbose`, the default first
 * (https://learn.microsoft.com/windows/wsl/basic-commands). Those of Docker Desktop are for Docker alone. Before `WSL_UTF8` was known, the output was UTF-16.
 */
export function distributionsIn(listed: string): readonly string[] {
  const rows = listed.replaceAll('\0', '').split(/\r?\n/).map((line) => /^(\*| ) (\S+)\s+.*\s2\s*$/.exec(line));
  const found = rows.flatMap((row) => (row?.[2] === undefined || row[2].startsWith('docker-desktop') ? [] : [{ name: row[2], isDefault: row[1] === '*' }]));
  return found.sort((a, b) => Number(b.isDefault) - Number(a.isDefault)).map(({ name }) => name);
}
