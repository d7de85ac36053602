import { homedir } from 'node:os';
import path from 'node:path';

/** What a program hands on that was told to put the variable's value there, and leaves alone one that is not set, as earlier versions of Gemini CLI. */
const NOT_SET = /^(?:\$CONDUCTOR_HOME|\$\{CONDUCTOR_HOME\}|%CONDUCTOR_HOME%)?$/;

/** The folder for the user's data: `CONDUCTOR_HOME`, or `.conductor` in the user's home folder. */
export function conductorHome({ CONDUCTOR_HOME: named = '' }: Readonly<Record<string, string | undefined>> = process.env): string {
  return path.resolve(NOT_SET.test(named) ? path.join(homedir(), '.conductor') : named);
}
