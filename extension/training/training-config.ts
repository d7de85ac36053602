import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrainingConfig } from '../../backend/protocol/training.ts';
import type { TestSettings } from '../common/test-settings.ts';

/** Where a project keeps settings of its trainings: what `conductor train --config` reads. */
export const TRAINING_CONFIG_FILE = 'conductor.train.json';

/** The settings of a project's trainings cannot be used; a sentence that says why. */
export class TrainingConfigError extends Error {
  override readonly name = 'TrainingConfigError';
  /** Absolute. */
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`${path.basename(file)}: ${problem}`);
    this.file = file;
  }
}

export interface ProjectTrainingConfig {
  readonly config: TrainingConfig;
  /** Whether the project has a file of them. */
  readonly isFromFile: boolean;
}

/** @param folder absolute. @returns the settings of the folder's file, or the defaults. @throws TrainingConfigError */
export async function readTrainingConfig(folder: string): Promise<ProjectTrainingConfig> {
  const file = path.join(folder, TRAINING_CONFIG_FILE);
  const text = await readText(file);
  const { trainingConfigSchema } = await import('../../backend/protocol/training.ts');
  const parsed = trainingConfigSchema.safeParse(text === undefined ? {} : parse(file, text));
  if (parsed.success) return { config: parsed.data, isFromFile: text !== undefined };
  const [issue] = parsed.error.issues;
  throw new TrainingConfigError(file, `${issue?.path.join('.') || 'the configuration'}: ${issue?.message ?? 'is not valid'}`);
}

/** The settings with what was chosen in VS Code for the folder's tests, where they name nothing else. */
export function withTests(config: TrainingConfig, { testCommand, testRunner, testReports, testImage }: TestSettings): TrainingConfig {
  const { test, image, ...tasks } = config.tasks;
  const chosen = {
    ...(testCommand && { command: testCommand }), ...(testRunner !== undefined && { runner: testRunner }), ...(testReports !== undefined && { reports: testReports }),
  };
  const [judgedBy, within] = [test ?? (Object.keys(chosen).length > 0 ? chosen : undefined), image ?? testImage];
  return { ...config, tasks: { ...tasks, ...(judgedBy && { test: judgedBy }), ...(within !== undefined && { image: within }) } };
}

/**
 * Gives the folder a file of settings, where it has none.
 * @param folder absolute. @param config what is written. @returns the file's path, absolute. @throws TrainingConfigError
 */
export async function createTrainingConfig(folder: string, config: TrainingConfig): Promise<string> {
  const file = path.join(folder, TRAINING_CONFIG_FILE);
  try {
    await writeFile(file, `${JSON.stringify(config, undefined, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw new TrainingConfigError(file, `it cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
  return file;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new TrainingConfigError(file, `it cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TrainingConfigError(file, error instanceof Error ? error.message : String(error));
  }
}
