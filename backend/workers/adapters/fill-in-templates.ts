import type { FillIn, GapPiece, GapProject } from '../model.ts';
import { inComments, underPaths, underPluses, type TextBefore } from './fill-in-files.ts';

/*
 * Prompt formats of models that were trained to fill gaps, for servers that accept only a plain prompt. The markers come from the papers
 * and model cards named next to each.
 */

interface Family {
  /** Matches the model's name in lower case. */
  readonly name: RegExp;
  readonly prompt: (gap: Sides) => string;
  /** The tokens that the model writes after the gap, in case the server does not stop at them. */
  readonly stop: readonly string[];
  /** Where the model has markers for other files: what goes before the prompt, and at the beginning of the gap's own file. */
  readonly files?: (project: GapProject) => { readonly above: string; readonly first?: string };
  /** How other files stand in the text before the gap without such markers; as comments if absent. */
  readonly before?: TextBefore;
}

type Sides = Pick<FillIn, 'before' | 'after'>;

const FAMILIES: readonly Family[] = [
  {
    // CodeQwen1.5's README: other markers than those of its successors.
    name: /codeqwen/,
    prompt: ({ before, after }) => `<fim_prefix>${before}<fim_suffix>${after}<fim_middle>`,
    stop: ['<|endoftext|>', '<file_sep>'],
    files: ({ name, path, pieces }) => ({
      above: `<reponame>${name}\n${listed(pieces, (file, text) => `<file_sep>${file}\n${text}\n`)}<file_sep>${path}\n`,
    }),
  },
  {
    // Qwen2.5-Coder Technical Report (arXiv 2409.12186) §3.2; Qwen3-Coder's README has the same. Other files: the README's example
    // of filling a gap at the level of a repository.
    name: /qwen\d*(?:\.\d+)?-?coder/,
    prompt: ({ before, after }) => `<|fim_prefix|>${before}<|fim_suffix|>${after}<|fim_middle|>`,
    stop: ['<|endoftext|>', '<|file_sep|>'],
    files: ({ name, path, pieces }) => ({
      above: `<|repo_name|>${name}\n${listed(pieces, (file, text) => `<|file_sep|>${file}\n${text}\n`)}<|file_sep|>${path}\n`,
    }),
  },
  {
    // CodeGemma's model card. Other files: its report (arXiv 2406.11409), the figure of the order in training.
    name: /codegemma/,
    prompt: ({ before, after }) => `<|fim_prefix|>${before}<|fim_suffix|>${after}<|fim_middle|>`,
    stop: ['<|file_separator|>', '<eos>'],
    files: ({ path, pieces }) => ({ above: `${listed(pieces, (file, text) => `${file}\n${text}<|file_separator|>`)}${path}\n` }),
  },
  {
    // StarCoder 2 and The Stack v2 (arXiv 2402.19173) §5.1: the path stands inside the first marker.
    name: /star-?coder-?2/,
    prompt: ({ before, after }) => `<fim_prefix>${before}<fim_suffix>${after}<fim_middle>`,
    stop: ['<|endoftext|>', '<file_sep>'],
    files: ({ name, path, pieces }) => ({
      above: `<repo_name>${name}${listed(pieces, (file, text) => `<file_sep>${file}\n${text}\n`)}<file_sep>`, first: `${path}\n`,
    }),
  },
  {
    // StarCoder (arXiv 2305.06161), Stable Code, Granite Code: one file in a context.
    name: /star-?coder|stable-?code|granite.*code/,
    prompt: ({ before, after }) => `<fim_prefix>${before}<fim_suffix>${after}<fim_middle>`,
    stop: ['<|endoftext|>', '<file_sep>'],
  },
  {
    // DeepSeek-Coder's README, versions 1 and 2.
    name: /deepseek-?coder/,
    prompt: ({ before, after }) => `<｜fim▁begin｜>${before}<｜fim▁hole｜>${after}<｜fim▁end｜>`,
    stop: ['<｜end▁of▁sentence｜>', '<|EOT|>'],
    before: underPaths,
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
    before: underPluses,
  },
];

const listed = (pieces: readonly GapPiece[], one: (path: string, text: string) => string): string =>
  pieces.map(({ path, text }) => one(path, text.trimEnd())).join('');

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
  if (!family) return undefined;
  const { prompt, stop, files } = family;
  const known = withoutMarkers(gap);
  if (!known.project || !files) return { prompt: prompt({ before: textBefore(model, gap), after: gap.after }), stop };
  const { above, first = '' } = files(known.project);
  return { prompt: above + prompt({ before: first + gap.before, after: gap.after }), stop };
}

/** The text before the gap with the parts of other files in it, for servers that put the markers around it themselves. */
export function textBefore(model: string, gap: FillIn): string {
  return (familyOf(model)?.before ?? inComments)(withoutMarkers(gap));
}

/** Markers of any family. Text that holds one, such as this file, would end the gap or the file in the middle of another. */
const MARKER = /<\|?(?:fim_|file_sep|repo_?name|endoftext)|<｜(?:fim▁|end▁)|\[(?:PREFIX|SUFFIX|MIDDLE)\]|<\/?s>|<(?:PRE|SUF|MID|EOT|eos)>|^\+{5} /m;

/** The gap without the pieces that hold a marker; without a project where none is left. */
export function withoutMarkers({ project, ...gap }: FillIn): FillIn {
  const pieces = project?.pieces.filter(({ path, text }) => !MARKER.test(path) && !MARKER.test(text)) ?? [];
  return pieces.length > 0 && project && !MARKER.test(project.path) ? { ...gap, project: { ...project, pieces } } : gap;
}

function familyOf(model: string): Family | undefined {
  const name = model.toLowerCase();
  return FAMILIES.find((family) => family.name.test(name));
}
