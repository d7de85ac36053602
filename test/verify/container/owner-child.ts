import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { Containers } from '../../../backend/verify/sandbox/container/containers.ts';
import { defaultLimits } from '../../../backend/verify/sandbox/limits/limits.ts';

/* Runs a container that would sleep for long, in the folder that it is given; killed by the test. */

const [image, folder] = process.argv.slice(2) as [string, string];
const containers = new Containers({ searchPath: process.env.PATH ?? '', environment: process.env, isProcessAlive });
await containers.run({
  script: 'echo > begun; sleep 600', image, cwd: folder, writable: [folder], readable: [], limits: defaultLimits(600_000), timeoutMs: 600_000,
  emptied: [], signal: new AbortController().signal,
});
