import { redactText } from '../../common/secrets/secrets.ts';
import type { SandboxOutcome } from '../sandbox/sandbox.ts';
import { notDownloaded, remedyFor } from './not-installed.ts';
import { withoutControls } from '../../common/without-controls.ts';

/** The end of what a command printed, without colours and secrets. Errors may stand on either stream, and warnings on the other. */
export function lastWords({ stdout, stderr, unreadable }: SandboxOutcome): string {
  // Secrets go before anything is cut: a part of a key does not look like one.
  const said = [stderr, stdout].map((text) => endOf(redactText(withoutControls(text)).trim())).filter((text) => text !== '');
  const [output] = said;
  const hidden = unreadable === undefined ? '' : ` The sandbox hides ${unreadable} from tests. If they need it, name its folder in CONDUCTOR_READABLE.`;
  return output === undefined ? '' : ` Output of the command: ${said.join('\n')}${notDownloaded(`${stderr}\n${stdout}`) || remedyFor(output)}${hidden}`;
}

const MAX_LAST_WORDS = 500;

/** A line of a stack in the words of Ruby, JavaScript and Java, and PHP. Python's stand before the error. */
const FRAME = /^\s*(?:(?:\d+: )?from \S.*:\d+:in |at \S|#\d+ |\.{3} \d+ more$)/;
const FRAMES_KEPT = 2;

/** The text with the first lines of each stack. */
function withShortStacks(text: string): string {
  const lines: string[] = [];
  let frames = 0;
  for (const line of text.split('\n')) {
    frames = FRAME.test(line) ? frames + 1 : 0;
    if (frames <= FRAMES_KEPT) lines.push(line);
    else if (frames === FRAMES_KEPT + 1) lines.push('…');
  }
  return lines.join('\n');
}

/** The end of a text, and the line before it that names the error of which the end may be the stack alone. */
function endOf(whole: string): string {
  const text = withShortStacks(whole);
  const end = text.slice(-MAX_LAST_WORDS);
  const error = text.slice(0, -MAX_LAST_WORDS).split('\n').find(namesError)?.trim().slice(0, MAX_LAST_WORDS);
  return error === undefined || end.includes(error) ? end : `${error}\n…\n${end}`;
}

/** Whether a line has the name of an error, and says something of it: `TypeError: x is not a function`. */
function namesError(line: string): boolean {
  const at = line.search(/Error\b/);
  return at >= 0 && line.includes(': ', at);
}
