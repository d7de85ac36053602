import * as z from 'zod';

const FUNCTION_NAME = /^[A-Za-z_$][\w$]{0,199}$/;

const limits = {
  /** Of processor time, for one case or one run of the tests. */
  timeLimitMs: z.number().int().min(100).max(600_000).optional(),
  memoryMiB: z.number().int().min(16).max(65_536).optional(),
};

const text = z.string().max(10_000_000);

/** What a task file says of how its answers are judged. */
export const graderSpecSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cases'),
    cases: z
      .array(z.strictObject({ input: z.string(), output: z.string() }))
      .max(10_000)
      .default([]),
    /** LiveCodeBench's packed form of further cases: base64 of zlib of a pickled string of JSON. Unpacked when it is needed. */
    packedCases: z.string().optional(),
    /** The function to call; without it the program reads standard input. */
    function: z.string().regex(FUNCTION_NAME, 'is no name of a function').optional(),
    language: z.enum(['python', 'javascript']).optional(),
    runAllCases: z.boolean().optional(),
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
    /** The position of the right one from 0, or its letter. */
    answer: z.union([z.number().int().min(0).max(25), z.string().regex(/^[A-Za-z]$/, 'is no letter')]),
  }),
  z.strictObject({
    kind: z.literal('math'),
    answer: z.string().min(1).max(1_000),
    /** How far a number may be off: relative to the expected one where that is larger than 1, else absolute. */
    tolerance: z.strictObject({ relative: z.number().min(0).max(1), absolute: z.number().min(0).max(1) }).optional(),
  }),
  z.strictObject({
    kind: z.literal('exact'),
    /** One, or several of which each is right. */
    answer: z.union([z.string().min(1).max(2_000), z.array(z.string().min(1).max(2_000)).min(1).max(100)]),
    caseSensitive: z.boolean().optional(),
  }),
]);

export type GraderSpec = z.infer<typeof graderSpecSchema>;

/** A question with what judges its answers. */
export interface Task {
  /** The same each time its file is read. */
  readonly id: string;
  readonly question: string;
  readonly grader: GraderSpec;
  /** Which form its line had: our own, or that of a published data set. */
  readonly form: string;
  /** Counted from 1. */
  readonly line: number;
}
