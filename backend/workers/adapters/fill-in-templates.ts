import type { FillIn } from '../model.ts';

/*
 * Prompt formats of models that were trained to fill gaps, for servers that accept only a plain prompt. The markers come from the papers
 * and model cards named next to each.
 */

interface Family {
  /** Matches the model's name in lower case. */
  readonly name: RegExp;
  readonly prompt: (gap: FillIn) => string;
  /** The tokens that the model writes after the gap, in case the server does not stop at them. */
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
    // Code Llama (arXiv 2308.12950) §2.3; only the smaller models were trained to fill gaps.
    name: /codellama|code-llama/,
    prompt: ({ before, after }) => `<PRE> ${before} <SUF>${after} <MID>`,
    stop: ['<EOT>'],
  },
  {
    // Codestral, in mistral-common's encoding of FIM requests.
    name: /codestral/,
    prompt: ({ before, after }) => `[SUFFIX]${after}[PREFIX]${before}`,
    stop: ['</s>'],
  },
];

export interface FillInPrompt {
  readonly prompt: string;
  readonly stop: readonly string[];
}

/** Whether the model was trained to fill gaps, according to its name. */
export function fillsGaps(model: string): boolean {
  return familyOf(model) !== undefined;
}

/** The prompt for the gap in the format of the model's family; undefined if the family is unknown. */
export function fillInPrompt(model: string, gap: FillIn): FillInPrompt | undefined {
  const family = familyOf(model);
  return family && { prompt: family.prompt(gap), stop: family.stop };
}

function familyOf(model: string): Family | undefined {
  const name = model.toLowerCase();
  return FAMILIES.find((family) => family.name.test(name));
}
