import * as z from 'zod';

/* What says how a project's tests are run. In a run request the three stand side by side, as they do in VS Code's settings. */

/** The command that runs the tests, in the workspace's folder. */
export const testCommandText = z.string().min(1).max(2_000);
/** Name of the runner whose report is read, such as `vitest`. */
export const testRunnerName = z.string().min(1).max(64);
/** A glob, relative to the workspace, for the JUnit files that the command writes. */
export const testReportsGlob = z.string().min(1).max(1_000);
/** A container image that Docker or Podman has, such as `node:24`, or its id. */
export const testImageName = z.string().max(255).regex(/^[\w][\w.:/@-]*$/, 'Name an image as Docker does, such as node:24.');

export const testCommandSchema = z.object({
  command: testCommandText,
  /** If absent, derived from the command. */
  runner: testRunnerName.optional(),
  /** Read instead of the runner's own report. */
  reports: testReportsGlob.optional(),
  /** The tests run in a container of this image instead of the sandbox. */
  image: testImageName.optional(),
});
export type TestCommand = z.infer<typeof testCommandSchema>;

/** A detected way to run a workspace's tests. */
export const foundTestsSchema = z.object({
  command: testCommandText,
  runner: testRunnerName,
  /** The folder of these tests, relative to the workspace; empty for the workspace itself. */
  folder: z.string(),
});
export type FoundTests = z.infer<typeof foundTestsSchema>;

/** A command that may run the tests of a workspace in which no known way was found. It is offered to people and never run by itself. */
export const likelyCommandSchema = z.object({
  command: testCommandText,
  /** The file that names it, relative to the workspace. */
  from: z.string(),
});
export type LikelyCommand = z.infer<typeof likelyCommandSchema>;
