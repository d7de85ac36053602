import { createHash } from 'node:crypto';
import * as z from 'zod';
import { lastBoxed } from '../final-answer.ts';
import { letterOf } from '../multiple-choice.ts';
import type { Task } from './grader-spec.ts';
import { unpackCases, UnpackError, type PublishedCase } from './packed-cases.ts';

/** A row has the fields of a form, but with invalid contents. The message says which. */
export class RowError extends Error {
  override readonly name = 'RowError';
}

export type TaskBody = Pick<Task, 'id' | 'question' | 'grader' | 'reference' | 'date'>;

/** The form in which a data set is published. */
export interface PublishedForm {
  readonly name: string;
  /** A row with all of these fields is of this form. */
  readonly fields: readonly string[];
  /** If several data sets have these fields: the form of this row. */
  formOf?(row: unknown): Pick<PublishedForm, 'name'>;
  /** Throws a ZodError, a `RowError` or an `ElsewhereError`. */
  toTask(row: unknown, options: Required<FormOptions>): TaskBody;
}

/** What is left open by published forms. */
export interface FormOptions {
  /** Changes the order of choices if the form does not fix it. For repeated runs. */
  readonly seed?: number;
  /** BigCodeBench's rows have two questions: one in words (`instruct`), and the start of a program (`complete`). */
  readonly bigCodeBench?: 'instruct' | 'complete';
}

export const FORM_DEFAULTS: Required<FormOptions> = { seed: 0, bigCodeBench: 'instruct' };

/** A row is of a data set that is known, and whose tasks need more than a grader: each has a project in a container image. */
export class ElsewhereError extends Error {
  override readonly name = 'ElsewhereError';
  readonly form: string;

  constructor(form: string) {
    super(`Tasks of ${form} are judged in images of their own. They are for "conductor eval", in a file without rows of other data sets.`);
    this.form = form;
  }
}

const FINAL_RESULT = 'Reason step by step, and put the final result into \\boxed{}.';

const text = z.string().min(1);
const identifier = z.union([z.string().min(1), z.number()]).transform(String);

function choiceQuestion(question: string, choices: readonly string[]): string {
  const options = choices.map((choice, position) => `${letterOf(position)}) ${choice}`).join('\n');
  const letters = choices.map((_, position) => letterOf(position)).join(', ');
  return `${question}\n\n${options}\n\nReason step by step. End with a line "Answer: X", where X is one of ${letters}.`;
}

/** An id for rows without one. */
const idOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

const liveCodeBenchSchema = z.object({
  question_id: identifier,
  question_title: z.string().default(''),
  question_content: text,
  platform: z.string().default(''),
  contest_date: z.string().regex(/^\d{4}-\d\d-\d\d/, 'is no date').nullish(),
  starter_code: z.string().nullish(),
  public_test_cases: text,
  private_test_cases: text,
  metadata: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
});

const metadataSchema = z.object({ func_name: z.string().nullish() });

/** LiveCodeBench, code generation, all releases (`livecodebench/code_generation` and its lite form). */
const liveCodeBench: PublishedForm = {
  name: 'LiveCodeBench',
  fields: ['question_content', 'public_test_cases', 'private_test_cases'],
  toTask(row) {
    const found = liveCodeBenchSchema.parse(row);
    const functionName = metadataSchema.parse(
      typeof found.metadata === 'string' ? parseJson(found.metadata || '{}', 'metadata') : (found.metadata ?? {}),
    ).func_name;
    const publicCases = readCases(found.public_test_cases, 'public_test_cases');
    const wanted = functionName ? 'functional' : 'stdin';
    if (publicCases.some(({ testtype }) => testtype !== undefined && testtype !== wanted)) {
      throw new RowError(`its cases are not of the type "${wanted}" that its metadata ${functionName ? 'ask' : 'leave'} for`);
    }
    const isPacked = !found.private_test_cases.trimStart().startsWith('[');
    const privateCases = isPacked ? [] : readCases(found.private_test_cases, 'private_test_cases');
    const format = found.starter_code?.trim()
      ? `Complete this program; keep its names.\n\n\`\`\`python\n${found.starter_code}\n\`\`\``
      : 'Write a Python program that reads standard input and writes the answer to standard output.';
    return {
      id: `${found.platform || 'livecodebench'}/${found.question_id}`,
      question: `${found.question_content}\n\n${format}\n\nEnd with the whole program in one fenced code block.`,
      grader: {
        kind: 'cases',
        cases: [...publicCases, ...privateCases].map(({ input, output }) => ({ input, output })),
        ...(isPacked && { packedCases: found.private_test_cases }),
        ...(functionName && { function: functionName }),
        visible: publicCases.length,
      },
      ...(found.contest_date && { date: found.contest_date.slice(0, 10) }),
    };
  },
};

function readCases(packed: string, field: string): readonly PublishedCase[] {
  try {
    return unpackCases(packed);
  } catch (error) {
    if (error instanceof UnpackError) throw new RowError(`${field}: ${error.message}`);
    throw error;
  }
}

function parseJson(json: string, field: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new RowError(`${field} is no JSON`);
  }
}

const bigCodeBenchSchema = z.object({
  task_id: identifier,
  instruct_prompt: text,
  complete_prompt: z.string().optional(),
  code_prompt: z.string().optional(),
  test: text,
  entry_point: text,
  libs: z.union([z.string(), z.array(z.string())]).nullish(),
});

/** BigCodeBench v0.1.x, full and hard. The imports of the task come first, as in its calibrated scores. */
const bigCodeBench: PublishedForm = {
  name: 'BigCodeBench',
  fields: ['task_id', 'instruct_prompt', 'test', 'entry_point'],
  toTask(row, { bigCodeBench: wanted }) {
    const found = bigCodeBenchSchema.parse(row);
    if (wanted === 'complete' && !found.complete_prompt) throw new RowError('it has no "complete_prompt"');
    const asked = wanted === 'complete' ? `Complete this Python program.\n\n\`\`\`python\n${found.complete_prompt?.trimEnd()}\n\`\`\`` : found.instruct_prompt;
    return {
      id: found.task_id,
      question: `${asked}\n\nEnd with the whole program in one fenced code block.`,
      grader: {
        kind: 'unittest',
        test: found.test,
        ...(found.code_prompt && { prelude: `${found.code_prompt}\n    pass\n` }),
        modules: moduleNames(found.libs),
      },
    };
  },
};

/** The list is published as a Python literal: `['random', 'itertools']`. */
function moduleNames(libs: string | readonly string[] | null | undefined): string[] {
  const names = typeof libs === 'string' ? [...libs.matchAll(/['"](\w+)['"]/g)].map(([, name = '']) => name) : [...(libs ?? [])];
  return names.filter((name) => /^\w+$/.test(name));
}

const multipleChoiceSchema = z.object({
  question: text,
  choices: z.array(z.string()).min(2).max(26),
  answer: z.union([z.number().int().nonnegative(), z.string().regex(/^[A-Za-z0-9]$/)]),
  subject: z.string().default(''),
});

function choiceTask(id: string, question: string, choices: readonly string[], answer: number): TaskBody {
  if (answer >= choices.length) throw new RowError('answer names none of the choices');
  return { id, question: choiceQuestion(question, choices), grader: { kind: 'choice', choices: [...choices], answer } };
}

function positionOf(answer: string | number): number {
  return /^[A-Za-z]$/.test(String(answer)) ? String(answer).toUpperCase().charCodeAt(0) - 65 : Number(answer);
}

/** MMLU as on Hugging Face (`cais/mmlu`): choices as a list, the answer as an index. */
const mmlu: PublishedForm = {
  name: 'MMLU',
  fields: ['question', 'choices', 'answer'],
  toTask(row) {
    const found = multipleChoiceSchema.parse(row);
    const id = `mmlu/${idOf(found.subject, found.question, ...found.choices)}`;
    return choiceTask(id, found.question, found.choices, positionOf(found.answer));
  },
};

const lettersSchema = z.object({
  Question: text,
  A: z.string(),
  B: z.string(),
  C: z.string(),
  D: z.string(),
  Answer: z.string().regex(/^[A-Da-d]$/),
  Subject: z.string().default(''),
});

/** MMLU as in simple-evals: a table with a column for each letter. */
const mmluTable: PublishedForm = {
  name: 'MMLU',
  fields: ['Question', 'A', 'B', 'C', 'D', 'Answer'],
  toTask(row) {
    const { Question, A, B, C, D, Answer, Subject } = lettersSchema.parse(row);
    return choiceTask(`mmlu/${idOf(Subject, Question, A, B, C, D)}`, Question, [A, B, C, D], positionOf(Answer));
  },
};

const gpqaSchema = z.object({
  'Question': text,
  'Correct Answer': text,
  'Incorrect Answer 1': text,
  'Incorrect Answer 2': text,
  'Incorrect Answer 3': text,
  'Record ID': z.string().optional(),
});

/** GPQA. The published order reveals the answer, so the choices are ordered by their hashes. */
const gpqa: PublishedForm = {
  name: 'GPQA',
  fields: ['Question', 'Correct Answer', 'Incorrect Answer 1', 'Incorrect Answer 2', 'Incorrect Answer 3'],
  toTask(row, { seed }) {
    const found = gpqaSchema.parse(row);
    const question = found.Question.trim();
    const right = found['Correct Answer'].trim();
    const wrong = ([1, 2, 3] as const).map((number) => found[`Incorrect Answer ${number}`].trim());
    const rank = (choice: string): string => idOf(String(seed), question, choice);
    const choices = [right, ...wrong].toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
    const id = found['Record ID']?.trim() || idOf(question);
    return choiceTask(`gpqa/${id}`, question, choices, choices.indexOf(right));
  },
};

const mathSchema = z.object({
  problem: text,
  answer: z
    .union([z.string().min(1), z.number()])
    .transform(String)
    .optional(),
  solution: z.string().optional(),
  unique_id: z.string().optional(),
  id: identifier.optional(),
});

/** MATH, MATH-500 and AIME. Without a separate answer, the last box of the solution is the answer. */
const math: PublishedForm = {
  name: 'MATH',
  fields: ['problem'],
  toTask(row) {
    const found = mathSchema.parse(row);
    const answer = found.answer ?? (found.solution === undefined ? undefined : lastBoxed(found.solution));
    if (answer === undefined || answer.trim() === '') throw new RowError('it has no answer, and its solution boxes none');
    return {
      id: found.unique_id ?? (found.id === undefined ? `math/${idOf(found.problem)}` : `math/${found.id}`),
      question: `${found.problem}\n\n${FINAL_RESULT}`,
      grader: { kind: 'math', answer },
    };
  },
};

const rlprSchema = z.object({
  prompt: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  reward_model: z.object({ ground_truth: z.union([z.string().min(1), z.number()]).transform(String) }),
});

/**
 * RLPR's sets (`openbmb/RLPR-Train-Dataset`, `RLAIF-V/RLPR-Benchmarks`) in verl's form, exported as JSON lines. In them the system's message says
 * how a result is marked: in a tag. As for other sets of mathematics, the question says so here, unless it does already. The tolerance for numbers
 * is that of the paper's graders (reference: 1e-3 relative above 1, else 1e-6).
 */
const rlpr: PublishedForm = {
  name: 'RLPR',
  fields: ['prompt', 'reward_model'],
  toTask(row) {
    const found = rlprSchema.parse(row);
    const asked = found.prompt.findLast(({ role }) => role === 'user')?.content;
    if (!asked) throw new RowError('its prompt has no message of the user');
    return {
      id: `rlpr/${idOf(asked)}`,
      question: SAYS_FORM.test(asked) ? asked : `${asked}\n\n${FINAL_RESULT}`,
      grader: { kind: 'math', answer: found.reward_model.ground_truth, tolerance: { relative: 1e-3, absolute: 1e-6 } },
    };
  },
};

const SAYS_FORM = /\\boxed|<answer>/;

const humanEvalSchema = z.object({ task_id: identifier, prompt: text, test: text, entry_point: z.string().regex(/^\w+$/), canonical_solution: z.string().optional() });

/**
 * HumanEval, and HumanEval+ as on Hugging Face (`evalplus/humanevalplus`). The program is that of OpenAI's harness (`execution.py`): prompt,
 * completion, tests, and the call of `check`.
 */
const humanEval: PublishedForm = {
  name: 'HumanEval',
  fields: ['task_id', 'prompt', 'test', 'entry_point'],
  toTask(row) {
    const { task_id: id, prompt, test, entry_point: name, canonical_solution: solution } = humanEvalSchema.parse(row);
    return {
      id,
      question: `Complete this Python function.\n\n\`\`\`python\n${prompt.trimEnd()}\n\`\`\`\n\n${WHOLE_FUNCTION}`,
      grader: { kind: 'check', prelude: prompt, test: `${test}\ncheck(${name})`, visible: docstringExamples(prompt) },
      ...(solution !== undefined && { reference: fenced(prompt + solution) }),
    };
  },
};

const fenced = (program: string): string => `\`\`\`python\n${program.trimEnd()}\n\`\`\``;

const WHOLE_FUNCTION = 'End with the whole function, with its imports, in one fenced code block.';

/** The expressions of the examples in a docstring, as `doctest` marks them. */
const docstringExamples = (prompt: string): string[] => [...prompt.matchAll(/^[ \t]*>>>[ \t]*(\S.*)$/gm)].map(([, expression = '']) => expression);

const mbppSchema = z.object({
  task_id: identifier,
  text: z.string().optional(),
  prompt: z.string().optional(),
  test_list: z.array(z.string()).min(1),
  code: z.string().optional(),
  test_setup_code: z.string().nullish(),
  test_imports: z.array(z.string()).nullish(),
  /** MBPP+: all checks as one program. */
  test: z.string().optional(),
});

/** MBPP, its sanitized form, and MBPP+ (`evalplus/mbppplus`). The question shows the assertions, as in the paper of MBPP (arXiv 2108.07732). */
const mbpp: PublishedForm = {
  name: 'MBPP',
  fields: ['task_id', 'test_list'],
  toTask(row) {
    const found = mbppSchema.parse(row);
    const asked = found.prompt ?? found.text;
    if (!asked) throw new RowError('it has neither "text" nor "prompt"');
    const before = [...(found.test_imports ?? []), found.test_setup_code ?? ''].filter((line) => line !== '').join('\n');
    return {
      id: `mbpp/${found.task_id}`,
      question: `${asked.trim()}\n\nYour Python code must pass these tests:\n\n\`\`\`python\n${found.test_list.join('\n')}\n\`\`\`\n\n${WHOLE_FUNCTION}`,
      grader: {
        kind: 'check', prelude: '', visible: found.test_list,
        test: found.test ?? [before, ...found.test_list].join('\n'),
      },
      ...(found.code !== undefined && { reference: fenced(found.code) }),
    };
  },
};

const mmluProSchema = z.object({
  question: text,
  options: z.array(z.string()).min(2).max(26),
  answer_index: z.number().int().nonnegative().optional(),
  answer: z.string().optional(),
  question_id: identifier.optional(),
});

/** MMLU-Pro (`TIGER-Lab/MMLU-Pro`): up to ten options. */
const mmluPro: PublishedForm = {
  name: 'MMLU-Pro',
  fields: ['question', 'options', 'answer'],
  toTask(row) {
    const { question, options, answer_index: index, answer, question_id: id } = mmluProSchema.parse(row);
    const right = index ?? (answer !== undefined && /^[A-Za-z]$/.test(answer) ? positionOf(answer) : undefined);
    if (right === undefined) throw new RowError('answer is not a letter');
    return choiceTask(`mmlu-pro/${id ?? idOf(question, ...options)}`, question, options, right);
  },
};

const gsm8kSchema = z.object({ question: text, answer: z.string().regex(/####\s*\S/) });

/** GSM8K: the result is after "####" (arXiv 2110.14168). */
const gsm8k: PublishedForm = {
  name: 'GSM8K',
  fields: ['question', 'answer'],
  toTask(row) {
    const { question, answer } = gsm8kSchema.parse(row);
    const result = answer.slice(answer.lastIndexOf('####') + 4).trim().replaceAll(',', '');
    return { id: `gsm8k/${idOf(question)}`, question: `${question}\n\n${FINAL_RESULT}`, grader: { kind: 'math', answer: result } };
  },
};

/** A question and its result, such as AIME 2025 in OpenCompass's form (`opencompass/AIME2025`). */
const questionAndAnswer: PublishedForm = {
  name: 'AIME',
  fields: ['question', 'answer'],
  toTask(row) {
    const { question, answer } = z.object({ question: text, answer: z.union([text, z.number()]).transform(String) }).parse(row);
    return { id: `aime/${idOf(question)}`, question: `${question}\n\n${FINAL_RESULT}`, grader: { kind: 'math', answer: answer.trim() } };
  },
};

/** GSM8K and AIME have the same fields: only GSM8K's answers contain "####". */
const byQuestion: PublishedForm = {
  name: 'GSM8K or AIME',
  fields: ['question', 'answer'],
  formOf: (row) => (gsm8kSchema.safeParse(row).success ? gsm8k : questionAndAnswer),
  toTask: (row, options) => (gsm8kSchema.safeParse(row).success ? gsm8k : questionAndAnswer).toTask(row, options),
};

/** AIME 2024 as a table with capitals (`Maxwell-Jia/AIME_2024`). */
const aimeTable: PublishedForm = {
  name: 'AIME',
  fields: ['Problem', 'Answer'],
  toTask(row) {
    const { ID, Problem, Answer } = z.object({ ID: identifier.optional(), Problem: text, Answer: z.union([text, z.number()]).transform(String) }).parse(row);
    return { id: `aime/${ID ?? idOf(Problem)}`, question: `${Problem}\n\n${FINAL_RESULT}`, grader: { kind: 'math', answer: Answer.trim() } };
  },
};

/** DeepMath-103K (`zwhe99/DeepMath-103K`). */
const deepMath: PublishedForm = {
  name: 'DeepMath',
  fields: ['question', 'final_answer'],
  toTask(row) {
    const { question, final_answer: answer } = z.object({ question: text, final_answer: z.union([text, z.number()]).transform(String) }).parse(row);
    return { id: `deepmath/${idOf(question)}`, question: `${question}\n\n${FINAL_RESULT}`, grader: { kind: 'math', answer } };
  },
};

/**
 * SWE-bench with its subsets, and SWE-bench-Live. A row names a commit of a project and holds neither the project nor what it needs installed:
 * the data set's container images do.
 */
const sweBench: PublishedForm = {
  name: 'SWE-bench',
  fields: ['instance_id', 'problem_statement', 'test_patch', 'FAIL_TO_PASS', 'PASS_TO_PASS'],
  toTask() {
    throw new ElsewhereError('SWE-bench');
  },
};

/** Forms are tried in this order: those with fewer fields come after those that have the same and more. */
export const PUBLISHED_FORMS: readonly PublishedForm[] = [
  sweBench, liveCodeBench, bigCodeBench, gpqa, mmluTable, mmlu, mmluPro, humanEval, mbpp, rlpr, deepMath, byQuestion, aimeTable, math,
];
