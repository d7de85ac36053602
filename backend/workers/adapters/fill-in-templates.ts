import type { FillIn } from '../model.ts';

/*
 * How models that were trained to fill gaps want to be shown one, for servers that take a bare prompt and know nothing of gaps.
 * The markers are those that the models' makers document in the papers and model cards named beside each.
 */

interface Family {
  /** Of the model's name, in lower case. */
  readonly name: RegExp;
  readonly prompt: (gap: FillIn) => string;
  /** What the model writes when the gap is filled and its server does not know. */
  readonly stop: readonly string[];
}

const FAMILIES: readonly Family[] = [
  {
    // Qwen2.5-Coder Technical Report (arXiv 2409.12186) §3.2; Qwen3-Coder's README has the same.
    name: /qwen\d*(?:\.\d+)?-?coder|codeqwen/,
    prompt: ({ before, after }) => `<|fim_prefix|>${before}<|fim_suffix|>${after}<|fim_middle|>`,
    stop: ['<|endoftext|>', '<|file_sep|>'],
  },
  {
    // CodeGemma's model card.
    name: /codegemma/,
    prompt: ({ before, after }) => `<|fim_prefix|>${before}<|fim_suffix|>${after}<|fim_middle|>`,
    stop: ['<|file_separator|>', '<eos>'],
  },
  {
    // StarCoder (arXiv 2305.06161), StarCoder2, Stable Code, Granite Code.
    name: /star-?coder|stable-?code|granite.*code/,
    prompt: ({ before, after }) => `<fim_prefix>${before}<fim_suffix>${after}<fim_middle>`,
    stop: ['<|endoftext|>', '<file_sep>'],
  },
  {
    // DeepSeek-Coder's README, versions 1 and 2.
    name: /deepseek-?coder/,
    prompt: ({ before, after }) => `<｜fim▁begin｜>${before}<｜fim▁hole｜>${after}<｜fim▁end｜>`,
    stop: ['<｜end▁of▁sentence｜>', '<|EOT|>'],
  },
  {
    // Code Llama (arXiv 2308.12950) §2.3; only the smaller ones were trained so.
    name: /codellama|code-llama/,
    prompt: ({ before, after }) => `<PRE> ${before} <SUF>${after} <MID>`,
    stop: ['<EOT>'],
  },
  {
    // Codestral, as mistral-common encodes a FIM request.
    name: /codestral/,
    prompt: ({ before, after }) => `[SUFFIX]${after}[PREFIX]${before}`,
    stop: ['</s>'],
  },
];

export interface FillInPrompt {
  readonly prompt: string;
  readonly stop: readonly string[];
}

/** Whether the model's name says that it was trained to fill gaps. */
export function fillsGaps(model: string): boolean {
  return familyOf(model) !== undefined;
}

/** The gap in the words of the model's family; undefined where its name names none. */
export function fillInPrompt(model: string, gap: FillIn): FillInPrompt | undefined {
  const family = familyOf(model);
  return family && { prompt: family.prompt(gap), stop: family.stop };
}

function familyOf(model: string): Family | undefined {
  const name = model.toLowerCase();
  return FAMILIES.find((family) => family.name.test(name));
}
