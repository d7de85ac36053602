import { fileURLToPath } from 'node:url';
import type { ConnectOptions } from '../../../backend/protocol/client/start-backend.ts';

/** How to reach or start the test's backend of a home folder. */
export function testConnection(home: string, more: Partial<ConnectOptions> = {}): ConnectOptions {
  return {
    home,
    backendScript: fileURLToPath(new URL('../programs/test-backend.ts', import.meta.url)),
    client: { kind: 'test', version: '1.0.0' },
    capabilities: [],
    workspaces: [],
    handlers: {},
    ...more,
  };
}
