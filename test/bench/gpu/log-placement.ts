import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import { modelFolder } from '../../golden/golden.ts';
import { ObservedRuntime } from './observed-runtime.ts';

/* Opens a small decoder while onnxruntime says all it does on standard error:  log-placement.ts --device cuda|cpu */

const { values } = parseArgs({ options: { device: { type: 'string', default: 'cuda' } } });
const device = values.device === 'cpu' ? 'cpu' : 'cuda';
const observed = await ObservedRuntime.install();
observed.extraOptions = { logSeverityLevel: 0 };
const session = await DecoderSession.open(await openCheckpoint(modelFolder('qwen2-tiny')), {
  device, compute: device === 'cpu' ? 'float32' : 'bfloat16', adapters: false,
});
await session.close();
