import * as z from 'zod';
import { ModelRequestError } from '../decoder/request-error.ts';
import type { GeneratedTokens } from '../language-model.ts';
import type { LoadProgress } from '../load-model.ts';
import { LocalModel } from '../local-model.ts';
import { type ModelReply, type ModelRequest, noticeSchema, type ResultOf, requestSchema } from './messages.ts';
import { toWireError } from './wire-error.ts';

/** The model's end of the channel to the backend. */
export interface ModelChannel {
  send(reply: ModelReply): void;
  onMessage(listener: (message: unknown) => void): void;
}

/**
 * Serves one model, loaded by `open`, to the backend. Requests are answered one after another; a cancel takes effect between two chunks.
 * @param end called when the backend no longer needs this process
 */
export function serveModel(channel: ModelChannel, end: () => void): void {
  const server = new ModelServer(channel, end);
  channel.onMessage((message) => server.receive(message));
}

const addressed = z.object({ id: z.int().min(1) });

class ModelServer {
  readonly #channel: ModelChannel;
  readonly #end: () => void;
  readonly #running = new Map<number, AbortController>();
  #model: Promise<LocalModel> | undefined;

  constructor(channel: ModelChannel, end: () => void) {
    this.#channel = channel;
    this.#end = end;
  }

  receive(message: unknown): void {
    const notice = noticeSchema.safeParse(message);
    if (notice.success) {
      if (notice.data.type === 'close') this.#end();
      else this.#running.get(notice.data.id)?.abort();
      return;
    }
    const request = requestSchema.safeParse(message);
    if (request.success) return void this.#answer(request.data);
    const { id } = addressed.parse(message);
    const [issue] = request.error.issues;
    const place = issue?.path.join('.') || 'its type';
    const problem = new ModelRequestError(`The request is invalid at ${place}: ${issue?.message}.`);
    this.#channel.send({ type: 'error', id, error: toWireError(problem) });
  }

  async #answer(request: ModelRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const value = await this.#run(request, controller.signal);
      this.#channel.send({ type: 'result', id, value });
    } catch (error) {
      this.#channel.send({ type: 'error', id, error: toWireError(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  async #run(request: ModelRequest, signal: AbortSignal): Promise<ResultOf<ModelRequest['type']>> {
    switch (request.type) {
      case 'open': return this.#open(request, signal);
      case 'try': return this.#try(request, signal);
      case 'memory': return { residentBytes: process.memoryUsage.rss() };
      case 'write': return this.#write(request, signal);
      case 'countTokens': return (await this.#opened()).countTokens(request);
      case 'encode': return this.#encode(request);
      case 'generate': return this.#generate(request, signal);
      case 'score': return this.#score(request, signal);
      case 'startTraining': return this.#startTraining(request);
      case 'forwardBackward': return this.#forwardBackward(request, signal);
      case 'optimStep': return (await this.#opened()).optimStep(request);
      case 'writeGradients': return (await this.#opened()).writeGradients(request.file);
      case 'saveTraining': return (await this.#opened()).saveTraining(request.folder).then(() => null);
      case 'exportTrained': return (await this.#opened()).exportTrained(request.folder).then(() => null);
    }
  }

  async #open({ id, ...options }: Extract<ModelRequest, { type: 'open' }>, signal: AbortSignal): Promise<ResultOf<'open'>> {
    if (this.#model) throw new ModelRequestError('This process has a model already.');
    const onProgress = throttled((progress) => this.#channel.send({ type: 'progress', id, progress }));
    this.#model = LocalModel.open({ ...options, onProgress, signal });
    return (await this.#model).describe();
  }

  async #try({ id, type: _type, ...options }: Extract<ModelRequest, { type: 'try' }>, signal: AbortSignal): Promise<ResultOf<'try'>> {
    const onProgress = (fraction: number): void => this.#channel.send({ type: 'progress', id, progress: { phase: 'trying', fraction } });
    const { tryDevice } = await import('../trial/try-device.ts');
    return tryDevice({ ...options, onProgress, signal });
  }

  async #opened(): Promise<LocalModel> {
    if (!this.#model) throw new ModelRequestError('No model has been opened in this process.');
    return this.#model;
  }

  async #write(request: Extract<ModelRequest, { type: 'write' }>, signal: AbortSignal): Promise<ResultOf<'write'>> {
    const { id, streamed, seeds, ...rest } = request;
    const onText = (sample: number, text: string): void => this.#channel.send({ type: 'text', id, sample, text });
    const model = await this.#opened();
    const written = await model.write({ ...rest, seeds: [...seeds], signal, onText: streamed ? onText : undefined });
    return {
      promptTokenIds: Float64Array.from(written[0]?.promptTokenIds ?? []),
      texts: written.map(({ text, tokenIds, ...row }) => ({ text, ...packed({ ...row, tokens: tokenIds }) })),
    };
  }

  async #encode(request: Extract<ModelRequest, { type: 'encode' }>): Promise<ResultOf<'encode'>> {
    const { promptTokenIds, tokenIds } = await (await this.#opened()).encode(request, request);
    return { promptTokenIds: Float64Array.from(promptTokenIds), tokenIds: Float64Array.from(tokenIds) };
  }

  async #generate(request: Extract<ModelRequest, { type: 'generate' }>, signal: AbortSignal): Promise<ResultOf<'generate'>> {
    const { id, streamed, seeds, prompts, ...rest } = request;
    const onTokens = (row: number, tokens: readonly number[]): void =>
      this.#channel.send({ type: 'tokens', id, row, tokens: Float64Array.from(tokens) });
    const generated = await (await this.#opened()).generate({
      ...rest, seeds: [...seeds], prompts: prompts.map((prompt) => [...prompt]), signal,
      onTokens: streamed ? onTokens : undefined,
    });
    return generated.map(packed);
  }

  async #startTraining({ id: _id, type: _type, ...start }: Extract<ModelRequest, { type: 'startTraining' }>): Promise<null> {
    await (await this.#opened()).startTraining(start);
    return null;
  }

  async #forwardBackward(request: Extract<ModelRequest, { type: 'forwardBackward' }>, signal: AbortSignal): Promise<ResultOf<'forwardBackward'>> {
    const { id: _id, type: _type, sequences, promptLengths, tokens, ...options } = request;
    const { loss, logprobs, entropies } = await (await this.#opened()).forwardBackward({
      sequences: sequences.map((sequence) => [...sequence]), promptLengths: [...promptLengths], ...options, signal,
      tokens: tokens.map((weights) => Object.fromEntries(Object.entries(weights).map(([name, numbers]) => [name, listed(numbers) ?? []]))),
    });
    return { loss, logprobs: logprobs.map((row) => Float64Array.from(row)), entropies: entropies.map((row) => Float64Array.from(row)) };
  }

  async #score(request: Extract<ModelRequest, { type: 'score' }>, signal: AbortSignal): Promise<ResultOf<'score'>> {
    const { sequences, promptLengths, temperature, adapter } = request;
    const scores = await (await this.#opened()).score({
      sequences: sequences.map((sequence) => [...sequence]), promptLengths: [...promptLengths], temperature, adapter, signal,
    });
    return scores.map((row) => Float64Array.from(row));
  }
}

const listed = (numbers: Float64Array | undefined): number[] | undefined => numbers && [...numbers];

function packed({ tokens, logprobs, finishReason }: GeneratedTokens) {
  return { tokens: Float64Array.from(tokens), logprobs: Float64Array.from(logprobs), finishReason };
}

const PROGRESS_STEP = 0.01;

/** Reports only visible progress: another phase, or one percent more. */
function throttled(
  report: (progress: LoadProgress) => void): typeof report {
  let last: { phase: string; fraction: number } | undefined;
  return (progress) => {
    const fraction = progress.fraction ?? -1;
    if (last?.phase === progress.phase && fraction - last.fraction < PROGRESS_STEP) return;
    last = { phase: progress.phase, fraction };
    report(progress);
  };
}
