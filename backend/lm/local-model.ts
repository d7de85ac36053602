import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Adapter, readAdapter } from './adapter/read-adapter.ts';
import { compilePattern } from './automaton/compile-pattern.ts';
import type { Pattern } from './automaton/pattern.ts';
import { compileTokenAutomaton, type TokenAutomaton } from './automaton/token-automaton.ts';
import { chunkTokens, scoredTokens, trainedTokens } from './chunk-tokens.ts';
import { ModelRequestError, PromptTooLongError } from './decoder/request-error.ts';
import type {
  AnswerToEncode, EncodedAnswer, GeneratedTokens, ModelDescription, ScoreRequest, TextRequest, TokensRequest, TrainableModel, TrainRequest, WrittenText,
} from './language-model.ts';
import { type LoadedModel, loadModel, type LoadOptions } from './load-model.ts';
import { RecentlyUsed } from '../common/recently-used.ts';
import { SerialQueue } from '../common/serial-queue.ts';
import { openTokenizer, type Tokenizer } from './tokenizer/tokenizer.ts';
import { trainAdapter } from './trainer/adapter-target.ts';
import { microBatches } from './trainer/micro-batches.ts';
import type { StepOptions } from './trainer/parameter-trainer.ts';
import type { TrainedTokens, Trainer, TrainerStart } from './trainer/trainer.ts';
import { trainWeights } from './trainer/weights-target.ts';
import { SampleTexts } from './written-texts.ts';

/** An adapter of rank 16 on a 7B model takes 160 MB. */
const ADAPTERS_KEPT = 2;
/** Grammars depend on the number of workers. */
const AUTOMATA_KEPT = 4;

/** A model in this process. Its runs block the thread, so only the model's process uses it. Other code uses a `ModelClient`. */
export class LocalModel implements TrainableModel {
  readonly #loaded: LoadedModel;
  readonly #queue = new SerialQueue();
  readonly #adapters = new RecentlyUsed<Adapter>(ADAPTERS_KEPT);
  readonly #automata = new RecentlyUsed<TokenAutomaton>(AUTOMATA_KEPT);
  #tokenizer: Tokenizer | undefined;
  #trainer: Trainer | undefined;

  private constructor(loaded: LoadedModel) {
    this.#loaded = loaded;
  }

  /** @throws the errors of `loadModel` */
  static async open(options: LoadOptions): Promise<LocalModel> {
    return new LocalModel(await loadModel(options));
  }

  async describe(): Promise<ModelDescription> {
    return this.#loaded.description;
  }

  /** @throws TokenizerMissingError, TokenizerError, ModelRequestError, and errors of the grammar or the adapter */
  write(request: TextRequest): Promise<WrittenText[]> {
    return this.#queue.run(() => this.#write(request), request.signal);
  }

  /** @throws TokenizerMissingError, TokenizerError */
  countTokens({ messages, prefill = '' }: Pick<TextRequest, 'messages' | 'prefill'>): Promise<number> {
    return this.#queue.run(async () => (await this.#openedTokenizer()).chat(messages, { prefill }).length);
  }

  /** @throws TokenizerMissingError, TokenizerError */
  encode({ messages, prefill = '' }: Pick<TextRequest, 'messages' | 'prefill'>, { text, ends }: AnswerToEncode): Promise<EncodedAnswer> {
    return this.#queue.run(async () => {
      const tokenizer = await this.#openedTokenizer();
      const stop = ends ? this.#stopTokens(tokenizer.stopTokenIds).slice(0, 1) : [];
      return { promptTokenIds: tokenizer.chat(messages, { prefill }), tokenIds: [...tokenizer.encode(text, { specialTokens: 'plain', continues: true }), ...stop] };
    });
  }

  /** @throws ModelRequestError, and errors of the adapter */
  generate(request: TokensRequest): Promise<GeneratedTokens[]> {
    return this.#queue.run(async () => {
      const { prompts, samples, onTokens } = request;
      return this.#loaded.session.generate({
        ...(await this.#sampling(request, request.maxTokens, onTokens !== undefined)),
        prompts,
        samples,
        stopTokenIds: this.#stopTokens(),
        onTokens,
      });
    }, request.signal);
  }

  /** @throws ModelRequestError, and errors of the adapter */
  score({ sequences, promptLengths, temperature, adapter, signal }: ScoreRequest): Promise<number[][]> {
    return this.#queue.run(async () => {
      if (sequences.length !== promptLengths.length) {
        throw new ModelRequestError(`There are ${sequences.length} sequences and ${promptLengths.length} prompt lengths.`);
      }
      const read = await this.#adapter(adapter);
      const scores: number[][] = [];
      for (const rows of microBatches({ sequences, promptLengths }, scoredTokens(this.#load))) {
        signal?.throwIfAborted();
        const found = await this.#loaded.session.score({ sequences: pick(sequences, rows), promptLengths: pick(promptLengths, rows), temperature, adapter: read });
        rows.forEach((row, index) => (scores[row] = found[index]!));
      }
      return scores;
    }, signal);
  }

  /** @throws AdapterError, CheckpointError, TrainerStateError, ModelRequestError */
  startTraining(start: TrainerStart): Promise<void> {
    return this.#queue.run(async () => {
      const { session, checkpoint, trainable } = this.#loaded;
      if (!trainable) throw new ModelRequestError('The model was loaded without anything to train.');
      this.#trainer = undefined;
      this.#trainer = await (trainable === 'adapter' ? trainAdapter : trainWeights)(session, checkpoint, start);
    });
  }

  /** @throws ModelRequestError, NotANumberError */
  forwardBackward({ signal, ...request }: TrainRequest): Promise<TrainedTokens> {
    return this.#queue.run(async () => {
      const { sequences, promptLengths, tokens } = request;
      if (sequences.length !== promptLengths.length || sequences.length !== tokens.length) {
        throw new ModelRequestError(`There are ${sequences.length} sequences, ${promptLengths.length} prompt lengths and token weights for ${tokens.length}.`);
      }
      let loss = 0;
      const logprobs: (readonly number[])[] = [];
      const entropies: (readonly number[])[] = [];
      const training = this.#begun();
      try {
        for (const rows of microBatches(request, trainedTokens(this.#load))) {
          signal?.throwIfAborted();
          const part = { ...request, sequences: pick(sequences, rows), promptLengths: pick(promptLengths, rows), tokens: pick(tokens, rows) };
          const trained = await training.forwardBackward(part);
          loss += trained.loss;
          rows.forEach((row, index) => {
            logprobs[row] = trained.logprobs[index]!;
            entropies[row] = trained.entropies[index]!;
          });
        }
      } catch (error) {
        // A step must not use the gradients of half a batch.
        training.discard();
        throw error;
      }
      return { loss, logprobs, entropies };
    }, signal);
  }

  /** @throws ModelRequestError if no training was started, like all methods below */
  optimStep(options: StepOptions): Promise<{ readonly gradientNorm: number }> {
    return this.#queue.run(async () => this.#begun().step(options));
  }

  writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    return this.#queue.run(() => this.#begun().writeGradients(file));
  }

  saveTraining(folder: string): Promise<void> {
    return this.#queue.run(() => this.#begun().save(folder));
  }

  exportTrained(folder: string): Promise<void> {
    return this.#queue.run(() => this.#begun().exportTo(folder));
  }

  #begun(): Trainer {
    if (!this.#trainer) throw new ModelRequestError('No training was begun.');
    return this.#trainer;
  }

  async close(): Promise<void> {
    await this.#queue.run(() => this.#loaded.session.close());
  }

  get #load() {
    const { checkpoint: { config }, description: { device, weightBytes } } = this.#loaded;
    return { config, device, weightBytes };
  }

  async #openedTokenizer(): Promise<Tokenizer> {
    return (this.#tokenizer ??= await openTokenizer(this.#loaded.checkpoint.folder));
  }

  async #write(request: TextRequest): Promise<WrittenText[]> {
    const { messages, prefill = '', samples, seeds, grammar, onText } = request;
    if (samples !== seeds.length) throw new ModelRequestError(`${samples} samples need as many seeds, not ${seeds.length}.`);
    const tokenizer = await this.#openedTokenizer();
    const prompt = tokenizer.chat(messages, { prefill });
    const maxTokens = Math.min(request.maxTokens, this.#room(prompt.length));
    const stopTokenIds = this.#stopTokens(tokenizer.stopTokenIds);
    // With a grammar the text is what the automaton read, from its first byte on.
    const continues = prefill !== '' || grammar !== undefined;
    const open = () => tokenizer.textStream({ skipSpecial: true, continues });
    const texts = new SampleTexts({ samples, prefill, stopTokenIds, open, onText });
    const rows = await this.#loaded.session.generate({
      ...(await this.#sampling(request, maxTokens, onText !== undefined)),
      prompts: [prompt],
      samples,
      stopTokenIds,
      automaton: grammar && this.#automaton(grammar, tokenizer, stopTokenIds, maxTokens),
      onTokens: (row, tokens) => texts.add(row, tokens),
    });
    return rows.map(({ tokens, logprobs, finishReason }, sample) => ({
      text: texts.finish(sample), finishReason, promptTokenIds: prompt, tokenIds: tokens, logprobs, device: this.#loaded.description.device,
    }));
  }

  /** The common options of requests for text and for tokens, in the form for the session. */
  async #sampling(request: TextRequest | TokensRequest, maxTokens: number, streamed: boolean) {
    const { temperature, topP = 1, topK = 0, seeds, adapter, signal } = request;
    const rows = seeds.length;
    const length = chunkTokens({ ...this.#load, rows, maxTokens, interactive: streamed || rows === 1 });
    const read = await this.#adapter(adapter);
    return { maxTokens, temperature, topP, topK, seeds, adapter: read, chunkTokens: length, signal };
  }

  /** The number of tokens left after a prompt. */
  #room(promptTokens: number): number {
    const { contextLength } = this.#loaded.description;
    if (promptTokens < contextLength) return contextLength - promptTokens;
    throw new PromptTooLongError(
      `The messages have ${promptTokens} tokens and the model reads at most ${contextLength}, its answer included: ` +
        'give it less to read.',
    );
  }

  /** The stop tokens of the model and of its tokenizer, whose files may differ. Excludes ids outside the model's vocabulary. */
  #stopTokens(ofTokenizer: readonly number[] = []): number[] {
    const { stopTokenIds, vocabularySize } = this.#loaded.checkpoint.config;
    return [...new Set([...stopTokenIds, ...ofTokenizer])].filter((id) => id < vocabularySize);
  }

  #automaton(grammar: Pattern, tokenizer: Tokenizer, stopTokenIds: readonly number[], maxTokens: number): TokenAutomaton {
    const key = JSON.stringify(grammar);
    let automaton = this.#automata.get(key);
    if (!automaton) {
      const { vocabularySize } = this.#loaded.checkpoint.config;
      const vocabulary = { tokenBytes: tokenizer.tokenBytes(), stopTokenIds, vocabularySize };
      automaton = compileTokenAutomaton(compilePattern(grammar), vocabulary);
      this.#automata.set(key, automaton);
    }
    const fewest = automaton.distance[automaton.start] as number;
    if (fewest <= maxTokens) return automaton;
    throw new PromptTooLongError(
      `The answer must have a form that takes at least ${fewest} tokens, and there is room for ${maxTokens}: ` +
        'allow more, or give it less to read.',
    );
  }

  async #adapter(folder: string | undefined): Promise<Adapter | undefined> {
    if (folder === undefined) return undefined;
    if (!this.#loaded.takesAdapters) {
      throw new ModelRequestError(`The model was loaded without adapters, but the request names ${folder}.`);
    }
    const key = await versionKey(folder);
    const known = this.#adapters.get(key);
    if (known) return known;
    const adapter = await readAdapter(folder, this.#loaded.checkpoint.config);
    this.#adapters.set(key, adapter);
    return adapter;
  }
}

/** A key that changes when the adapter in a folder is replaced. Reading the adapter reports missing files. */
async function versionKey(folder: string): Promise<string> {
  const files = await Promise.all(['adapter_config.json', 'adapter_model.safetensors'].map(async (name) => {
    const found = await stat(path.join(folder, name), { bigint: true }).catch(() => undefined);
    return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : 'missing';
  }));
  return [await realpath(folder).catch(() => folder), ...files].join('\n');
}

const pick = <T>(list: readonly T[], rows: readonly number[]): T[] => rows.map((row) => list[row] as T);
