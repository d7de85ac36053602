import type { Pattern } from './automaton/pattern.ts';
import type { Device, WantedDevice } from './device/devices.ts';
import type { ChatMessage } from './tokenizer/tokenizer.ts';
import type { BatchToTrain, TrainedTokens, TrainerStart } from './trainer/trainer.ts';
import type { StepOptions } from './trainer/parameter-trainer.ts';

/*
 * What the rest of the house knows of a model that runs here: this interface. The model itself runs in a process of its own
 * (`process/`), since onnxruntime blocks the thread it runs on.
 */

/** How the weights are held: as the checkpoint has them, or in blocks of 8 or 4 bits. */
export type Precision = 'full' | '8-bit' | '4-bit';

export interface ModelSettings {
  /** A Hugging Face folder. */
  readonly folder: string;
  readonly device: WantedDevice;
  readonly precision: Precision;
  /** Prompt and answer together; where absent 32,768 tokens, and never more than the model takes. */
  readonly contextLength?: number | undefined;
  /** Whether requests may name an adapter. */
  readonly adapters: boolean;
  /** What can be trained, which takes more memory: an adapter; or all weights, which a small model has room for several times. */
  readonly trainable?: 'adapter' | 'weights' | undefined;
  /** Where quantised weights are kept. */
  readonly storage: string;
}

/** A model that is loaded, and how. */
export interface ModelDescription {
  /** The name of its folder, or owner/name where that is known. */
  readonly name: string;
  readonly device: Device;
  /** Why each better device was passed over; one sentence each. */
  readonly deviceReasons: readonly string[];
  readonly precision: Precision;
  /** Bytes that the weights take in the device's memory. */
  readonly weightBytes: number;
  readonly contextLength: number;
}

interface Sampling {
  readonly maxTokens: number;
  /** 0 takes the likeliest token each time. */
  readonly temperature: number;
  /** 1 for all tokens. */
  readonly topP?: number | undefined;
  /** 0 for all tokens. */
  readonly topK?: number | undefined;
  /** One a sample of each prompt, in the prompts' order. */
  readonly seeds: readonly number[];
  /** A PEFT folder. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TextRequest extends Sampling {
  readonly messages: readonly ChatMessage[];
  /** How the answer begins; the model continues exactly there, and the text it gives includes it. */
  readonly prefill?: string | undefined;
  readonly samples: number;
  /** What the text after the prefill must be. */
  readonly grammar?: Pattern | undefined;
  readonly onText?: ((sample: number, text: string) => void) | undefined;
}

export interface WrittenText {
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly promptTokenIds: readonly number[];
  /** Of what was generated: the stop token included, if one came. */
  readonly tokenIds: readonly number[];
  /** Of softmax(logits / temperature), before top-p, top-k and grammar. */
  readonly logprobs: readonly number[];
  /** Where it was written: on another device the same seed may give another text. */
  readonly device: ModelDescription['device'];
}

export interface TokensRequest extends Sampling {
  readonly prompts: readonly (readonly number[])[];
  readonly samples: number;
  readonly onTokens?: ((row: number, tokens: readonly number[]) => void) | undefined;
}

export interface GeneratedTokens {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly finishReason: 'stop' | 'length';
}

export interface ScoreRequest {
  readonly sequences: readonly (readonly number[])[];
  readonly promptLengths: readonly number[];
  /** 1 if absent. */
  readonly temperature?: number | undefined;
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LanguageModel {
  describe(): Promise<ModelDescription>;
  /** Answers a conversation, `samples` times. */
  write(request: TextRequest): Promise<WrittenText[]>;
  /** Continues token ids; row prompt · samples + sample. Needs no tokenizer. */
  generate(request: TokensRequest): Promise<GeneratedTokens[]>;
  /** Log-probabilities of each sequence's tokens from its prompt's length on. Needs no tokenizer. */
  score(request: ScoreRequest): Promise<number[][]>;
}

export interface TrainRequest extends BatchToTrain {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A model of which one adapter, or all weights, can be trained. Folders and files are absolute; a folder that is written must not be there yet, and appears
 * whole or not at all. To sample from the adapter as it is, export it and name its folder; weights in training are what is sampled from.
 */
export interface TrainableModel extends LanguageModel {
  /** Of a prompt, as `write` reads it. */
  countTokens(prompt: Pick<TextRequest, 'messages' | 'prefill'>): Promise<number>;
  /** Begins a training, and ends the one before. */
  startTraining(start: TrainerStart): Promise<void>;
  /** Adds the gradients of a batch, in as many passes as it takes, to those of the step to come. Where it fails, all of them are discarded. */
  forwardBackward(request: TrainRequest): Promise<TrainedTokens>;
  optimStep(options: StepOptions): Promise<{ readonly gradientNorm: number }>;
  /** The gradients of the step to come, as a safetensors file. */
  writeGradients(file: string): Promise<{ readonly gradientNorm: number }>;
  /** All that the next step depends on, for `TrainerStart.resume`. */
  saveTraining(folder: string): Promise<void>;
  /** What was trained: an adapter as a PEFT folder, weights as a model's folder. */
  exportTrained(folder: string): Promise<void>;
}
