import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The facts about a machine that the messages depend on. */
export interface Machine {
  /** The text of /etc/os-release, or an empty string. */
  readonly osRelease: string;
  /** A kernel setting by its path below /proc/sys. Undefined if this kernel does not have it. */
  setting(file: string): string | undefined;
  hasProgram(name: string): boolean;
}

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

/** The programs that the sandbox needs, and their packages. Debian and Alpine always have the second one. */
const PROGRAMS = [
  { name: 'bwrap', package: 'bubblewrap' },
  { name: 'which', package: 'which' },
];

const missingPrograms = (machine: Machine): typeof PROGRAMS => PROGRAMS.filter(({ name }) => !machine.hasProgram(name));

/** What is missing, and the command that installs it. Undefined if nothing is missing. */
export function whatIsMissing(machine: Machine): string | undefined {
  const missing = missingPrograms(machine);
  if (missing.length === 0) return undefined;
  const names = missing.map((program) => (program.name === program.package ? program.name : `${program.package} (${program.name})`));
  return `The sandbox needs ${names.join(' and ')}. ${howToInstall(machine, missing.map((program) => program.package))}`;
}

function howToInstall(machine: Machine, packages: readonly string[]): string {
  const command = installCommand(machine, packages);
  return command === undefined ? `Install it with your system's package manager: ${packages.join(', ')}.` : `Install it with: ${command}`;
}

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
const SETTINGS = [
  {
    file: 'kernel/apparmor_restrict_unprivileged_userns',
    forbids: '1',
    sentence: 'AppArmor does not let bubblewrap make user namespaces here, as Ubuntu has it since 24.04. Allow it with:',
    command: ALLOW_BUBBLEWRAP,
  },
  {
    file: 'kernel/unprivileged_userns_clone',
    forbids: '0',
    sentence: 'User namespaces are switched off here. Allow them with:',
    command: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    file: 'user/max_user_namespaces',
    forbids: '0',
    sentence: 'User namespaces are switched off here. Allow them with:',
    command: 'sudo sysctl -w user.max_user_namespaces=15000',
  },
];

const forbiddenBy = (machine: Machine): (typeof SETTINGS)[number] | undefined =>
  SETTINGS.find(({ file, forbids }) => machine.setting(file) === forbids);

/** The command line that makes the sandbox start, if the messages below name one. */
export function remedyOn(machine: Machine): string | undefined {
  const missing = missingPrograms(machine);
  return missing.length > 0 ? installCommand(machine, missing.map((program) => program.package)) : forbiddenBy(machine)?.command;
}

/** Why the sandbox does not start although nothing is missing. `said` is its output. */
export function whyItDoesNotStart(machine: Machine, said: string): string {
  const found = forbiddenBy(machine);
  const words = said.trim().split('\n').at(-1) ?? '';
  const sentence = `The sandbox does not start${words && ` (${words})`}.`;
  if (found) return `${sentence} ${found.sentence} ${found.command}`;
  return `${sentence} In a container it can be that namespaces are not allowed: run Conductor outside of it, or allow them.`;
}
