import { expect, it } from 'vitest';
import { distributionsIn, windowsIsolation } from '../../../backend/verify/sandbox/windows/isolation.ts';

const LISTED = '  NAME                   STATE           VERSION\r\n  docker-desktop         Running         2\r\n  Debian                 Stopped         1\r\n  Fedora                 Stopped         2\r\n* Ubuntu-24.04           Running         2\r\n';

it('finds the Linux systems of WSL 2, the default first', () => {
  expect(distributionsIn(LISTED)).toEqual(['Ubuntu-24.04', 'Fedora']);
  expect(distributionsIn([...LISTED].join('\0'))).toEqual(['Ubuntu-24.04', 'Fedora']);
  expect(distributionsIn('Windows Subsystem for Linux has no installed distributions.\r\n')).toEqual([]);
});

it('says what to do where there is none', async () => {
  expect((await windowsIsolation({ SystemRoot: '/nowhere' }, { isLow: true })).reason).toContain('write only to their own folders');
  expect(await windowsIsolation({ SystemRoot: '/nowhere' }, { isLow: false })).toMatchObject({ available: false, reason: expect.stringContaining('WSL 2'), remedy: 'wsl --install' });
});
