import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAvailability } from '../../../backend/verify/sandbox/sandbox-availability.ts';
import type { SandboxOutcome } from '../../../backend/verify/sandbox/sandbox.ts';
import { hasUserModeLinux, onUserModeLinux } from '../../support/user-mode-linux.ts';

interface Outcome {
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly refused?: string;
  readonly said: string;
  readonly parent: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly isGone: boolean;
}
type Outcomes = Readonly<Partial<Record<'harmless' | 'memory' | 'processes' | 'daemon', Outcome>>>;

const USER = 1000;
const CHILD = path.join(import.meta.dirname, 'control-group-child.ts');
const WALLS_CHILD = path.join(import.meta.dirname, '../walls/walls-child.ts');

/** As systemd 252 lays groups out (systemd.special(7), user@.service with Delegate=), with the files that it gives to the user. */
const LAYOUT = `
cd /sys/fs/cgroup
hand() { echo "+memory +pids" > "$1/cgroup.subtree_control"; }
give() { chown ${USER}:${USER} "$1" "$1/cgroup.procs" "$1/cgroup.threads" "$1/cgroup.subtree_control"; }
mkdir -p user.slice/user-${USER}.slice/session-3.scope user.slice/user-${USER}.slice/user@${USER}.service/app.slice/code.scope system.slice/ssh.service init.scope
echo 1 > init.scope/cgroup.procs; echo $$ > init.scope/cgroup.procs
for group in . system.slice user.slice user.slice/user-${USER}.slice; do hand $group; done
own=user.slice/user-${USER}.slice/user@${USER}.service
for group in $own $own/app.slice $own/app.slice/code.scope; do give $group; done
hand $own
`;

/** Runs a program as this user, started in a group that the user may not have been able to enter. */
const within = (group: string, user: number, program: string): string =>
  `sh -c 'echo $$ > /sys/fs/cgroup/${group}/cgroup.procs && exec setpriv --reuid ${user} --regid ${user} --clear-groups ${process.execPath} ${program}'`;

const APPS = `user.slice/user-${USER}.slice/user@${USER}.service/app.slice`;
const CASES = {
  'further out': within(`${APPS}/code.scope`, USER, CHILD),
  'desktop': `hand $own/app.slice; ${within(`${APPS}/code.scope`, USER, CHILD)}`,
  'SSH': within(`user.slice/user-${USER}.slice/session-3.scope`, USER, CHILD),
  'root': within('system.slice/ssh.service', 0, CHILD),
  'walls': `mkdir -m 777 /tmp/walls; export CONDUCTOR_WALLS=namespaces; ${within(`${APPS}/code.scope`, USER, `${WALLS_CHILD} /tmp/walls "cut -d : -f 3 /proc/self/cgroup"`)}`,
};

describe.skipIf(!hasUserModeLinux)(`control groups of version 2 (${hasUserModeLinux ? 'on a kernel of its own' : 'not tried: no user-mode-linux here'})`, { timeout: 120_000 }, () => {
  let said = new Map<string, string>();
  beforeAll(async () => {
    const all = await onUserModeLinux([LAYOUT, ...Object.entries(CASES).map(([name, script]) => `printf "%s: %s\\n" "${name}" "$(${script})"`)].join('\n'));
    said = new Map(all.split('\n').map((line) => line.split(/: (.*)/) as [string, string]));
  }, 120_000);
  const outcomesOf = (name: keyof typeof CASES): Outcomes => JSON.parse(said.get(name) ?? 'null') as Outcomes;

  it('hold for a program of a desktop, whose groups systemd has given to the user', () => {
    const { harmless, memory, processes, daemon } = outcomesOf('desktop');
    expect(harmless).toMatchObject({ code: 0, parent: `/sys/fs/cgroup/${APPS}`, settings: { 'memory.max': String(64 * 1024 ** 2), 'pids.max': '20' }, isGone: true });
    expect(harmless?.said).toMatch(new RegExp(`^0::/${APPS}/conductor-\\d+-\\w{8}\n$`));
    expect(harmless?.refused).toBeUndefined();
    expect(memory).toMatchObject({ code: null, killedBy: 'SIGKILL', refused: 'memory', isGone: true });
    expect(processes).toMatchObject({ refused: 'processes', isGone: true });
    expect(daemon).toMatchObject({ code: 0, isGone: true });
  });

  it('are made further out where the nearest group hands no controllers down', () => {
    const { harmless, memory } = outcomesOf('further out');
    expect(harmless).toMatchObject({ parent: `/sys/fs/cgroup/${path.dirname(APPS)}`, isGone: true });
    expect(memory).toMatchObject({ refused: 'memory' });
  });

  it('cannot be had in a session over SSH, whose groups are root\'s', () => {
    expect(outcomesOf('SSH')).toEqual({});
  });

  it('hold for root', () => {
    const { harmless, memory, processes } = outcomesOf('root');
    expect(harmless).toMatchObject({ code: 0, parent: '/sys/fs/cgroup/system.slice', isGone: true });
    expect([memory?.refused, processes?.refused]).toEqual(['memory', 'processes']);
  });

  it('hold for a command behind walls by namespaces', () => {
    const { availability, outcome } = JSON.parse(said.get('walls') ?? 'null') as { availability: SandboxAvailability; outcome?: SandboxOutcome };
    expect(availability).toEqual({ available: true, walls: 'namespaces' });
    expect(outcome?.stdout).toMatch(new RegExp(`^/${APPS}/conductor-\\d+-\\w{8}\n$`));
  });
});
