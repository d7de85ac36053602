import { ACCELERATORS } from '../device/accelerators.ts';
import type { DeviceChoice } from '../device/choose-device.ts';
import { DeviceError } from '../device/device-error.ts';
import type { DeviceTraits } from '../device/device-trial.ts';
import type { Device } from '../device/devices.ts';
import type {
  AnswerToEncode, EncodedAnswer, GeneratedTokens, ModelDescription, ModelSettings, ScoreRequest, TextRequest, TokensRequest, TrainableModel, TrainRequest, WrittenText,
} from '../language-model.ts';
import { RuntimeMissingError } from '../load-error.ts';
import type { LoadProgress } from '../load-model.ts';
import { SerialQueue } from '../../common/serial-queue.ts';
import type { StepOptions } from '../trainer/parameter-trainer.ts';
import type { TrainedTokens, TrainerStart } from '../trainer/trainer.ts';
import { ModelClosedError, ModelDiedError, ModelFailedError } from './errors.ts';
import type { ModelEvent, ModelRequest, ResultOf } from './messages.ts';
import { ModelChild, type Unnumbered } from './model-child.ts';
import { processEnvironment } from './process-environment.ts';

export type ModelStatus =
  | { readonly state: 'unloaded' }
  /** Without `progress`, the device is still being chosen. */
  | { readonly state: 'loading'; readonly progress?: LoadProgress | undefined }
  | { readonly state: 'ready'; readonly description: ModelDescription };

export interface ModelClientOptions {
  readonly settings: ModelSettings;
  /** backend/model-process.ts or its bundle. */
  readonly script: string;
  /** Called each time the model is loaded, because a GPU's free memory changes. See `planDevice`. */
  readonly chooseDevice: (settings: ModelSettings, signal: AbortSignal) => Promise<DeviceChoice>;
  /** How long an unused model stays in memory. */
  readonly idleMs: number;
  readonly onStatus?: ((status: ModelStatus) => void) | undefined;
  /** How long a process may continue an aborted chunk before it is killed. */
  readonly graceMs?: number | undefined;
  /** The number of threads for one operation; onnxruntime chooses by default. */
  readonly threads?: number | undefined;
  /** The environment from which the process gets its variables; by default that of this process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

/** Several times as long as a chunk on a slow machine (chunk-tokens.ts), but short enough for a user who waits for the machine. */
const GRACE_MS = 5_000;

/** After this many deaths during loading, the process is not started again for a while. */
const DEATHS_TO_STOP = 3;
const DEATHS_WITHIN_MS = 60_000;

interface Running {
  readonly child: ModelChild;
  readonly description: ModelDescription;
}

/**
 * A model in its own process. The first request starts the process. It ends when idle and is restarted by the next request, also after it
 * died. Requests are sent one after another, so a death affects only the current request.
 */
export class ModelClient implements TrainableModel {
  readonly #options: ModelClientOptions;
  readonly #graceMs: number;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #queue = new SerialQueue();
  readonly #closing = new AbortController();
  /** The times (`performance.now()`) of deaths during loading. */
  #deaths: readonly number[] = [];
  #child: ModelChild | undefined;
  #running: Running | undefined;
  #status: ModelStatus = { state: 'unloaded' };
  #idleMs: number;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: ModelClientOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS;
    this.#environment = processEnvironment(options.environment ?? process.env);
    this.#idleMs = options.idleMs;
  }

  get status(): ModelStatus {
    return this.#status;
  }

  /** The id of the model's process while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Changes how long an unused model stays in memory. */
  unloadAfter(idleMs: number): void {
    this.#idleMs = idleMs;
    this.#waitForIdle();
  }

  /** Loads the model if necessary. @throws the errors of `loadModel`; ModelDiedError; ModelClosedError */
  describe(): Promise<ModelDescription> {
    return this.#enqueue(undefined, async ({ description }) => description);
  }

  write({ signal, onText, seeds, grammar, ...request }: TextRequest): Promise<WrittenText[]> {
    return this.#enqueue(signal, async ({ child, description: { device } }) => {
      const onEvent = (event: ModelEvent): void => { if (event.type === 'text') onText?.(event.sample, event.text); };
      const { messages, prefill, ...sampling } = request;
      const { promptTokenIds, texts } = await child.ask(
        {
          type: 'write', ...sampling, prefill, grammar,
          messages: messages.map(({ role, content }) => ({ role, content })),
          seeds: Float64Array.from(seeds),
          streamed: onText !== undefined,
        },
        { signal, graceMs: this.#graceMs, onEvent: unlessAborted(signal, onEvent) },
      );
      const prompt = [...promptTokenIds];
      return texts.map(({ text, tokens, logprobs, finishReason }) =>
        ({ text, finishReason, promptTokenIds: prompt, tokenIds: [...tokens], logprobs: [...logprobs], device }));
    });
  }

  countTokens({ messages, prefill }: Pick<TextRequest, 'messages' | 'prefill'>): Promise<number> {
    return this.#ask({ type: 'countTokens', prefill, messages: messages.map(({ role, content }) => ({ role, content })) });
  }

  async encode({ messages, prefill }: Pick<TextRequest, 'messages' | 'prefill'>, { text, ends }: AnswerToEncode): Promise<EncodedAnswer> {
    const { promptTokenIds, tokenIds } = await this.#ask({ type: 'encode', prefill, messages: messages.map(({ role, content }) => ({ role, content })), text, ends });
    return { promptTokenIds: [...promptTokenIds], tokenIds: [...tokenIds] };
  }

  generate({ signal, onTokens, seeds, prompts, ...request }: TokensRequest): Promise<GeneratedTokens[]> {
    return this.#enqueue(signal, async ({ child }) => {
      const onEvent = (event: ModelEvent): void => { if (event.type === 'tokens') onTokens?.(event.row, [...event.tokens]); };
      const rows = await child.ask(
        {
          type: 'generate', ...request,
          prompts: prompts.map((prompt) => Float64Array.from(prompt)),
          seeds: Float64Array.from(seeds),
          streamed: onTokens !== undefined,
        },
        { signal, graceMs: this.#graceMs, onEvent: unlessAborted(signal, onEvent) },
      );
      return rows.map(({ tokens, logprobs, finishReason }) => ({ tokens: [...tokens], logprobs: [...logprobs], finishReason }));
    });
  }

  score({ signal, sequences, promptLengths, temperature, adapter }: ScoreRequest): Promise<number[][]> {
    return this.#enqueue(signal, async ({ child }) => {
      const scores = await child.ask(
        {
          type: 'score', adapter, temperature, sequences: sequences.map((sequence) => Float64Array.from(sequence)),
          promptLengths: Float64Array.from(promptLengths),
        },
        { signal, graceMs: this.#graceMs },
      );
      return scores.map((row) => [...row]);
    });
  }

  /** A training is lost when the process ends: when an idle model is unloaded, or when the process dies. */
  async startTraining({ adapter, optimizer, resume }: TrainerStart): Promise<void> {
    const begun = typeof adapter === 'object' ? { ...adapter, projections: [...adapter.projections] } : adapter;
    await this.#ask({ type: 'startTraining', adapter: begun, optimizer: { ...optimizer }, resume });
  }

  async forwardBackward({ signal, sequences, promptLengths, tokens, clip, ...options }: TrainRequest): Promise<TrainedTokens> {
    const { loss, logprobs, entropies } = await this.#ask({
      type: 'forwardBackward', ...options, clip: clip && { ...clip },
      sequences: sequences.map((sequence) => Float64Array.from(sequence)),
      promptLengths: Float64Array.from(promptLengths),
      tokens: tokens.map((weights) => Object.fromEntries(Object.entries(weights).map(([name, numbers]) => [name, Float64Array.from(numbers)]))),
    }, signal);
    return { loss, logprobs: logprobs.map((row) => [...row]), entropies: entropies.map((row) => [...row]) };
  }

  optimStep({ learningRate, gradientClip }: StepOptions): Promise<{ readonly gradientNorm: number }> {
    return this.#ask({ type: 'optimStep', learningRate, gradientClip });
  }

  writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    return this.#ask({ type: 'writeGradients', file });
  }

  async saveTraining(folder: string): Promise<void> {
    await this.#ask({ type: 'saveTraining', folder });
  }

  async exportTrained(folder: string): Promise<void> {
    await this.#ask({ type: 'exportTrained', folder });
  }

  #ask<Type extends ModelRequest['type']>(
    request: Unnumbered<Extract<ModelRequest, { type: Type }>> & { readonly type: Type }, signal?: AbortSignal,
  ): Promise<ResultOf<Type>> {
    return this.#enqueue(signal, ({ child }) => child.ask<Type>(request, { signal, graceMs: this.#graceMs }));
  }

  /** The memory of the process, if it runs. Does not load the model. The process answers between two chunks. */
  async memory(): Promise<{ readonly residentBytes: number } | undefined> {
    return this.#running?.child.ask({ type: 'memory' }, { graceMs: this.#graceMs });
  }

  /** Ends the process immediately. Waiting and later requests reject with a ModelClosedError. */
  async close(): Promise<void> {
    this.#closing.abort(new ModelClosedError('The model was closed; open it again.'));
    clearTimeout(this.#idleTimer);
    this.#child?.kill();
    await this.#child?.ended;
  }

  #enqueue<T>(signal: AbortSignal | undefined, work: (running: Running) => Promise<T>): Promise<T> {
    clearTimeout(this.#idleTimer);
    const ended = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    const answer = this.#queue.run(async () => {
      const running = await this.#load();
      ended.throwIfAborted();
      try {
        return await work(running);
      } catch (error) {
        // Waits for the end, so that the next request starts a new process.
        if (error instanceof ModelDiedError) await running.child.ended;
        throw explained(error, running.description);
      }
    }, ended);
    answer.then(() => this.#waitForIdle(), () => this.#waitForIdle());
    return answer;
  }

  async #load(): Promise<Running> {
    while (!this.#running) {
      this.#closing.signal.throwIfAborted();
      this.#refuseWhereItKeepsDying();
      this.#report({ state: 'loading' });
      try {
        await this.#openAnywhere();
        this.#deaths = [];
      } catch (error) {
        this.#report({ state: 'unloaded' });
        if (!(error instanceof ModelDiedError)) throw error;
        this.#deaths = [...this.#deaths, performance.now()].slice(-DEATHS_TO_STOP);
        if (this.#deaths.length === DEATHS_TO_STOP) this.#refuseWhereItKeepsDying(error);
      }
    }
    return this.#running;
  }

  /** @throws ModelDiedError */
  #refuseWhereItKeepsDying(cause?: ModelDiedError): void {
    const [first] = this.#deaths;
    if (this.#deaths.length < DEATHS_TO_STOP || first === undefined || performance.now() - first > DEATHS_WITHIN_MS) return;
    const end = cause && { signal: cause.signal, exitCode: cause.exitCode, lastOutput: cause.lastOutput };
    throw new ModelDiedError({
      ...end,
      retryable: false,
      message:
        `The model's process died ${DEATHS_TO_STOP} times within a minute while it loaded${causeOfDeath(cause)}; ` +
        'choose a smaller model or 4-bit weights, or try again in a minute.',
      cause,
    });
  }

  /** Opens the model on the chosen device. If an accelerator fails, opens it on the CPU and reports the reason. */
  async #openAnywhere(): Promise<void> {
    const choice = await this.#options.chooseDevice(this.#options.settings, this.#closing.signal);
    if (choice.device === 'cpu') return this.#open('cpu', choice.reasons, this.#environment);
    try {
      return await this.#open(choice.device, choice.reasons, choice.environment(this.#environment), choice.traits);
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      return this.#open('cpu', [...choice.reasons, error.message], this.#environment);
    }
  }

  /** @throws DeviceError if an accelerator is, or may be, the cause */
  async #open(device: Device, deviceReasons: readonly string[], environment: NodeJS.ProcessEnv, traits?: DeviceTraits): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const { settings, script, threads } = this.#options;
    const child = new ModelChild({ script, nodePath: process.execPath, environment });
    this.#child = child;
    child.ended.then(() => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#running?.child !== child) return;
      this.#running = undefined;
      this.#report({ state: 'unloaded' });
    }).catch(() => undefined);
    try {
      const description = await child.ask({ type: 'open', settings, device, traits: traits && { ...traits }, deviceReasons: [...deviceReasons], threads }, {
        graceMs: this.#graceMs,
        onEvent: (event) => { if (event.type === 'progress') this.#report({ state: 'loading', progress: event.progress }); },
      });
      // Set before any other event of the process, such as its death.
      this.#running = { child, description };
      this.#report({ state: 'ready', description });
    } catch (error) {
      child.kill();
      const { lastOutput } = await child.ended;
      if (device === 'cpu' || !maybeOfTheDevice(error)) throw error;
      throw ACCELERATORS[device].explainFailure([lastOutput, error.message].join('\n'));
    }
  }

  #waitForIdle(): void {
    clearTimeout(this.#idleTimer);
    if (!this.#queue.isIdle || this.#closing.signal.aborted) return;
    const unload = async (): Promise<void> => this.#running?.child.end(this.#graceMs);
    // A process that has already ended needs no unloading.
    this.#idleTimer = setTimeout(() => void this.#queue.run(unload).catch(() => undefined), this.#idleMs);
  }

  #report(status: ModelStatus): void {
    this.#status = status;
    this.#options.onStatus?.(status);
  }
}

/** Drops events that arrive after the abort. */
function unlessAborted(signal: AbortSignal | undefined, onEvent: (event: ModelEvent) => void): (event: ModelEvent) => void {
  return (event) => { if (!signal?.aborted) onEvent(event); };
}

/** Whether another device could help. A damaged checkpoint fails on every device. */
function maybeOfTheDevice(error: unknown): error is Error {
  return [ModelDiedError, ModelFailedError, RuntimeMissingError, DeviceError].some((kind) => error instanceof kind);
}

/** Replaces onnxruntime's text about a GPU by a sentence for users, if its meaning is known. */
function explained(error: unknown, { device }: ModelDescription): unknown {
  if (device === 'cpu' || !(error instanceof ModelFailedError)) return error;
  const meant = ACCELERATORS[device].explainFailure(error.message);
  return meant.kind === 'unknown' ? error : meant;
}

function causeOfDeath(error: ModelDiedError | undefined): string {
  if (!error) return '';
  return error.signal ? ` (${error.signal})` : error.exitCode === null ? '' : ` (exit code ${error.exitCode})`;
}
