import { release } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hasBubblewrap, thisMachine, whyThereIsNone, type Attempt, type Machine } from '../../../backend/verify/sandbox/walls/missing.ts';
import { makeScratch } from '../setup.ts';

interface Facts {
  readonly osRelease?: string;
  readonly kernel?: string;
  readonly container?: Machine['container'];
  readonly settings?: Readonly<Record<string, string>>;
  readonly programs?: readonly string[];
}

const machine = ({ osRelease = '', kernel = '6.1.0-18-amd64', container, settings = {}, programs = ['bwrap', 'which'] }: Facts): Machine => ({
  osRelease, kernel, container,
  setting: (file) => settings[file],
  hasProgram: (name) => programs.includes(name),
});

const NOT_THERE: Attempt = { kind: 'bubblewrap' };
const failed = (said: string, kind: Attempt['kind'] = 'namespaces'): Attempt => ({ kind, said });

const DEBIAN = 'NAME="Debian GNU/Linux"\nID=debian\n';
const UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n';
const FEDORA = 'NAME="Fedora Linux"\nID=fedora\n';

describe('what is missing for walls by bubblewrap', () => {
  it.each([
    ['Debian', DEBIAN, 'sudo apt-get install bubblewrap'],
    ['Ubuntu', UBUNTU, 'sudo apt-get install bubblewrap'],
    ['Linux Mint', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'sudo apt-get install bubblewrap'],
    ['Fedora', FEDORA, 'sudo dnf install bubblewrap'],
    ['Rocky Linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install bubblewrap'],
    ['Arch', 'ID=arch\n', 'sudo pacman -S bubblewrap'],
    ['Manjaro', 'ID=manjaro\nID_LIKE=arch\n', 'sudo pacman -S bubblewrap'],
    ['openSUSE', 'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'sudo zypper install bubblewrap'],
    ['Alpine', 'ID=alpine\n', 'sudo apk add bubblewrap'],
  ])('is named with the one command of %s that installs it', (_name, osRelease, command) => {
    const here = machine({ osRelease, programs: ['which'] });
    expect(hasBubblewrap(here)).toBe(false);
    expect(whyThereIsNone(here, [NOT_THERE])).toEqual({ reason: `The sandbox needs bubblewrap (bwrap). Install it with: ${command}`, remedy: command });
  });

  it('is all named at once, also where we do not know how things are installed', () => {
    expect(whyThereIsNone(machine({ osRelease: 'ID=arch', programs: [] }), [NOT_THERE]).reason)
      .toBe('The sandbox needs bubblewrap (bwrap) and which. Install it with: sudo pacman -S bubblewrap which');
    expect(whyThereIsNone(machine({ osRelease: 'ID=plan9', programs: ['which'] }), [NOT_THERE]))
      .toEqual({ reason: `The sandbox needs bubblewrap (bwrap). Install it with your system's package manager: bubblewrap.` });
  });

  it('is read from this machine', async () => {
    await using scratch = await makeScratch();
    await scratch.project({ bwrap: '' }, 'bin');
    const here = thisMachine(`${scratch.folder}/nothing:${scratch.folder}/bin`);
    expect([here.hasProgram('bwrap'), here.hasProgram('which')]).toEqual([true, false]);
    expect(here.setting('kernel/no-such-setting')).toBeUndefined();
    expect(here.setting('kernel/ostype')).toBe('Linux');
    expect(here.kernel).toBe(release());
  });
});

describe('why no walls stand', () => {
  it.each([
    ['Debian, where they are switched off', { osRelease: DEBIAN, settings: { 'kernel/unprivileged_userns_clone': '0' } },
      'User namespaces are switched off here. Allow them with:', 'sudo sysctl -w kernel.unprivileged_userns_clone=1'],
    ['Fedora, where their number is zero', { osRelease: FEDORA, settings: { 'user/max_user_namespaces': '0' } },
      'User namespaces are switched off here. Allow them with:', 'sudo sysctl -w user.max_user_namespaces=15000'],
    ['a container, where the machine has switched them off', { container: 'Docker', settings: { 'user/max_user_namespaces': '0' } },
      'User namespaces are switched off here. Allow them with:', 'sudo sysctl -w user.max_user_namespaces=15000'],
  ] as const)('is said with what to do on %s', (_name, facts, sentence, remedy) => {
    const attempts = [NOT_THERE, failed('Making namespaces failed: no space left on device')];
    expect(whyThereIsNone(machine({ ...facts, programs: ['which'] }), attempts)).toEqual({
      reason: `The sandbox does not start (Making namespaces failed: no space left on device). ${sentence} ${remedy}`, remedy,
    });
  });

  it('is said with the profile of AppArmor that bubblewrap needs on Ubuntu since 24.04, and how to install it', () => {
    const settings = { 'kernel/apparmor_restrict_unprivileged_userns': '1' };
    const said = failed('Leaving the mounts of the machine failed: permission denied');
    const without = whyThereIsNone(machine({ osRelease: UBUNTU, settings, programs: ['which'] }), [NOT_THERE, said]);
    expect(without.remedy).toMatch(/^sudo apt-get install bubblewrap && printf .*userns,.* \/etc\/apparmor\.d\/bwrap && sudo systemctl reload apparmor$/);
    expect(without.reason).toBe(`The sandbox does not start (Leaving the mounts of the machine failed: permission denied). ` +
      `AppArmor lets only known programs make user namespaces here, as Ubuntu has it since 24.04. Allow it to bubblewrap with: ${without.remedy}`);
    const attempts = [failed('warning\nbwrap: setting up uid map: Permission denied\n', 'bubblewrap'), said];
    const installed = whyThereIsNone(machine({ osRelease: UBUNTU, settings }), attempts);
    expect(installed.remedy).toMatch(/^printf /);
    expect(installed.reason).toMatch(/^The sandbox does not start \(bwrap: setting up uid map: Permission denied; Leaving the mounts .*: permission denied\)\./);
  });

  it.each([
    ['Docker', '--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined'],
    ['Podman', '--security-opt unmask=ALL --security-opt label=disable'],
  ] as const)('is said with the options of %s that allow them', (container, options) => {
    const { reason, remedy } = whyThereIsNone(machine({ osRelease: DEBIAN, container, programs: ['which'] }), [NOT_THERE, failed('Making namespaces failed: operation not permitted')]);
    expect(reason).toBe(`The sandbox does not start (Making namespaces failed: operation not permitted). ` +
      `Namespaces have to be allowed in a container of ${container}: start it with ${options}, or run Conductor outside of it.`);
    expect(remedy).toBeUndefined();
  });

  it('is said where the kernel is too old for walls without bubblewrap', () => {
    const attempts = [NOT_THERE, failed('Leaving the mounts of the machine failed: function not implemented')];
    const old = machine({ osRelease: DEBIAN, kernel: '5.10.0-28-amd64', programs: ['which'] });
    expect(whyThereIsNone(old, attempts)).toEqual({
      reason: 'The sandbox does not start (Leaving the mounts of the machine failed: function not implemented). Without bubblewrap, it needs Linux 5.12, and this is 5.10.0-28-amd64. ' +
        'The sandbox needs bubblewrap (bwrap). Install it with: sudo apt-get install bubblewrap',
      remedy: 'sudo apt-get install bubblewrap',
    });
    for (const kernel of ['5.12.0', '5.15.0', '6.1', '10.0']) expect(whyThereIsNone(machine({ osRelease: DEBIAN, kernel, programs: ['which'] }), attempts).remedy).toBeUndefined();
  });

  it('is said without a remedy where nobody knows one', () => {
    const settings = { 'kernel/apparmor_restrict_unprivileged_userns': '0', 'user/max_user_namespaces': '1000' };
    expect(whyThereIsNone(machine({ osRelease: UBUNTU, settings }), [failed('', 'bubblewrap'), failed('')])).toEqual({
      reason: 'The sandbox does not start. In a container it can be that namespaces are not allowed: run Conductor outside of it, or allow them.',
    });
    expect(whyThereIsNone(machine({}), [{ kind: 'bubblewrap' }, { kind: 'namespaces', unplanned: 'The disk is full.' }])).toEqual({ reason: 'The disk is full.' });
    expect(whyThereIsNone(machine({}), [{ kind: 'namespaces', leak: 'a command could see the network' }])).toEqual({ reason: 'The sandbox does not work: a command could see the network.' });
  });
});
