import { expect, test } from 'vitest';
import { backendEnvironment } from '../../backend/protocol/client/backend-process.ts';
import { isOlder } from '../../backend/protocol/client/start-backend.ts';

// Starting, joining and replacing a backend is shown with real processes in test/server/backend-process.test.ts.

test.each([
  ['0.1.0', '0.2.0', true], ['0.9.0', '0.10.0', true], ['1.9.9', '2.0.0', true], ['1.0.0', '1.0.1', true],
  ['1.0.0', '1.0.0', false], ['0.10.0', '0.9.0', false], ['2.0.0', '1.9.9', false],
  ['1.0.0-beta', '1.0.0', false], ['1', '1.0.1', true], ['nonsense', '0.0.0', false],
])('version %s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});

test('the environment of a backend holds what was named, and no key', () => {
  const own = { PATH: '/bin', HOME: '/home/me', OPENAI_API_KEY: 'sk-1', NODE_OPTIONS: '-i', HTTPS_PROXY: 'http://proxy:1' };
  expect(backendEnvironment({ home: '/home/me/.conductor', nodeIsElectron: true, environment: { EXTRA: '1' } }, own)).toEqual({
    PATH: '/bin', HOME: '/home/me', HTTPS_PROXY: 'http://proxy:1', EXTRA: '1',
    CONDUCTOR_HOME: '/home/me/.conductor', ELECTRON_RUN_AS_NODE: '1',
  });
  expect(backendEnvironment({ home: '/h' }, {})).toEqual({ CONDUCTOR_HOME: '/h' });
});
