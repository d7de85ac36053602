import os from 'node:os';
import { serveModel } from './lm/process/serve-model.ts';

/*
 * Composition root of the model process. The backend starts it and communicates with it over the IPC channel. It holds one model and exits
 * with the backend.
 */

// onnxruntime sends telemetry unless this is set before it is loaded (docs/gpu.md).
process.env['ORT_DISABLE_TELEMETRY'] = '1';

// The model keeps all cores busy for seconds. A lower priority keeps the backend and other programs responsive. Threads created after this
// call inherit it.
os.setPriority(Math.max(os.getPriority(), os.constants.priority.PRIORITY_BELOW_NORMAL));

if (!process.send) {
  process.stderr.write('Only Conductor\'s backend can start this program.\n');
  process.exit(2);
}
// Runs between two chunks. If the backend is killed, its model exits too.
process.on('disconnect', () => process.exit(0));
serveModel(
  {
    // Ignore errors when the backend is gone: `disconnect` ends the process.
    send: (reply) => void process.send?.(reply, undefined, undefined, () => {}),
    onMessage: (listener) => process.on('message', listener),
  },
  () => process.exit(0),
);
