// A client in a process of its own: connects, says which backend it found, and stays until it is killed.
import { connectBackend } from '../../../backend/protocol/client/start-backend.ts';
import { testConnection } from '../support/test-connection.ts';

const client = await connectBackend(testConnection(process.argv[2] as string));
const { pid } = await client.request('backend/health', {});
console.log(pid);
await client.closed;
