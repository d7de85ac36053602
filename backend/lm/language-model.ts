import type { Pattern } from './automaton/pattern.ts';
import type { Device, WantedDevice } from './device/devices.ts';
import type { ChatMessage } from './tokenizer/tokenizer.ts';
import type { BatchToTrain, TrainedTokens, TrainerStart } from './trainer/trainer.ts';
import type { StepOptions } from './trainer/parameter-trainer.ts';

/*
 * The interface through which the rest of the backend uses a model that runs on this machine. The model itself runs in a process of its
 * own (`process/`), because onnxruntime blocks its thread.
 */

/** How the weights are held: as in the checkpoint, or quantized to 8 or 4 bits. */
export type Precision = 'full' | '8-bit' | '4-bit';

export interface ModelSettings {
  /** A Hugging Face folder. */
  readonly folder: string;
  readonly device: WantedDevice;
  readonly precision: Precision;
  /** The maximum number of tokens of prompt and answer; 32,768 by default. The model's own limit always applies. */
  readonly contextLength?: number | undefined;
  /** Whether requests may name an adapter. */
  readonly adapters: boolean;
  /** What can be trained: an adapter, or all weights. Both take more memory; all weights are feasible only for a small model. */
  readonly trainable?: 'adapter' | 'weights' | undefined;
  /** The folder of quantised weights. */
  readonly storage: string;
}

/** A loaded model. */
export interface ModelDescription {
  /** owner/name if known, otherwise the name of the folder. */
  readonly name: string;
  readonly device: Device;
  /** Why better devices are not used; one sentence each. */
  readonly deviceReasons: readonly string[];
  readonly precision: Precision;
  /** The size of the weights in the device's memory. */
  readonly weightBytes: number;
  readonly contextLength: number;
}

interface Sampling {
  readonly maxTokens: number;
  /** 0 always takes the most likely token. */
  readonly temperature: number;
  /** 1 for all tokens. */
  readonly topP?: number | undefined;
  /** 0 for all tokens. */
  readonly topK?: number | undefined;
  /** One for each sample of each prompt, in the prompts' order. */
  readonly seeds: readonly number[];
  /** A PEFT folder. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TextRequest extends Sampling {
  readonly messages: readonly ChatMessage[];
  /** The beginning of the answer. The model continues exactly there, and the returned text includes it. */
  readonly prefill?: string | undefined;
  readonly samples: number;
  /** The pattern that the text after the prefill must match. */
  readonly grammar?: Pattern | undefined;
  readonly onText?: ((sample: number, text: string) => void) | undefined;
}

export interface WrittenText {
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly promptTokenIds: readonly number[];
  /** The generated tokens, including the stop token if there is one. */
  readonly tokenIds: readonly number[];
  /** Of softmax(logits / temperature), before top-p, top-k and grammar. */
  readonly logprobs: readonly number[];
  /** The device that generated the text. The same seed may give another text on another device. */
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

export interface AnswerToEncode {
  readonly text: string;
  /** Whether the answer ends there: its last token is then the one at which the model stops. */
  readonly ends: boolean;
}

export interface EncodedAnswer {
  readonly promptTokenIds: readonly number[];
  readonly tokenIds: readonly number[];
}

export interface TrainRequest extends BatchToTrain {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A model with a trainable adapter or trainable weights. Folders and files are absolute. A folder that is written must not exist yet, and
 * appears complete or not at all. To sample from an adapter in training, export it and name its folder. Weights in training are sampled directly.
 */
export interface TrainableModel extends LanguageModel {
  /** The number of tokens of a prompt as `write` reads it. */
  countTokens(prompt: Pick<TextRequest, 'messages' | 'prefill'>): Promise<number>;
  /** A prompt as `write` reads it, and the tokens of an answer that continues it. */
  encode(prompt: Pick<TextRequest, 'messages' | 'prefill'>, answer: AnswerToEncode): Promise<EncodedAnswer>;
  /** Starts a training and ends the previous one. */
  startTraining(start: TrainerStart): Promise<void>;
  /** Adds the gradients of a batch to those of the next step, in as many passes as needed. If it fails, all gradients are discarded. */
  forwardBackward(request: TrainRequest): Promise<TrainedTokens>;
  optimStep(options: StepOptions): Promise<{ readonly gradientNorm: number }>;
  /** Writes the gradients of the next step as a safetensors file. */
  writeGradients(file: string): Promise<{ readonly gradientNorm: number }>;
  /** Saves everything that the next step depends on, for `TrainerStart.resume`. */
  saveTraining(folder: string): Promise<void>;
  /** Writes a trained adapter as a PEFT folder, or trained weights as a model's folder. */
  exportTrained(folder: string): Promise<void>;
}
