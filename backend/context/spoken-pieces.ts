import type { ContextPiece, ContextRequest } from './context.ts';
import { displayPath, renderPiece } from './render-piece.ts';
import { redact } from '../common/secrets/secrets.ts';
import { tokensOf, unitsOf } from './tokens.ts';

/** Tool output as pieces, in addition to those from files. Their paths are in parentheses because they are not files. */
export interface SpokenPiece {
  readonly piece: ContextPiece;
  readonly text: string;
  readonly secrets: ReadonlyMap<number, string>;
}

export const TEST_OUTPUT = '(test output)';
export const PROBLEMS = '(problems)';

const MAX_MESSAGE_LENGTH = 500;

/** The output of failing tests. If it is too long, the middle is removed: the first failure and the summary are at the ends. */
export function testOutputPiece(output: string, maxUnits: number): SpokenPiece | undefined {
  const lines = output.split(/\r?\n/).map((line) => line.trimEnd());
  while (lines.length > 0 && lines.at(-1) === '') lines.pop();
  return spokenPiece({ path: TEST_OUTPUT, reason: 'what the failing test printed', lines, maxUnits });
}

/** The problems shown by the editor. */
export function problemsPiece(diagnostics: ContextRequest['diagnostics'], maxUnits: number): SpokenPiece | undefined {
  const lines = diagnostics.map(({ path, line, severity, message }) =>
    `${displayPath(path)}:${line}: ${severity}: ${message.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_LENGTH)}`);
  return spokenPiece({ path: PROBLEMS, reason: 'what the editor reports', lines, maxUnits });
}

function spokenPiece(
  { path, reason, lines, maxUnits }: { path: string; reason: string; lines: readonly string[]; maxUnits: number },
): SpokenPiece | undefined {
  if (lines.length === 0) return undefined;
  const { lines: safe, secrets } = redact(lines);
  const textOf = (count: number): string => renderPiece(`${path} (${reason})`, withoutMiddle(safe, count));
  let fits = 0;
  let tooMany = safe.length + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (unitsOf(textOf(middle)) <= maxUnits) fits = middle;
    else tooMany = middle;
  }
  if (fits === 0) return undefined;
  const text = textOf(fits);
  return { piece: { path, startLine: 1, endLine: safe.length, reason, tokens: tokensOf(text) }, text, secrets };
}

/** `count` of the lines, half from each end, and a line with the number of removed lines. */
function withoutMiddle(lines: readonly string[], count: number): string[] {
  const missing = lines.length - count;
  if (missing <= 0) return [...lines];
  const head = Math.ceil(count / 2);
  return [...lines.slice(0, head), `[… ${missing} lines left out …]`, ...lines.slice(lines.length - (count - head))];
}
