import path from 'node:path';

export type Variables = Readonly<Record<string, string | undefined>>;

/** What programs of Windows need to know of the machine. Nothing in it is secret. */
const OF_THE_MACHINE = [
  'SystemRoot', 'windir', 'SystemDrive', 'ComSpec', 'PATHEXT', 'OS', 'NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE', 'PROCESSOR_IDENTIFIER', 'PROCESSOR_LEVEL', 'PROCESSOR_REVISION',
  'ProgramData', 'ALLUSERSPROFILE', 'PUBLIC', 'ProgramFiles', 'ProgramFiles(x86)', 'ProgramW6432', 'CommonProgramFiles', 'CommonProgramFiles(x86)', 'CommonProgramW6432',
];

export interface WindowsEnvironment {
  /** Our own environment. */
  readonly own: Variables;
  /** The folder that stands for the user's profile, absolute. */
  readonly temporary: string;
  /** Folders that are searched for programs, the first ones first. */
  readonly searchPath: readonly string[];
  /** Variables of the command. They come before all others. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The environment of a command on Windows: none of ours but what says how the machine is, with the temporary folder as home. libuv adds the
 * variables of our own process that Windows needs and that are missing, so all of those are set here.
 */
export function windowsEnvironment({ own, temporary, searchPath, variables }: WindowsEnvironment): Record<string, string> {
  const { root } = path.win32.parse(temporary);
  return merged(
    Object.fromEntries(OF_THE_MACHINE.map((name) => [name, valueOf(own, name)])),
    {
      PATH: searchPath.join(';'),
      // cmd.exe and Windows itself would search the current folder before PATH, where a patch could have put a program.
      NoDefaultCurrentDirectoryInExePath: '1',
      USERPROFILE: temporary, HOME: temporary, HOMEDRIVE: root.replace(/\\$/, ''), HOMEPATH: `\\${temporary.slice(root.length)}`,
      TEMP: temporary, TMP: temporary, TMPDIR: temporary,
      APPDATA: path.win32.join(temporary, 'AppData', 'Roaming'), LOCALAPPDATA: path.win32.join(temporary, 'AppData', 'Local'),
      USERNAME: 'conductor', USERDOMAIN: 'conductor', LOGONSERVER: '',
    },
    variables,
  );
}

/** Windows tells names of variables apart without case. Of two spellings the later value wins, under the first spelling. */
export function merged(...all: readonly Variables[]): Record<string, string> {
  const result: Record<string, string> = {};
  const spellings = new Map<string, string>();
  for (const [name, value] of all.flatMap((one) => Object.entries(one))) {
    if (value === undefined) continue;
    const spelling = spellings.get(name.toUpperCase()) ?? name;
    spellings.set(name.toUpperCase(), spelling);
    result[spelling] = value;
  }
  return result;
}

/** A variable, however its name is spelled. */
export function valueOf(variables: Variables, name: string): string | undefined {
  return variables[name] ?? Object.entries(variables).find(([other]) => other.toUpperCase() === name.toUpperCase())?.[1];
}
