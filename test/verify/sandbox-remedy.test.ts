import { describe, expect, it } from 'vitest';
import { remedyOn, whatIsMissing, whyItDoesNotStart, type Machine } from '../../backend/verify/sandbox/walls/missing.ts';

const machine = (change: Partial<Machine>): Machine => ({ osRelease: '', setting: () => undefined, hasProgram: () => true, ...change });

describe('the command that lets the sandbox start', () => {
  it.each([
    ['ID=ubuntu\nID_LIKE=debian', 'sudo apt-get install bubblewrap'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"', 'sudo dnf install bubblewrap'],
  ])('installs what is missing, as %j does it', (osRelease, command) => {
    const bare = machine({ osRelease, hasProgram: (name) => name !== 'bwrap' });
    expect(remedyOn(bare)).toBe(command);
    expect(whatIsMissing(bare)).toContain(command);
  });

  it('allows what the system forbids', () => {
    const strict = machine({ setting: (file) => (file === 'user/max_user_namespaces' ? '0' : undefined) });
    const command = remedyOn(strict) ?? '';
    expect(command).toMatch(/^sudo sysctl -w user\.max_user_namespaces=\d+$/);
    expect(whyItDoesNotStart(strict, 'No permissions')).toContain(command);
  });

  it('is not made up where nobody knows it', () => {
    expect(remedyOn(machine({}))).toBeUndefined();
    expect(remedyOn(machine({ osRelease: 'ID=plan9', hasProgram: () => false }))).toBeUndefined();
  });
});
