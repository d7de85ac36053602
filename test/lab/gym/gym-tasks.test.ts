import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../backend/simulator/families/family.ts';
import { GYM_GENERATORS } from '../../../backend/lab/gym/generators/all-generators.ts';
import { Draw, isOf, SPLITS } from '../../../backend/lab/gym/generators/generator.ts';
import { generatorsOf, gymTasks, resultOf, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';

const tasks = SPLITS.flatMap((split) => gymTasks({ seed: 1, split, count: generatorsOf(split).length * 12 }));
const resultsOf = (task: GymTask, source: string): string[] =>
  task.cases.map(({ input }) => resultOf(source, task.functionName, input.split('\n').map((line): unknown => JSON.parse(line))));

describe('tasks of the gym', () => {
  it('come from several generators of each of six kinds, for training and held out', () => {
    for (const kind of KINDS) {
      for (const split of SPLITS) expect(generatorsOf(split).filter((generator) =>
        generator.kind === kind).length).toBeGreaterThan(1);
    }
    expect(gymTasks({ seed: 3, split: 'train', count: 600 })).toHaveLength(600);
    expect(gymTasks({ seed: 3, split: 'held-out', count: 240 })).toHaveLength(240);
  });

  it('are the same for the same seed and others for another', () => {
    const drawn = (seed: number): GymTask[] => gymTasks({ seed, split: 'train', count: 40 });
    expect(drawn(5)).toEqual(drawn(5));
    expect(drawn(5).map(({ id }) => id)).not.toEqual(drawn(6).map(({ id }) => id));
  });

  it('are told apart by their questions and by their ids', () => {
    expect(new Set(tasks.map(({ question }) => question)).size).toBe(tasks.length);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  });

  it('never name their kind in the question', () => {
    const names = /\b(?:strings?|numbers?|number theory|pars(?:e|es|er|ing)|intervals?|geometry|data|machines?)\b/i;
    expect(tasks.filter(({ question }) => names.test(question)).map(({ question }) => question)).toEqual([]);
  });

  it('are asked in several phrasings', () => {
    for (const { name } of GYM_GENERATORS) {
      const own = tasks.filter(({ generator }) => generator === name);
      const plain = own.map(({ question, functionName }) => question.replaceAll(functionName, 'f').replace(/\d+/g, '#'));
      expect(new Set(plain).size, name).toBeGreaterThan(3);
    }
  });

  it('share no generator, no opening and no parameter between training and held out', () => {
    const of = (split: (typeof SPLITS)[number]): GymTask[] => tasks.filter((task) => task.split === split);
    const openings = (split: (typeof SPLITS)[number]): Set<string> =>
      new Set(of(split).map(({ question, functionName }) => question.slice(0,
        question.indexOf(functionName)) || question.split(')')[1]?.slice(0, 20) || ''));
    const trained = new Set(of('train').map(({ generator }) => generator));
    expect(of('held-out').filter(({ generator }) => trained.has(generator))).toEqual([]);
    expect([...openings('train')].filter((opening) => openings('held-out').has(opening))).toEqual([]);
    for (const split of SPLITS) {
      const drawn = Array.from({ length: 200 }, (_, seed) => new Draw(new KeyedRandom(seed), split).whole('parameter', 2, 11));
      expect(drawn.filter((value) => !isOf(split, value))).toEqual([]);
    }
  });

  it('are solved by their own solution', () => {
    for (const task of tasks) expect(resultsOf(task, task.source), task.id).toEqual(task.cases.map(({ output }) => output));
  });

  it('know at least four wrong solutions, each of which fails a case', () => {
    for (const task of tasks) {
      expect(task.wrong.length).toBeGreaterThanOrEqual(4);
      expect(new Set([task.approach, ...task.wrong.map(({ idea }) => idea)]).size).toBe(task.wrong.length + 1);
      expect(new Set([task.source, ...task.wrong.map(({ source }) => source)]).size).toBe(task.wrong.length + 1);
      for (const { source, idea } of task.wrong) {
        expect(resultsOf(task, source), `${task.generator}: ${idea}`).not.toEqual(task.cases.map(({ output }) => output));
      }
    }
  });

  it('refuse to draw more different tasks than there are', () => {
    expect(() => gymTasks({ seed: 1, split: 'held-out', count: 100_000 })).toThrow(/ask for fewer/);
  });
});

/** Worked out by hand from the question's words, with the parameters that are drawn replaced by those of the first draw. */
describe('solutions of the gym', () => {
  const known: Readonly<Record<string, (source: (...given: unknown[]) => unknown, task: GymTask) => void>> = {
    'mirror-text': (f) => expect([f('A man, a plan, a canal: Panama!'), f('Not a mirror at all')]).toEqual([true, false]),
    'longest-run': (f) => expect([f('abbc'), f('')]).toEqual([['b', 2], ['', 0]]),
    'sum-multiples': (f) => expect(f(1)).toBe(0),
    'count-primes': (f,
      { question }) => expect(f(2)).toBe(primesUpTo(2 + Number([...question.matchAll(/low \+ (\d+)/g)].at(-1)?.[1]))),
    'evaluate-terms': (f) => expect([f('2 + 3 - 4'), f('10 - (4 - 1) - 2'), f('7')]).toEqual([1, 5, 7]),
    'read-settings': (f) => expect(f('a="b=c"')).toEqual({ a: 'b=c' }),
    'join-spans': (f) => expect(f([[1_000, 2_000], [0, 5], [3, 900]])).toEqual([[0, 900], [1_000, 2_000]]),
    'busiest-moment': (f) => expect([f([[1, 9], [2, 4], [500, 600]]), f([])]).toEqual([2, 0]),
    'group-totals': (f) => expect(f([{ name: 'b', amount: 50 }, { name: 'a', amount: 50 },
      { name: 'b', amount: 1 }])).toEqual([['b', 51], ['a', 50]]),
    'join-records': (f) => expect(f([{ item: 'a', count: 3 }],
      [{ item: 'a', price: 4 }, { item: 'a', price: 5 }])).toEqual([{ item: 'a', cost: 15 }]),
    'stack-program': (f) => expect([f([9, 4, 'sub']), f([3, 'dup', 'add']), f(['add'])]).toEqual([5, 6, null]),
    'grid-robot': (f) => expect([f('FRF'), f('LF')]).toEqual([[1, 1, 2], [0, 0, 0]]),
    'register-program': (f) => expect(f([['set', 'a', 2], ['inc', 'b'], ['dec', 'a'], ['jnz', 'a', -2]])).toEqual([0, 2]),
    'lowest-terms': (f) => {
      const [top, bottom] = f(-5, -7) as [number, number];
      expect([Math.sign(top), bottom]).toEqual([1, 7]);
    },
    'divisor-list': (f) => expect(f(1)).toEqual([1]),
    'unpack-text': (f) => expect([...['(', '[', '<']].map((open, at) => f(`a2${open}b${')]>'[at]}c`))).toContain('abbc'),
    'read-duration': (f) => expect([f('1h 20s'), f('-2m'), f('20s1h'), f('')]).toEqual([3_620, -120, null, null]),
    'free-gaps': (f, { question }) => expect(f([])).toEqual([[0, Number(/between 0 and (\d+)/.exec(question)?.[1])]]),
    'covered-length': (f) => expect(f([[9, 3], [4, 12]])).toBe(9),
    'pivot-rows': (f) => expect(f([{ row: 'b', column: 'x', value: 1 }, { row: 'b', column: 'x', value: 2 }])).toEqual([[3]]),
    'best-per-group': (f) => expect(f([{ team: 'b', player: 'p', score: 1 },
      { team: 'a', player: 'q', score: 2 }])).toEqual([['a', ['q']], ['b', ['p']]]),
    'tape-device': (f) => expect((f('+>++') as number[]).slice(0, 3)).toEqual([1, 2, 0]),
    'turn-scheduler': (f) => expect([f([1, 2]), f([0])]).toEqual([[1, 3], [0]]),
  };

  it.each(Object.entries(known))('%s does what its question asks for', (name, holds) => {
    for (const task of tasks.filter(({ generator }) => generator === name)) {
      holds((...given) => JSON.parse(resultOf(task.source, task.functionName, given)) as unknown, task);
    }
  });
});

function primesUpTo(limit: number): number {
  const isPrime = (value: number): boolean => Array.from({ length: value - 2 },
    (_, index) => index + 2).every((divisor) => value % divisor !== 0);
  return Array.from({ length: limit - 1 }, (_, index) => index + 2).filter(isPrime).length;
}
