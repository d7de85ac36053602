import * as z from 'zod';

const FUNCTION_NAME = /^[A-Za-z_$][\w$]{0,199}$/;

const limits = {
  /** Processor time for one case or one run of the tests. */
  timeLimitMs: z.number().int().min(100).max(600_000).optional(),
  memoryMiB: z.number().int().min(16).max(65_536).optional(),
};

const text = z.string().max(10_000_000);

/** The grader of a task, as task files specify it. */
export const graderSpecSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cases'),
    cases: z
      .array(z.strictObject({ input: z.string(), output: z.string() }))
      .max(10_000)
      .default([]),
    /** Further cases in LiveCodeBench's packed form: base64 of zlib of a pickled string of JSON. They are unpacked when needed. */
    packedCases: z.string().optional(),
    /** The function to call. Without it, the program reads standard input. */
    function: z.string().regex(FUNCTION_NAME, 'is not a function name').optional(),
    language: z.enum(['python', 'javascript']).optional(),
    runAllCases: z.boolean().optional(),
    /** How many cases, from the first, the question itself shows. */
    visible: z.number().int().min(0).optional(),
    ...limits,
  }),
  z.strictObject({
    kind: z.literal('check'),
    /** Comes before the answer's Python program. */
    prelude: text.default(''),
    /** Python that raises an exception if the program is wrong. */
    test: text,
    /** Expressions or assertions that the question itself shows. */
    visible: z.array(z.string().max(10_000)).max(100).optional(),
    ...limits,
  }),
  z.strictObject({
    kind: z.literal('unittest'),
    test: text,
    className: z.string().regex(FUNCTION_NAME, 'is no name of a class').optional(),
    prelude: text.optional(),
    modules: z.array(z.string().regex(/^\w+$/, 'is no name of a module')).max(100).optional(),
    ...limits,
  }),
  z.strictObject({
    kind: z.literal('choice'),
    choices: z.array(z.string().max(100_000)).min(2).max(26),
    /** The right option: its index from 0, or its letter. */
    answer: z.union([z.number().int().min(0).max(25), z.string().regex(/^[A-Za-z]$/, 'is not a letter')]),
  }),
  z.strictObject({
    kind: z.literal('math'),
    answer: z.string().min(1).max(1_000),
    /** The allowed difference of numbers: relative to the expected number if that is larger than 1, else absolute. */
    tolerance: z.strictObject({ relative: z.number().min(0).max(1), absolute: z.number().min(0).max(1) }).optional(),
  }),
  z.strictObject({
    kind: z.literal('exact'),
    /** The accepted answer, or several. */
    answer: z.union([z.string().min(1).max(2_000), z.array(z.string().min(1).max(2_000)).min(1).max(100)]),
    caseSensitive: z.boolean().optional(),
  }),
]);

export type GraderSpec = z.infer<typeof graderSpecSchema>;

/** A question and the grader of its answers. */
export interface Task {
  /** Stable: the same on each read of the file. */
  readonly id: string;
  readonly question: string;
  readonly grader: GraderSpec;
  /** A right answer, where the data set has a program; other answers follow from the grader. */
  readonly reference?: string | undefined;
  /** When it was published, as `2025-04-30`, where the data set says so. */
  readonly date?: string | undefined;
  /** The form of its line: our own, or that of a published data set. */
  readonly form: string;
  /** What its line says that it is about; else how it is judged, or its data set. */
  readonly kind: string;
  /** The line number, from 1. */
  readonly line: number;
}
