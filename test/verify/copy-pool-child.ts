import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';

/* For test/verify/copy-pool.test.ts: holds copies of a workspace until it is killed. */

const [root = '', folder = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const pool = new CopyPool({ folders: new RunFolders(root, isProcessAlive) });
const snapshot = await pool.snapshot({ folder }, signal);
await pool.lease(snapshot, signal);
await (await pool.lease(snapshot, signal)).release();
console.log('ready');
setInterval(() => {}, 60_000);
