import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import { logprobsCommand } from '../../backend/cli/logprobs-command.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import type { DeviceProbe } from '../../backend/lm/device/device-probe.ts';
import { ModelClient } from '../../backend/lm/process/model-client.ts';
import { localSettingsSchema, type LocalSettings } from '../../backend/protocol/worker-config.ts';
import { modelFolder } from '../golden/golden.ts';
import { MODEL_PROCESS } from '../lm/process/model-process-script.ts';

/* What the command line does where a GPU could be used and its libraries are not here: the machine is made up, the model is real. */

const GPU = {
  name: 'NVIDIA Test', uuid: 'GPU-00000000-0000', capability: { major: 8, minor: 9 }, driver: '580.65.06', memoryBytes: 24e9, freeBytes: 24e9,
};
const withGpu: DeviceProbe = {
  platform: 'linux', arch: 'x64', findDriver: async () => true, hasCard: async () => true, listGpus: async () => [GPU],
  hasDisplay: async () => false, gpuDrivers: async () => undefined,
};

async function score(options: readonly string[], ask?: (question: string) => boolean, local: Partial<LocalSettings> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-run-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const said: string[] = [];
  const results: string[] = [];
  const style: Terminal['style'] = (_format, text) => text;
  const context: CommandContext = {
    terminal: {
      result: (text) => void results.push(text), write: () => {}, say: (text) => void said.push(text), style, resultStyle: style,
      ask: ask && (async (question) => ask(question)),
    },
    environment: { CONDUCTOR_HOME: path.join(folder, 'home') },
    currentFolder: folder,
    connect: () => Promise.reject(new Error('No backend is needed for this.')),
    runningSimulation: () => Promise.resolve(undefined), stopBackend: async () => false,
    standardInput: () => Readable.from([Buffer.from('{"sequences":[[1,2,3]],"prompt_lengths":[2]}')]),
    writeWhole: () => Promise.reject(new Error('No file is written for this.')),
    openVerification: () => Promise.reject(new Error('No verification is needed for this.')),
    openEvaluation: () => Promise.reject(new Error('No evaluation is needed for this.')),
    conductorFolder: path.join(folder, 'home'),
    openModel: async (chosen) => new ModelClient({ ...chosen, script: MODEL_PROCESS, idleMs: 60_000 }),
    findTrial: () => Promise.reject(new Error('Nothing is tried for this.')),
    deviceProbe: withGpu,
    localSettings: async () => localSettingsSchema.parse(local),
    interrupted: new AbortController().signal,
    interruptMeans: () => {},
  };
  const code = await logprobsCommand(['--model', modelFolder('qwen3-tiny'), '--input', '-', ...options], context);
  return { code, said, results };
}

it('asks before the CUDA libraries are fetched, and runs on the CPU where that is declined', async () => {
  const asked: string[] = [];
  const decline = (question: string): boolean => { asked.push(question); return false; };
  const { code, said, results } = await score(['--cuda-index', 'https://index.example/simple'], decline);
  expect(asked).toEqual([expect.stringMatching(/^Download \d+ MB from index\.example \(.*NVIDIA's licence\)\?$/)]);
  expect(said[0]).toBe('The CUDA libraries were not downloaded; the model runs on the CPU.');
  expect(said).toContainEqual(expect.stringMatching(/^Total: .* on the CPU$/));
  expect(said.filter((line) => line === said[0])).toHaveLength(1);
  expect(results).toEqual([expect.stringContaining('completion_logprobs')]);
  expect(code).toBe(0);
});

it('asks about the index that workers.json names where no other is given', async () => {
  const asked: string[] = [];
  await score([], (question) => { asked.push(question); return false; }, { packageIndex: 'https://mirror.example/simple' });
  expect(asked).toEqual([expect.stringContaining('from mirror.example ')]);
});

it('takes silence for a no where nobody sits at the terminal', async () => {
  const { code, said } = await score(['--cuda-index', 'https://index.example/simple']);
  expect(said[0]).toBe('The CUDA libraries were not downloaded; the model runs on the CPU.');
  expect(code).toBe(0);
});

it('says that an index must be named, and asks nothing, where none is known', async () => {
  const { code, said } = await score(['--device', 'cuda', '--yes'], () => { throw new Error('asked'); });
  expect(said[0]).toMatch(/^The CUDA libraries \(\d+ MB\) are not here; name a package index.*--cuda-index URL\.$/);
  expect(code).toBe(0);
});

it('looks at no GPU where the CPU is asked for', async () => {
  const { said } = await score(['--device', 'cpu'], () => { throw new Error('asked'); });
  expect(said[0]).toMatch(/^Weights: /);
});
