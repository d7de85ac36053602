import { changed, type Sample, type Target } from './samples.ts';

/** What goes wrong with an answer or a file in practice. A new one is a row. */
export interface Mishap {
  readonly name: string;
  /** The file as it is on disk. */
  readonly file?: (text: string) => string;
  readonly answer?: (answer: string, sample: Sample, target: Target) => string | undefined;
  /** The file that must come of it; the change alone by default. */
  readonly expected?: (text: string) => string;
  /**
   * What must come of it: the right file, or nothing (given back, with a reason). `either`: the form decides whether there is one reading, and only a
   * wrong file is wrong.
   */
  readonly outcome: 'applied' | 'refused' | 'either';
}

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');

export const MISHAPS: readonly Mishap[] = [
  { name: 'nothing', outcome: 'applied' },
  { name: 'CRLF in the file', file: crlf, expected: crlf, outcome: 'applied' },
  { name: 'CRLF in the answer', answer: crlf, outcome: 'applied' },
  { name: 'byte order mark in the file', file: (text) => `\uFEFF${text}`, expected: (text) => `\uFEFF${text}`, outcome: 'applied' },
  { name: 'no line end at the end of the file', file: (text) => text.replace(/\n$/, ''), expected: (text) => text.replace(/\n$/, ''), outcome: 'applied' },
  { name: 'a/ before the path', answer: (answer, { path }) => (answer.includes(`a/${path}`) ? undefined : answer.replaceAll(path, `a/${path}`)), outcome: 'applied' },
  { name: './ before the path', answer: (answer, { path }) => (answer.includes(`a/${path}`) ? undefined : answer.replaceAll(path, `./${path}`)), outcome: 'applied' },
  { name: 'absolute path', answer: (answer, { path }) => answer.replaceAll(path, `/workspace/${path}`).replaceAll(`a//workspace`, 'a/workspace').replaceAll('b//workspace', 'b/workspace'), outcome: 'either' },
  { name: 'backslashes in the path', answer: (answer, { path }) => (/^\s*[{[]|"\w*path"/m.test(answer) ? undefined : answer.replaceAll(path, path.replaceAll('/', '\\'))), outcome: 'applied' },
  { name: 'thinking before it', answer: (answer, { language }) => `<think>\nMaybe like this:\n\`\`\`${language}\nfoo(\n\`\`\`\nNo, better so.\n</think>\n\n${answer}`, outcome: 'applied' },
  { name: 'in a list', answer: (answer) => `1. First:\n\n${answer.split('\n').map((line) => (line === '' ? line : `   ${line}`)).join('\n')}`, outcome: 'applied' },
  { name: 'an explanation before and after', answer: (answer) => `The loop ignores the count.\n\n- It should not.\n\n${answer}\n\nRun the tests with:\n\n\`\`\`bash\nnpm test\n\`\`\`\n`, outcome: 'applied' },
  { name: 'a usage example after it', answer: (answer, { language }) => `${answer}\n\nUsage:\n\n\`\`\`${language}\nfoo(1)\n\`\`\`\n`, outcome: 'applied' },
  { name: 'HTML entities', answer: (answer) => answer.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'), outcome: 'applied' },
  { name: 'spaces for tabs, tabs for spaces', answer: otherIndentation, outcome: 'either' },
  { name: 'lost indentation', answer: (answer) => answer.split('\n').map((line) => line.replace(/^([ +-]?)[ \t]+/, '$1')).join('\n'), outcome: 'either' },
  { name: 'numbered lines', answer: numbered, outcome: 'either' },
  { name: 'cut off in the middle', answer: (answer) => answer.slice(0, Math.floor(answer.length * 0.6)), outcome: 'refused' },
  { name: 'cut off near the end', answer: (answer) => answer.trimEnd().slice(0, -6), outcome: 'either' },
];

/** Tabs where the file has spaces and the other way round, in lines of code. */
function otherIndentation(answer: string, { file }: Sample): string {
  const hasTabs = file.includes('\n\t');
  return answer.split('\n').map((line) => {
    const [, sign = '', indent = '', rest = ''] = /^([+-]|)([ \t]*)(.*)$/.exec(line) ?? [];
    const own = sign === '' && indent.startsWith(' ') && /^[ +-]/.test(line) && !hasTabs && indent.length % 2 === 1 ? ' ' : '';
    const bare = indent.slice(own.length);
    return `${sign}${own}${hasTabs ? bare.replaceAll('\t', '    ') : bare.replaceAll(/ {4}| {2}/g, '\t')}${rest}`;
  }).join('\n');
}

/** The lines of code with their numbers, as an editor shows them. */
function numbered(answer: string, sample: Sample, target: Target): string | undefined {
  const lines = new Map(changed(sample, target).split('\n').map((line, index): [string, number] => [line, index + 1]));
  let count = 0;
  const result = answer.split('\n').map((line) => {
    const number = lines.get(line) ?? lines.get(target.indent + line);
    if (number === undefined || line === '') return line;
    count += 1;
    return `${String(number).padStart(4)} | ${line}`;
  });
  return count > 3 ? result.join('\n') : undefined;
}
