import { expect, it } from 'vitest';
import { RunPrinter } from '../../backend/cli/run-printer.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';

const MODEL = 'Qwen/Qwen3-0.6B';
const worker = workerConfigSchema.parse({ id: 'local', provider: 'local', model: MODEL });
const run = { pool: [], policy: { kind: 'local', worker, model: MODEL, promptVersion: 'compact-1' } } as unknown as RunSnapshot;
const reasons = ['No NVIDIA driver was found.'];
const READY: LocalModelStatus = {
  model: MODEL, state: 'ready', loaded: { device: 'cpu', precision: '8-bit', weightBytes: 9e8, contextLength: 40_960, reasons },
};

function told(...statuses: LocalModelStatus[]): string[] {
  const lines: string[] = [];
  const terminal: Terminal = {
    result: () => undefined, write: () => undefined, say: (text) => void lines.push(text.trim()),
    style: (_format, text) => text, resultStyle: (_format, text) => text,
  };
  const printer = new RunPrinter(terminal);
  for (const status of statuses) printer.onModel(status, run);
  return lines;
}

it('tells once that a model is loaded, then on which device and why not on a better one', () => {
  const loading: LocalModelStatus = { model: MODEL, state: 'loading', phase: 'reading', fraction: 0.5 };
  expect(told(loading, { ...loading, fraction: 0.9 }, READY, READY))
    .toEqual([`Model     loading ${MODEL}`, '✓ on the CPU  900 MB · 8-bit', reasons[0]]);
});

it('tells nothing of a model that was there already, nor of one that takes no part', () => {
  expect(told(READY, { model: 'other', state: 'loading' })).toEqual([]);
});
