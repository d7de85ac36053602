import { splitFences } from '../patch/fences.ts';

export type CodeLanguage = 'python' | 'javascript';

const NAMES: Readonly<Record<CodeLanguage, readonly string[]>> = {
  python: ['', 'python', 'python3', 'py', 'py3'],
  javascript: ['', 'javascript', 'js', 'mjs', 'cjs', 'node', 'nodejs'],
};

/** Longer answers are not searched. */
const MAX_ANSWER_CHARACTERS = 1_000_000;

/**
 * Returns the program in an answer: its last fenced block, as in LiveCodeBench (`lcb_runner/utils/extraction_utils.py`), but skips blocks
 * marked as another language, such as sample output. Undefined if there is none. An unclosed block does not count, because the answer was
 * cut off.
 */
export function answerCode(answer: string, language: CodeLanguage): string | undefined {
  if (answer.length > MAX_ANSWER_CHARACTERS) return undefined;
  const block = splitFences(answer.replaceAll('\r\n', '\n')).findLast(
    (part) => part.kind === 'fence' && NAMES[language].includes(part.language.toLowerCase()),
  );
  if (block?.kind !== 'fence' || block.unclosed) return undefined;
  return `${block.lines.join('\n')}\n`;
}
