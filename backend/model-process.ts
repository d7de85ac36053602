import os from 'node:os';
import { serveModel } from './lm/process/serve-model.ts';

/*
 * Composition root of the model's process. The backend starts it and talks to it over the IPC channel; it has one model and ends with
 * the backend.
 */

// onnxruntime reports its use to its maker unless this is set before it is loaded (docs/gpu.md).
process.env['ORT_DISABLE_TELEMETRY'] = '1';

// It keeps every core busy for seconds; what people wait for meanwhile, the backend among it, comes first. Threads made from now on
// inherit this.
os.setPriority(Math.max(os.getPriority(), os.constants.priority.PRIORITY_BELOW_NORMAL));

if (!process.send) {
  process.stderr.write('This program is started by Conductor\'s backend; there is nothing to see here.\n');
  process.exit(2);
}
// Between two chunks; a backend that is killed takes its model along.
process.on('disconnect', () => process.exit(0));
serveModel(
  {
    // A backend that is gone is told nothing; `disconnect` ends the process.
    send: (reply) => void process.send?.(reply, undefined, undefined, () => {}),
    onMessage: (listener) => process.on('message', listener),
  },
  () => process.exit(0),
);
