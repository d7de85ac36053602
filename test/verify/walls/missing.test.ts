import { describe, expect, it } from 'vitest';
import { remedyOn, thisMachine, whatIsMissing, whyItDoesNotStart, type Machine } from '../../../backend/verify/sandbox/walls/missing.ts';
import { makeScratch } from '../setup.ts';

const machine = (osRelease: string, settings: Readonly<Record<string, string>> = {}, programs: readonly string[] = []): Machine => ({
  osRelease,
  setting: (file) => settings[file],
  hasProgram: (name) => programs.includes(name),
});

describe('what is missing for the sandbox', () => {
  it.each([
    ['Debian', 'NAME="Debian GNU/Linux"\nID=debian\n', 'sudo apt-get install bubblewrap'],
    ['Ubuntu', 'ID=ubuntu\nID_LIKE=debian\n', 'sudo apt-get install bubblewrap'],
    ['Linux Mint', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'sudo apt-get install bubblewrap'],
    ['Fedora', 'ID=fedora\n', 'sudo dnf install bubblewrap'],
    ['Rocky Linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install bubblewrap'],
    ['Arch', 'ID=arch\n', 'sudo pacman -S bubblewrap'],
    ['Manjaro', 'ID=manjaro\nID_LIKE=arch\n', 'sudo pacman -S bubblewrap'],
    ['openSUSE', 'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'sudo zypper install bubblewrap'],
    ['Alpine', 'ID=alpine\n', 'sudo apk add bubblewrap'],
  ])('is named with the one command of %s that installs it', (_name, osRelease, command) => {
    const here = machine(osRelease, {}, ['which']);
    expect(whatIsMissing(here)).toBe(`The sandbox needs bubblewrap (bwrap). Install it with: ${command}`);
    expect(remedyOn(here)).toBe(command);
  });

  it('is all named at once, also where we do not know how things are installed', () => {
    expect(whatIsMissing(machine('ID=arch'))).toBe('The sandbox needs bubblewrap (bwrap) and which. Install it with: sudo pacman -S bubblewrap which');
    expect(whatIsMissing(machine('ID=plan9', {}, ['which']))).toBe(
      `The sandbox needs bubblewrap (bwrap). Install it with your system's package manager: bubblewrap.`,
    );
    expect(remedyOn(machine('ID=plan9'))).toBeUndefined();
  });

  it('is nothing where all of it is there', () => {
    expect(whatIsMissing(machine('ID=debian', {}, ['bwrap', 'which']))).toBeUndefined();
  });

  it('is read from this machine', async () => {
    await using scratch = await makeScratch();
    await scratch.project({ bwrap: '' }, 'bin');
    const here = thisMachine(`${scratch.folder}/nothing:${scratch.folder}/bin`);
    expect([here.hasProgram('bwrap'), here.hasProgram('which')]).toEqual([true, false]);
    expect(here.setting('kernel/no-such-setting')).toBeUndefined();
  });
});

describe('why the sandbox does not start', () => {
  const all = ['bwrap', 'which'];

  it.each([
    ['kernel/apparmor_restrict_unprivileged_userns', '1', '/etc/apparmor.d/bwrap && sudo systemctl reload apparmor'],
    ['kernel/unprivileged_userns_clone', '0', 'sudo sysctl -w kernel.unprivileged_userns_clone=1'],
    ['user/max_user_namespaces', '0', 'sudo sysctl -w user.max_user_namespaces=15000'],
  ])('is said with its remedy where %s is %s', (setting, value, remedy) => {
    const here = machine('ID=ubuntu', { [setting]: value }, all);
    const reason = whyItDoesNotStart(here, 'warning\nbwrap: setting up uid map: Permission denied\n');
    expect(reason).toMatch(/^The sandbox does not start \(bwrap: setting up uid map: Permission denied\)\./);
    expect(reason.endsWith(remedy)).toBe(true);
    expect(remedyOn(here)?.endsWith(remedy)).toBe(true);
  });

  it('is said without one where no setting forbids it', () => {
    const here = machine('ID=ubuntu', { 'kernel/apparmor_restrict_unprivileged_userns': '0', 'user/max_user_namespaces': '1000' }, all);
    expect(whyItDoesNotStart(here, '')).toMatch(/^The sandbox does not start\. In a container/);
    expect(remedyOn(here)).toBeUndefined();
  });
});
