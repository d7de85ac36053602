import { outlineAdapter } from '../lm/adapter/read-adapter.ts';
import { openCheckpoint } from '../lm/checkpoint/open-checkpoint.ts';
import type { DeviceChoice } from '../lm/device/choose-device.ts';
import { fetchCudaLibraries, findCudaLibraries } from '../lm/device/cuda-libraries.ts';
import { DeviceError } from '../lm/device/device-error.ts';
import type { Device } from '../lm/device/devices.ts';
import type { ModelSettings, TrainableModel } from '../lm/language-model.ts';
import type { LoadPhase } from '../lm/load-model.ts';
import { memoryOf } from '../lm/model-memory.ts';
import type { ModelStatus } from '../lm/process/model-client.ts';
import { planDevice } from '../lm/process/plan-device.ts';
import type { CommandContext } from './command.ts';
import { downloadProgress } from './download-text.ts';
import { type CudaChoice, type ModelChoice, modelSettings } from './model-options.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { allPrintable } from './terminal.ts';

export interface RunningModel {
  readonly model: TrainableModel;
  /** The folder of the requested adapter. Each request to the model must name it. */
  readonly adapter: string | undefined;
}

/**
 * Loads a model, runs `work` and closes the model. Prints the device, the reasons for it, and the memory needed before loading.
 * @throws an error that says what is wrong with the model, the adapter or the request; the reason of `interrupted`
 */
export async function runModel<T>(choice: ModelChoice, context: CommandContext, work: (running: RunningModel) => Promise<T>): Promise<T> {
  const { terminal, interrupted } = context;
  const { settings, adapter } = await modelSettings(choice, context);
  // Check the adapter first: loading the model can take minutes.
  if (adapter !== undefined) await outlineAdapter(adapter, (await openCheckpoint(settings.folder)).config);
  interrupted.throwIfAborted();
  const progress = new ProgressPrinter(terminal);
  const said = new Set<string>();
  const sayReasons = (reasons: readonly string[]): void => {
    for (const reason of allPrintable(reasons)) {
      if (!said.has(reason)) terminal.say(terminal.style('yellow', reason));
      said.add(reason);
    }
  };
  const model = await context.openModel({
    settings,
    chooseDevice: async () => {
      const chosen = await chooseDevice(settings, choice.cuda, context, progress);
      sayReasons(chosen.reasons);
      for (const line of await memoryLines(settings, chosen.device)) terminal.say(line);
      return chosen;
    },
    onStatus: (status) => showStatus(status, settings, progress),
  });
  // The model process can be ended at any time: it has no state to save.
  const close = (): void => void model.close().catch(() => undefined);
  interrupted.addEventListener('abort', close, { once: true });
  try {
    sayReasons((await model.describe()).deviceReasons);
    return await work({ model, adapter });
  } catch (error) {
    interrupted.throwIfAborted();
    throw error;
  } finally {
    interrupted.removeEventListener('abort', close);
    progress.end();
    await model.close();
  }
}

function chooseDevice(
  settings: ModelSettings,
  cuda: CudaChoice,
  { terminal, interrupted, deviceProbe, localSettings, findTrial }: CommandContext,
  progress: ProgressPrinter,
): Promise<DeviceChoice> {
  return planDevice(settings, {
    probe: deviceProbe,
    cudaLibraries: async () => (await findCudaLibraries(settings.storage)) ?? fetchCudaLibraries({
      storage: settings.storage,
      index: cuda.index ?? (await localSettings()).packageIndex,
      confirm: async ({ question }) => cuda.yes || ((await terminal.ask?.(question, interrupted)) ?? false),
      signal: interrupted,
      onProgress: (received) => progress.tell(downloadProgress('Fetching the CUDA libraries', received)),
      onWait: () => terminal.say('Another process fetches the CUDA libraries; waiting for it.'),
      onNotice: (sentence) => terminal.say(sentence),
    }).catch((error: unknown) => { throw withOption(error); }).finally(() => progress.end()),
    trial: (device, drivers) => findTrial({
      storage: settings.storage, device, drivers, signal: interrupted,
      onProgress: (fraction) => progress.tell({ label: PHASES.trying(settings), fraction }),
    }).finally(() => progress.end()),
  });
}

/** If only the package index is missing, adds the option that names it. */
function withOption(error: unknown): unknown {
  if (!(error instanceof DeviceError) || error.kind !== 'no-index') return error;
  return new DeviceError(error.kind, `${error.message} The index is named with --cuda-index URL.`, error);
}

async function memoryLines(settings: ModelSettings, device: Device): Promise<readonly string[]> {
  return allPrintable(memoryOf(await openCheckpoint(settings.folder), settings, device).lines);
}

const PHASES: Readonly<Record<LoadPhase, (settings: ModelSettings) => string>> = {
  trying: () => 'Trying the GPU, once',
  reading: () => 'Looking at the weights',
  quantizing: ({ precision }) => `Working out the weights in ${precision}`,
  loading: () => 'Loading the model',
};

function showStatus(status: ModelStatus, settings: ModelSettings, progress: ProgressPrinter): void {
  if (status.state !== 'loading') return progress.end();
  if (status.progress) progress.tell({ label: PHASES[status.progress.phase](settings), fraction: status.progress.fraction });
}
