import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGrader } from '../../../backend/verify/graders/tasks/create-grader.ts';
import type { Task } from '../../../backend/verify/graders/tasks/grader-spec.ts';
import { linesOf } from '../../../backend/verify/graders/tasks/lines.ts';
import { readPickledString, unpackCases, UnpackError } from '../../../backend/verify/graders/tasks/packed-cases.ts';
import { readTasks, TaskFileError } from '../../../backend/verify/graders/tasks/task-file.ts';
import { makeScratch } from '../setup.ts';
import { gradeOf, mathComparer, programsIn, python, tryPrograms } from './setup.ts';

async function tasksOf(content: string, name = 'tasks.jsonl', seed?: number): Promise<Task[]> {
  await using scratch = await makeScratch();
  const file = path.join(scratch.folder, name);
  await writeFile(file, content);
  return await collected(readTasks(file, seed === undefined ? {} : { seed }));
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const lines = (...rows: readonly unknown[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** A pickle of one string as protocol 4 writes it. */
function pickled(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([Buffer.from([0x80, 4, 0x58]), length, bytes, Buffer.from([0x94, 0x2e])]);
}

const packed = (cases: unknown): string => deflateSync(pickled(JSON.stringify(cases))).toString('base64');

const LIVE_CODE_BENCH = {
  question_title: 'Sum',
  question_content: 'Add two numbers.',
  platform: 'atcoder',
  question_id: 'abc001_a',
  contest_id: 'abc001',
  contest_date: '2024-01-01T00:00:00',
  starter_code: '',
  difficulty: 'easy',
  public_test_cases: JSON.stringify([{ input: '1 2', output: '3', testtype: 'stdin' }]),
  private_test_cases: packed([{ input: '5 6', output: '11', testtype: 'stdin' }]),
  metadata: '{}',
};

const BIG_CODE_BENCH = {
  task_id: 'BigCodeBench/0',
  complete_prompt: 'import math\ndef task_func(x):\n',
  instruct_prompt: 'Write task_func, which squares a number.',
  canonical_solution: '    return x * x',
  code_prompt: 'import math\ndef task_func(x):\n',
  test: 'import unittest\nclass TestCases(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(task_func(2), 4)\n',
  entry_point: 'task_func',
  doc_struct: '{}',
  libs: "['math', 'json']",
};

describe('a task file', () => {
  it('names any grader', async () => {
    const rows = [
      {
        id: 'a',
        question: 'q',
        grader: { kind: 'cases', cases: [{ input: '1', output: '1' }], language: 'javascript', timeLimitMs: 2_000 },
      },
      { id: 'b', question: 'q', grader: { kind: 'unittest', test: 'class TestCases: pass', modules: ['json'] } },
      { id: 'c', question: 'q', grader: { kind: 'choice', choices: ['x', 'y'], answer: 'B' } },
      { id: 'd', question: 'q', grader: { kind: 'math', answer: '\\frac{1}{2}', tolerance: { relative: 0.001, absolute: 0 } } },
      { id: 'e', question: 'q', grader: { kind: 'exact', answer: ['x', 'y'], caseSensitive: true } },
    ];
    const tasks = await tasksOf(`\uFEFF${lines(...rows)}\r\n\n`);
    expect(tasks.map(({ id, form, line }) => [id, form, line])).toEqual(
      rows.map(({ id }, index) => [id, 'conductor', index + 1]),
    );
  });

  it('makes graders that judge', async () => {
    await using scratch = await makeScratch();
    const comparer = mathComparer();
    try {
      const tools = { programs: programsIn(scratch), comparer };
      const choice = createGrader({ kind: 'choice', choices: ['x', 'y'], answer: 'b' }, tools);
      expect((await gradeOf(choice, 'Answer: B')).outcome).toBe('verified');
      const half = createGrader({ kind: 'math', answer: '\\frac{1}{2}' }, tools);
      expect((await gradeOf(half, '\\boxed{2^{-1}}')).outcome).toBe('verified');
      const exact = createGrader({ kind: 'exact', answer: 'x' }, tools);
      expect((await gradeOf(exact, 'Answer: y')).outcome).toBe('failed');
      const unreadable = createGrader({ kind: 'cases', cases: [], packedCases: 'bm8=' }, tools);
      expect((await gradeOf(unreadable, python('print(1)'))).outcome).toBe('infrastructure');
    } finally {
      await comparer.close();
    }
  });

  it.each([
    ['no JSON', '{"id":"a"', 'line 2: this is not JSON'],
    ['no object', '5', 'line 2: every row must be an object'],
    ['a list', '[{"id":"a"}]', 'line 2: a list stands'],
    ['an unknown form', '{"prompt":"q","label":1}', 'line 2: it has no "grader", and its fields (prompt, label)'],
    ['an unknown grader', lines({ id: 'a', question: 'q', grader: { kind: 'shell', command: 'true' } }), 'line 2: grader.kind'],
    [
      'a misspelt option',
      lines({ id: 'a', question: 'q', grader: { kind: 'math', answer: '1', tolerence: 1 } }),
      'line 2: grader',
    ],
    ['no question', lines({ id: 'a', question: '', grader: { kind: 'math', answer: '1' } }), 'line 2: question'],
    [
      'code for a function name',
      lines({ id: 'a', question: 'q', grader: { kind: 'cases', cases: [], function: 'f;x' } }),
      'line 2: grader.function',
    ],
    ['no cases', lines({ id: 'a', question: 'q', grader: { kind: 'cases', cases: [] } }), 'line 2: it has no cases'],
    [
      'an answer beyond the choices',
      lines({ id: 'a', question: 'q', grader: { kind: 'choice', choices: ['x', 'y'], answer: 'C' } }),
      'line 2: answer names',
    ],
    [
      'a second task of one name',
      lines({ id: 'first', question: 'q', grader: { kind: 'math', answer: '1' } }),
      'already on line 1',
    ],
    ['a solution without a box', lines({ problem: 'p', solution: 'It is 5.' }), 'line 2: it has no answer'],
  ])('with %s is refused with its line', async (_what, second, message) => {
    const first = lines({ id: 'first', question: 'q', grader: { kind: 'math', answer: '1' } });
    const reading = tasksOf(`${first}\n${second}\n`);
    await expect(reading).rejects.toThrow(TaskFileError);
    await expect(tasksOf(`${first}\n${second}\n`)).rejects.toThrow(message);
  });

  it('in Parquet is refused with how to convert it', async () => {
    await expect(tasksOf('PAR1', 'data.parquet')).rejects.toThrow('to_json');
  });

  it('is read as a stream: a bad line comes after the tasks before it', async () => {
    await using scratch = await makeScratch();
    const file = path.join(scratch.folder, 'tasks.jsonl');
    await writeFile(file, `${lines({ id: 'a', question: 'q', grader: { kind: 'math', answer: '1' } })}\nbad\n`);
    const tasks = readTasks(file);
    expect((await tasks.next()).value).toMatchObject({ id: 'a' });
    await expect(tasks.next()).rejects.toThrow('line 2');
  });
});

describe('published data sets', () => {
  it('LiveCodeBench: public cases at once, packed ones when they are needed', async () => {
    const [task] = await tasksOf(lines(LIVE_CODE_BENCH));
    expect(task).toMatchObject({
      id: 'atcoder/abc001_a',
      form: 'LiveCodeBench',
      grader: { kind: 'cases', cases: [{ input: '1 2', output: '3' }], packedCases: LIVE_CODE_BENCH.private_test_cases },
    });
    expect(task?.question).toContain('standard input');
    expect(task?.question).not.toContain('11');
  });

  it('LiveCodeBench: functions by their metadata, private cases as JSON too', async () => {
    const functional = [{ input: '[1]\n2', output: '3', testtype: 'functional' }];
    const row = {
      ...LIVE_CODE_BENCH,
      starter_code: 'class Solution:\n    def add(self, a, b):\n        ',
      public_test_cases: JSON.stringify(functional),
      private_test_cases: JSON.stringify(functional),
      metadata: '{"func_name": "add"}',
    };
    const [task] = await tasksOf(lines(row));
    expect(task?.grader).toEqual({ kind: 'cases', function: 'add', visible: 1, cases: [1, 2].map(() => ({ input: '[1]\n2', output: '3' })) });
    expect(task?.question).toContain('class Solution');
    await expect(tasksOf(lines({ ...row, metadata: '{}' }))).rejects.toThrow('stdin');
  });

  it('BigCodeBench: tests, imports and modules', async () => {
    const [task] = await tasksOf(lines(BIG_CODE_BENCH));
    expect(task).toMatchObject({
      id: 'BigCodeBench/0',
      form: 'BigCodeBench',
      grader: { kind: 'unittest', modules: ['math', 'json'] },
    });
    expect(task?.question).not.toContain('assertEqual');
  });

  it('MATH and AIME: the answer, or else the last box of the solution', async () => {
    const tasks = await tasksOf(
      lines(
        { problem: 'Half of one?', solution: 'First \\boxed{3}, then \\boxed{\\frac{1}{2}}.', level: 'Level 1', type: 'Algebra' },
        { problem: 'p', solution: '\\boxed{1}', answer: '2', subject: 'Algebra', level: 1, unique_id: 'test/algebra/1.json' },
        { id: 60, problem: 'p', solution: 's', answer: '204', url: 'https://example.com', year: '2024' },
        { problem: 'p', answer: 70, id: '0' },
      ),
    );
    expect(tasks.map(({ grader }) => (grader.kind === 'math' ? grader.answer : ''))).toEqual(['\\frac{1}{2}', '2', '204', '70']);
    expect(tasks.map(({ id }) => id).slice(1)).toEqual(['test/algebra/1.json', 'math/60', 'math/0']);
  });

  it('MMLU: as lines and as a table', async () => {
    const row = { question: 'Capital of Italy?', subject: 'geography', choices: ['Paris', 'Rome', 'Bern', 'Oslo'], answer: 1 };
    const [asLine, twin] = await tasksOf(lines(row, row));
    expect(asLine?.grader).toEqual({ kind: 'choice', choices: row.choices, answer: 1 });
    expect(asLine?.question).toContain('B) Rome');
    expect(twin?.id).toBe(`${asLine?.id} (2)`);
    const table = ',Question,A,B,C,D,Answer,Subject\n0,"Capital of ""Italy"",\nnow?",Paris,Rome,Bern,Oslo,B,geography\n';
    const [inTable] = await tasksOf(table, 'mmlu.csv');
    expect(inTable).toMatchObject({ form: 'MMLU', grader: { kind: 'choice', answer: 1 } });
    expect(inTable?.question).toContain('Capital of "Italy",\nnow?');
  });

  it('GPQA: choices in an order that is the same each time, changes with the seed, and does not give the answer away', async () => {
    const header = 'Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3';
    const rows = Array.from({ length: 60 }, (_, index) => `rec${index},Question ${index}?,right,wrong one,wrong two,wrong three`);
    const content = `${header}\n${rows.join('\n')}\n`;
    const answers = (tasks: readonly Task[]): unknown[] =>
      tasks.map(({ grader }) => (grader.kind === 'choice' ? grader.answer : -1));
    const tasks = await tasksOf(content, 'gpqa_diamond.csv');
    for (const { grader } of tasks) expect(grader.kind === 'choice' && grader.choices[Number(grader.answer)]).toBe('right');
    expect(answers(await tasksOf(content, 'gpqa_diamond.csv'))).toEqual(answers(tasks));
    expect(answers(await tasksOf(content, 'gpqa_diamond.csv', 1))).not.toEqual(answers(tasks));
    expect(new Set(answers(tasks)).size).toBe(4);
    expect(tasks[0]?.id).toBe('gpqa/rec0');
  });

  it('RLPR: the last message of the user, how its result is to be marked, and a tolerance', async () => {
    // The columns of openbmb/RLPR-Train-Dataset; the texts are ours.
    const row = (question: string, truth: string, type: string) => ({
      data_source: 'WebInstruct-verified',
      prompt: [
        { role: 'system', content: 'Think first. The reasoning is within <think> </think>, the answer within <answer> </answer>.' },
        { role: 'user', content: question },
      ],
      ability: 'math',
      reward_model: { ground_truth: truth, style: 'rule' },
      extra_info: {
        answer_type: type, category: 'Physics', completion_tokens: 310, difficulty: 'University', id: 'd0', prompt_tokens: 90,
        reasoning_score: 3, reasoning_score_response: '3', total_tokens: 400,
      },
      __index_level_0__: 7,
    });
    const boxed = 'Which law is it? Put its name into \\boxed{}.';
    const tasks = await tasksOf(lines(row('How far?', '12.5', 'Float'), row(boxed, "Ohm's law", 'String')));
    expect(tasks).toMatchObject([
      { form: 'RLPR', grader: { kind: 'math', answer: '12.5', tolerance: { relative: 1e-3 } } },
      { form: 'RLPR', question: boxed, grader: { kind: 'math', answer: "Ohm's law" } },
    ]);
    expect(tasks[0]?.question).toMatch(/^How far\?\n\nReason step by step, .*\\boxed\{\}\.$/);
    // A worker that answers as it is asked to, or as the data set has it, states a result.
    const tools = { programs: { run: () => Promise.reject(new Error('no program')) }, comparer: { same: () => Promise.resolve(false) } };
    const [far] = tasks.map(({ grader }) => createGrader(grader, tools));
    if (!far) throw new Error('Two tasks were to be read.');
    for (const answer of ['It is far.\nIndeed \\boxed{12.5}.', '<think>Far.</think>\n<answer>12.5</answer>']) expect(await gradeOf(far, answer)).toMatchObject({ verified: true });
  });

  it('refuses a table that is none, with its line', async () => {
    await expect(tasksOf('Question,A\n"open', 'x.csv')).rejects.toThrow(TaskFileError);
    await expect(tasksOf('Question,A,B,C,D,Answer\nq,1,2,3,4,E\n', 'x.csv')).rejects.toThrow('line 2: Answer');
  });
});

const { available, note } = await tryPrograms('python');

describe.skipIf(!available)(`published data sets with programs (${note})`, { timeout: 60_000 }, () => {
  it('judge by public and packed cases, and by unit tests', async () => {
    await using scratch = await makeScratch();
    const tools = { programs: programsIn(scratch), comparer: mathComparer() };
    const [sum, square] = (await tasksOf(lines(LIVE_CODE_BENCH, BIG_CODE_BENCH))).map(({ grader }) =>
      createGrader(grader, tools),
    );
    if (!sum || !square) throw new Error('Two tasks were to be read.');
    expect(await gradeOf(sum, python('print(sum(map(int, input().split())))'))).toMatchObject({
      verified: true,
      tests: { length: 2 },
    });
    expect(await gradeOf(sum, python('print(3)'))).toMatchObject({ verified: false, score: 0.5 });
    expect((await gradeOf(square, python('def task_func(x):\n    return int(math.pow(x, 2))'))).outcome).toBe('verified');
    expect((await gradeOf(square, python('def task_func(x):\n    return 5'))).outcome).toBe('failed');
  });

  it.each([2, 3, 4, 5])('read the pickles that Python writes, protocol %i', async (protocol) => {
    const text = `[{"input": "ü 😀 ${'x'.repeat(70_000)}", "output": "3"}]`;
    const source = 'import pickle, sys; sys.stdout.buffer.write(pickle.dumps(sys.argv[1], protocol=int(sys.argv[2])))';
    const { stdout } = await promisify(execFile)('python3', ['-c', source, text, String(protocol)], { encoding: 'buffer' });
    expect(readPickledString(stdout)).toBe(text);
    const short = await promisify(execFile)('python3', ['-c', source, '[]', String(protocol)], { encoding: 'buffer' });
    expect(readPickledString(short.stdout)).toBe('[]');
  });
});

describe('packed cases', () => {
  it('hold what was packed', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ input: fc.string(), output: fc.string() })), (cases) => {
        expect(unpackCases(packed(cases))).toEqual(cases);
      }),
    );
  });

  it('that would run something are refused, and nothing is run', () => {
    const calling = Buffer.from("cos\nsystem\n(S'touch /tmp/owned'\ntR.", 'latin1');
    expect(() => unpackCases(deflateSync(calling).toString('base64'))).toThrow(UnpackError);
    const afterString = Buffer.concat([pickled('[]').subarray(0, -1), Buffer.from('cos\nsystem\n.')]);
    expect(() => readPickledString(afterString)).toThrow(UnpackError);
  });

  it.each([
    ['nothing', ''],
    ['no base64', '!!!'],
    ['no zlib', 'aGVsbG8='],
    ['other JSON', packed({ a: 1 })],
    ['a bomb', deflateSync(Buffer.alloc(300 * 1024 * 1024)).toString('base64')],
  ])('with %s are refused', (_what, text) => {
    expect(() => unpackCases(text)).toThrow(UnpackError);
  });

  it('of any bytes are refused or read, and never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          expect(typeof readPickledString(Buffer.from(bytes))).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(UnpackError);
        }
      }),
    );
  });
});

describe('lines of a stream', () => {
  async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
  }

  it('are the same however the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[a-zü😀 ]*$/u)), fc.integer({ min: 1, max: 7 }), async (texts, size) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        expect(await collected(linesOf(chunksOf(bytes, size), 1_000))).toEqual(texts);
      }),
    );
  });

  it('that are too long are refused', async () => {
    await expect(collected(linesOf(chunksOf(Buffer.from('x'.repeat(20)), 4), 10))).rejects.toThrow('longer');
  });
});
