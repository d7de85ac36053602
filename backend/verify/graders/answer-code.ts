import { splitFences } from '../patch/fences.ts';

export type CodeLanguage = 'python' | 'javascript';

const NAMES: Readonly<Record<CodeLanguage, readonly string[]>> = {
  python: ['', 'python', 'python3', 'py', 'py3'],
  javascript: ['', 'javascript', 'js', 'mjs', 'cjs', 'node', 'nodejs'],
};

/** Longer answers are not searched. */
const MAX_ANSWER_CHARACTERS = 1_000_000;

/**
 * The program in an answer: its last fenced block, as LiveCodeBench takes it (`lcb_runner/utils/extraction_utils.py`), but blocks
 * that are marked as another language, such as a sample of the output, are passed over. Undefined where there is none; a block
 * that is not closed is none, because the answer was cut off.
 */
export function answerCode(answer: string, language: CodeLanguage): string | undefined {
  if (answer.length > MAX_ANSWER_CHARACTERS) return undefined;
  const block = splitFences(answer.replaceAll('\r\n', '\n')).findLast(
    (part) => part.kind === 'fence' && NAMES[language].includes(part.language.toLowerCase()),
  );
  if (block?.kind !== 'fence' || block.unclosed) return undefined;
  return `${block.lines.join('\n')}\n`;
}
