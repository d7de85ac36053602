import type { Family, Variant } from './families/family.ts';
import type { KeyedRandom } from '../common/keyed-random.ts';

/** A bug suspected by a reviewer. Without a variant, only failed tests are known. */
export interface Finding {
  readonly fault: Variant | undefined;
}

/** The first line of every simulated answer. A worker recognises its own answers by it. */
export function signature(name: string): string {
  return `> Simulated by ${name}: these words were put together by rules, not by a language model.`;
}

export function unknownText(): string {
  return (
    'This is a simulated model. It only knows the modules of the sample project that the demo writes, and it was shown none of ' +
    'them. Add a worker with a real model to ask about other code.'
  );
}

export function planText(random: KeyedRandom, { path, testPath, exports }: Family, blamed: Variant | undefined): string {
  const cause = blamed?.diagnosis ?? 'nothing in it looks wrong';
  return [
    random.pick('plan:opening', [
      `I read \`${path}\` with the report in mind.`,
      `I followed the reported case through \`${path}\` by hand.`,
      `The place to look is \`${path}\`.`,
    ]),
    '',
    `1. Cause: ${cause}.`,
    `2. ${random.pick('plan:change', [
      'Change that place only.',
      'Correct just this and leave the rest of the file as it is.',
      'A change of a line or two is enough.',
    ])} Keep ${listOf(exports)} as ${exports.length === 1 ? 'it is' : 'they are'} called by others.`,
    `3. Then all of \`${testPath}\` should pass; add nothing to the tests.`,
  ].join('\n');
}

export function writeText(random: KeyedRandom, family: Family, cause: Variant | undefined, source: string): string {
  const opening = random.pick('write:opening', ['The cause:', 'What went wrong:', 'In short:']);
  return [cause ? `${opening} ${cause.diagnosis}.` : 'I wrote the module anew.', '', fileBlock(family, source)].join('\n');
}

/** A review always returns the whole file, since the last step's output is the answer. */
export function checkText(
  random: KeyedRandom,
  family: Family,
  findings: readonly Finding[],
  attempts: number,
  source: string,
): string {
  const faults = findings.map(
    ({ fault }) => `- ${fault ? `A fault: ${fault.diagnosis}.` : 'One version does not do what the tests ask for.'}`,
  );
  const isKept = findings.length < attempts;
  const conclusion = isKept
    ? random.pick('check:kept', [
        'I went through it case by case, the edge cases too, and found nothing wrong. The file to use:',
        'It does what the question asks for and keeps what worked. The file to use:',
        'I see no fault in it. The file as it should be:',
      ])
    : random.pick('check:repaired', ['The corrected file:', 'I repaired it. The whole file:', 'With that put right:']);
  const opening = attempts > 1 ? `I compared ${attempts} versions of \`${family.path}\`.` : `I reviewed \`${family.path}\`.`;
  return [opening, ...new Set(faults), '', conclusion, '', fileBlock(family, source)].join('\n');
}

function fileBlock({ path }: Family, source: string): string {
  return `\`\`\`js ${path}\n${source.endsWith('\n') ? source : `${source}\n`}\`\`\``;
}

function listOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}
