import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import path from 'node:path';
import type { WallsKind } from './walled-line.ts';

/** The facts about a machine that the messages depend on. */
export interface Machine {
  /** The text of /etc/os-release, or an empty string. */
  readonly osRelease: string;
  /** The version of the kernel, such as 6.1.0-18-amd64. */
  readonly kernel: string;
  /** Whose container this is, if it is one of those that mark theirs. */
  readonly container: ContainerName | undefined;
  /** A kernel setting by its path below /proc/sys. Undefined if this kernel does not have it. */
  setting(file: string): string | undefined;
  hasProgram(name: string): boolean;
}

type ContainerName = 'Docker' | 'Podman';

/** The file that marks a container, and the options that let namespaces be made in one. Both keep /proc from being mounted again otherwise. */
const CONTAINERS: Readonly<Record<ContainerName, { readonly mark: string; readonly options: string }>> = {
  Podman: { mark: '/run/.containerenv', options: '--security-opt unmask=ALL --security-opt label=disable' },
  Docker: { mark: '/.dockerenv', options: '--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined' },
};

export function thisMachine(searchPath: string): Machine {
  const read = (file: string): string | undefined => {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  return {
    osRelease: read('/etc/os-release') ?? '',
    kernel: release(),
    container: (Object.keys(CONTAINERS) as ContainerName[]).find((name) => existsSync(CONTAINERS[name].mark)),
    setting: (file) => read(`/proc/sys/${file}`),
    hasProgram: (name) => searchPath.split(path.delimiter).some((folder) => existsSync(path.join(folder, name))),
  };
}

/** By ID and ID_LIKE in os-release(5). */
const INSTALL: Readonly<Record<string, string>> = {
  debian: 'sudo apt-get install',
  ubuntu: 'sudo apt-get install',
  fedora: 'sudo dnf install',
  rhel: 'sudo dnf install',
  arch: 'sudo pacman -S',
  suse: 'sudo zypper install',
  alpine: 'sudo apk add',
};

/** The programs that walls by bubblewrap need, and their packages. Debian and Alpine always have the second one. */
const PROGRAMS = [
  { name: 'bwrap', package: 'bubblewrap' },
  { name: 'which', package: 'which' },
];

const missingPrograms = (machine: Machine): typeof PROGRAMS => PROGRAMS.filter(({ name }) => !machine.hasProgram(name));

/** Whether all is there that walls by bubblewrap need. */
export const hasBubblewrap = (machine: Machine): boolean => missingPrograms(machine).length === 0;

function installCommand({ osRelease }: Machine, packages: readonly string[]): string | undefined {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, found = '']) => found.split(' '));
  const install = ids.map((id) => INSTALL[id]).find((found) => found !== undefined);
  return install && `${install} ${packages.join(' ')}`;
}

/** Ubuntu's own way: a profile for bubblewrap only. The kernel setting would apply to all programs. */
const ALLOW_BUBBLEWRAP =
  `printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n'` +
  ' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor';

/** Settings that forbid ordinary users the namespaces that the sandbox needs, and how to allow them. */
const SETTINGS: readonly { readonly file: string; readonly forbids: string; readonly sentence: string; command(machine: Machine): string }[] = [
  {
    file: 'kernel/apparmor_restrict_unprivileged_userns',
    forbids: '1',
    sentence: 'AppArmor lets only known programs make user namespaces here, as Ubuntu has it since 24.04. Allow it to bubblewrap with:',
    command: (machine) => {
      const missing = missingPrograms(machine).map((program) => program.package);
      const install = missing.length === 0 ? undefined : installCommand(machine, missing);
      return install === undefined ? ALLOW_BUBBLEWRAP : `${install} && ${ALLOW_BUBBLEWRAP}`;
    },
  },
  {
    file: 'kernel/unprivileged_userns_clone',
    forbids: '0',
    sentence: 'User namespaces are switched off here. Allow them with:',
    command: () => 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    file: 'user/max_user_namespaces',
    forbids: '0',
    sentence: 'User namespaces are switched off here. Allow them with:',
    command: () => 'sudo sysctl -w user.max_user_namespaces=15000',
  },
];

/** What walls of one kind did when they were tried. */
export interface Attempt {
  /** Undefined on macOS. */
  readonly kind: WallsKind | undefined;
  /** The output of walls that do not stand. Undefined if their programs are not there. */
  readonly said?: string | undefined;
  /** Why these walls could not even be planned, in a sentence. */
  readonly unplanned?: string | undefined;
  /** What a command could do inside walls that stand. */
  readonly leak?: string | undefined;
}

export interface NoSandbox {
  readonly reason: string;
  /** The command line that makes the sandbox work, if the reason names one. */
  readonly remedy?: string;
}

/** Why there is no sandbox, in sentences, when these attempts have failed. */
export function whyThereIsNone(machine: Machine, attempts: readonly Attempt[]): NoSandbox {
  const leak = attempts.find((attempt) => attempt.leak !== undefined)?.leak;
  if (leak !== undefined) return { reason: `The sandbox does not work: ${leak}.` };
  const failed = attempts.flatMap(({ said }) => said ?? []);
  const unplanned = attempts.find((attempt) => attempt.unplanned !== undefined)?.unplanned;
  if (unplanned !== undefined && failed.length === 0) return { reason: unplanned };
  const start = failed.length === 0 ? '' : `${doesNotStart(failed)} `;
  const forbidden = SETTINGS.find(({ file, forbids }) => machine.setting(file) === forbids);
  if (forbidden && failed.length > 0) {
    const remedy = forbidden.command(machine);
    return { reason: `${start}${forbidden.sentence} ${remedy}`, remedy };
  }
  if (!hasBubblewrap(machine) && (failed.length === 0 || isOlder(machine.kernel, FIRST_KERNEL))) return install(machine, `${start}${failed.length > 0 ? `Without bubblewrap, it needs Linux ${FIRST_KERNEL.join('.')}, and this is ${machine.kernel}. ` : ''}`);
  if (machine.container) return { reason: `${start}Namespaces have to be allowed in a container of ${machine.container}: start it with ${CONTAINERS[machine.container].options}, or run Conductor outside of it.` };
  return { reason: `${start}In a container it can be that namespaces are not allowed: run Conductor outside of it, or allow them.` };
}

function doesNotStart(said: readonly string[]): string {
  const words = [...new Set(said.map((text) => text.trim().split('\n').at(-1) ?? ''))].filter((line) => line !== '');
  return `The sandbox does not start${words.length === 0 ? '' : ` (${words.join('; ')})`}.`;
}

/** The first kernel with mount_setattr(2). Bubblewrap does without. */
const FIRST_KERNEL = [5, 12] as const;

function isOlder(kernel: string, [major, minor]: readonly [number, number]): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
  return first !== undefined && (Number(first) < major || (Number(first) === major && Number(second) < minor));
}

function install(machine: Machine, start: string): NoSandbox {
  const missing = missingPrograms(machine);
  const packages = missing.map((program) => program.package);
  const names = missing.map((program) => (program.name === program.package ? program.name : `${program.package} (${program.name})`));
  const remedy = installCommand(machine, packages);
  const how = remedy === undefined ? `Install it with your system's package manager: ${packages.join(', ')}.` : `Install it with: ${remedy}`;
  return { reason: `${start}The sandbox needs ${names.join(' and ')}. ${how}`, ...(remedy !== undefined && { remedy }) };
}
