import { homedir } from 'node:os';
import path from 'node:path';

/** The folder for the user's data: `CONDUCTOR_HOME`, or `.conductor` in the user's home folder. */
export function conductorHome(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return path.resolve(environment['CONDUCTOR_HOME'] || path.join(homedir(), '.conductor'));
}
