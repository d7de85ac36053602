import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/*
 * What PyTorch, transformers and peft say of the tiny models of this folder; generate.py wrote it. Everything was computed in
 * float32 on a CPU, from the stored weights.
 */

export const GOLDEN_MODELS = ['qwen2-tiny', 'qwen2-tiny-untied', 'qwen3-tiny', 'llama-tiny', 'mistral-tiny', 'phi3-tiny', 'phi4-tiny', 'gemma3-tiny'] as const;
export type GoldenModel = (typeof GOLDEN_MODELS)[number];

/** The models for tests of kernels, weights and commands. Llama and Mistral differ from them in the rotation alone, and Phi-3 in how weights are stored, so these tests leave them out, and Gemma 3 to be short. */
export const QWEN_MODELS = ['qwen2-tiny', 'qwen2-tiny-untied', 'qwen3-tiny'] as const satisfies readonly GoldenModel[];

/** The models whose folder holds a tokenizer. */
export const GOLDEN_TOKENIZERS = ['qwen2-tiny', 'qwen3-tiny'] as const satisfies readonly GoldenModel[];
export type GoldenTokenizer = (typeof GOLDEN_TOKENIZERS)[number];

/** What is said of one model, alone or with an adapter. Lists run parallel to the `sequences` or the `prompts` of the model. */
export interface VariantFigures {
  /** Of each sequence: the log-probabilities of its tokens from `promptLengths[i]` on, at temperature 1; empty if none follow. */
  readonly completionLogprobs: readonly (readonly number[])[];
  /** Of each sequence: the logits of ids 0 to 7 after its first token. */
  readonly firstLogits: readonly (readonly number[])[];
  /** Of each sequence: the logits of ids 0 to 7 after its last token. */
  readonly lastLogits: readonly (readonly number[])[];
  readonly greedy: {
    /** Of each prompt: `newTokens` tokens, none of them a stop token of the model. The same alone and in one batch. */
    readonly tokens: readonly (readonly number[])[];
    /** The least by which the logit of any of these tokens exceeds the second largest. */
    readonly smallestLead: number;
    /** The prompts again, with other stop tokens: a row ends with the first of them, which is included. */
    readonly stopped: { readonly stopTokenIds: readonly number[]; readonly tokens: readonly (readonly number[])[] };
  };
  /** The mean over all completion tokens of their negative log-probability: what `gradientsFile` holds the gradients of. */
  readonly loss: number;
}

export interface ModelFigures {
  readonly model: GoldenModel;
  /** Token ids of different lengths, 3 to 70. */
  readonly sequences: readonly (readonly number[])[];
  /** How many tokens of each sequence are its prompt; in one of them all. */
  readonly promptLengths: readonly number[];
  /** Token ids that are continued greedily, 1 to 41. */
  readonly prompts: readonly (readonly number[])[];
  readonly newTokens: number;
  readonly base: VariantFigures;
  /** By the adapter's name, which is its folder's name. */
  readonly adapters: Readonly<Record<string, VariantFigures>>;
}

export interface Chat {
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly options: {
    readonly addGenerationPrompt: boolean;
    /** Absent: the template is not told. */
    readonly enableThinking?: boolean;
    /** A beginning of the answer: it stands behind the generation prompt. */
    readonly assistantStart?: string;
  };
  readonly text: string;
  readonly ids: readonly number[];
}

export interface TokenizerFigures {
  readonly model: GoldenTokenizer;
  readonly encodings: readonly { readonly text: string; readonly ids: readonly number[] }[];
  /** Among them ids that no text encodes to: parts of characters, and ids without a token, which decode to nothing. */
  readonly decodings: readonly {
    readonly ids: readonly number[];
    readonly text: string;
    readonly textWithSpecialTokens: string;
  }[];
  readonly chats: readonly Chat[];
}

/** Of the tokenizer of `llama-tiny`, and of the same vocabulary in other forms, as the `tokenizers` library reads them. */
export interface SentencePieceFigures {
  /** In its own form. */
  readonly chats: readonly Chat[];
  readonly forms: readonly {
    readonly form: string;
    /** What differs in tokenizer.json. */
    readonly definition: Readonly<Record<'normalizer' | 'pre_tokenizer' | 'decoder', unknown>>;
    /** `decoded` with special tokens; null where it is the text again. */
    readonly encodings: readonly { readonly text: string; readonly ids: readonly number[]; readonly decoded: string | null }[];
    /** Of ids that no text encodes to, without special tokens. */
    readonly decodings: readonly { readonly ids: readonly number[]; readonly text: string }[];
  }[];
}

/** Absolute path of a model's folder. */
export function modelFolder(model: GoldenModel): string {
  return pathOf(`models/${model}`);
}

/** Absolute path of an adapter's folder, by a name of `ModelFigures.adapters`. */
export function adapterFolder(adapter: string): string {
  return pathOf(`adapters/${adapter}`);
}

/**
 * Absolute path of a safetensors file with gradients in float32, named as the weights are in their own files. By an adapter's
 * name: of all its A and B. By a model's name: of some of the model's own weights; of embeddings and output layer the first 64
 * rows.
 */
export function gradientsFile(modelOrAdapter: string): string {
  return pathOf(`gradients/${modelOrAdapter}.safetensors`);
}

export async function readFigures(model: GoldenModel): Promise<ModelFigures> {
  return JSON.parse(await readFile(pathOf(`figures/${model}.json`), 'utf8')) as ModelFigures;
}

export async function readTokenizerFigures(model: GoldenTokenizer): Promise<TokenizerFigures> {
  return JSON.parse(await readFile(pathOf(`figures/${model}-tokenizer.json`), 'utf8')) as TokenizerFigures;
}

export async function readSentencePieceFigures(): Promise<SentencePieceFigures> {
  return JSON.parse(await readFile(pathOf('figures/sentencepiece.json'), 'utf8')) as SentencePieceFigures;
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** What TRL's loss and PyTorch say of training an adapter; training_figures.py wrote it. Lists run parallel to `sequences`. */
export interface TrainingFigures {
  readonly sequences: readonly (readonly number[])[];
  readonly promptLengths: readonly number[];
  /** Of the tokens after the prompts: under the policy that the ratio is relative to, and under the model without its adapter. */
  readonly oldLogprobs: readonly (readonly number[])[];
  readonly referenceLogprobs: readonly (readonly number[])[];
  /** Of the trainer's to the sampler's probability, token by token. */
  readonly importance: readonly (readonly number[])[];
  readonly advantages: readonly number[];
  readonly clip: readonly [low: number, high: number];
  readonly maxCompletionLength: number;
  readonly temperature: number;
  readonly cases: Readonly<Record<TrainingCase, {
    readonly lossType: 'grpo' | 'dapo' | 'dr_grpo';
    /** Of the divergence from the model without its adapter. */
    readonly beta: number;
    /** Whether `importance` counts. */
    readonly importance: boolean;
    readonly loss: number;
    readonly gradientNorm: number;
    /** By TRL's names; means over all tokens. */
    readonly metrics: Readonly<Record<string, number>>;
  }>>;
  /** AdamW, with gradients clipped, of one case; before each step. */
  readonly steps: {
    readonly case: TrainingCase;
    readonly count: number;
    readonly learning_rate: number;
    readonly weight_decay: number;
    readonly max_norm: number;
    readonly losses: readonly number[];
    readonly gradientNorms: readonly number[];
  };
}

export type TrainingCase = 'grpo' | 'dr_grpo' | 'dapo' | 'grpo-kl';

export async function readTrainingFigures(adapter: string): Promise<TrainingFigures> {
  return JSON.parse(await readFile(pathOf(`training/${adapter}.json`), 'utf8')) as TrainingFigures;
}

/** Absolute path of a safetensors file: the gradients of a case, or the adapter after its steps. */
export function trainingFile(adapter: string, name: TrainingCase | 'after-steps'): string {
  return pathOf(`training/${adapter}-${name}.safetensors`);
}
