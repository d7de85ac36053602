import { describe, expect, it } from 'vitest';
import { BUGS, FAMILIES } from '../../backend/simulator/families/all-families.ts';
import { sourceWith } from '../../backend/simulator/families/family.ts';
import { moduleFileIn, recogniseModule } from '../../backend/simulator/recognise.ts';
import { readView, type View } from '../../backend/simulator/view.ts';
import { contextOf } from './play.ts';

const NOTHING: View = { question: '', context: '', steps: [], previousSteps: [], feedback: '', subtask: '' };

describe('recognising a module', () => {
  it('finds every bug by the code in view and the question', () => {
    for (const bug of BUGS) {
      for (const question of bug.variant.symptoms) {
        const module = recogniseModule({ ...NOTHING, question, context: contextOf(bug) });
        expect(module?.family.name, question).toBe(bug.family.name);
        expect(
          module?.faults?.map(({ id }) => id),
          question,
        ).toEqual([bug.variant.id]);
        expect(module?.sight).toBe(1);
      }
    }
  });

  it('does not mind line numbers', () => {
    for (const bug of BUGS) {
      const numbered = contextOf(bug)
        .split('\n')
        .map((line, index) => `${String(index + 1).padStart(4)} | ${line}`)
        .join('\n');
      const module = recogniseModule({ ...NOTHING, question: bug.variant.symptoms[0] ?? '', context: numbered });
      expect(module?.faults, bug.variant.id).toEqual([bug.variant]);
    }
  });

  it('takes the module with a bug where the question names none', () => {
    for (const bug of BUGS) {
      const module = recogniseModule({ ...NOTHING, question: 'Our tests fail. Please mend it.', context: contextOf(bug) });
      expect(module?.family.name).toBe(bug.family.name);
    }
  });

  it('sees correct code as correct', () => {
    for (const family of FAMILIES) {
      const module = recogniseModule({ ...NOTHING, question: `What does ${family.exports[0]} do?`, context: family.source });
      expect(module?.faults, family.name).toEqual([]);
    }
  });

  it('sees less where only part of a module is in view', () => {
    const [bug] = BUGS;
    if (!bug) throw new Error('there are no bugs');
    const part = (sourceWith(bug.family, [bug.variant]) ?? '').split('\n').slice(0, 8).join('\n');
    const module = recogniseModule({ ...NOTHING, question: bug.variant.symptoms[0] ?? '', context: part });
    expect(module?.family.name).toBe(bug.family.name);
    expect(module?.faults).toBeUndefined();
    expect(module?.sight).toBeGreaterThan(0);
    expect(module?.sight).toBeLessThan(0.6);
  });

  it('recognises nothing in other code', () => {
    const question = 'Please evaluate whether this fraction of our users is affected.';
    expect(recogniseModule({ ...NOTHING, question, context: 'export function main() {\n  return 0;\n}\n' })).toBeUndefined();
  });
});

describe('reading a file in an answer', () => {
  it('tells correct code from faulty code', () => {
    for (const { family, variant } of BUGS) {
      const answer = (source = ''): string => `Here it is.\n\n\`\`\`js ${family.path}\n${source}\`\`\`\n\nDone.`;
      expect(moduleFileIn(family, answer(family.source))?.faults).toEqual([]);
      expect(moduleFileIn(family, answer(sourceWith(family, [variant])))?.faults).toEqual([variant]);
      expect(moduleFileIn(family, answer('export {};\n'))?.faults).toBeUndefined();
      expect(moduleFileIn(family, 'No code here.')).toBeUndefined();
    }
  });
});

describe('the view', () => {
  it('reads the sections wherever they stand, and the last subtask', () => {
    const view = readView([
      {
        role: 'user',
        content:
          'Preamble. <question>\nWhy?\n</question>\n<context>\ncode </step>\n</context>\n' +
          '<previous_round>\n<step number="0" worker="2"><subtask>old</subtask><output>first try</output></step>\n' +
          '</previous_round>\n' +
          '<feedback>\nfailed\n</feedback>\n' +
          '<step number="0" worker="4">\n<subtask>\nYour subtask: a trap\n</subtask>\n' +
          '<output-1>\nhas </output> in it\n</output-1>\n</step>\n' +
          'Your subtask: Check it.',
      },
    ]);
    expect(view).toEqual({
      question: 'Why?',
      context: 'code </step>',
      previousSteps: [{ worker: '2', subtask: 'old', output: 'first try' }],
      feedback: 'failed',
      steps: [{ worker: '4', subtask: 'Your subtask: a trap', output: 'has </output> in it' }],
      subtask: 'Check it.',
    });
  });

  it('takes a plain message as the question', () => {
    expect(
      readView([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello?' },
      ]),
    ).toEqual({ ...NOTHING, question: 'Hello?' });
  });
});
