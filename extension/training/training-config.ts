import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrainingConfig } from '../../backend/protocol/training.ts';
import type { TestSettings } from '../common/test-settings.ts';

/** The project's training settings, as read by `conductor train --config`. */
export const TRAINING_CONFIG_FILE = 'conductor.train.json';

/** The project's training settings are invalid. The message is a sentence with the reason. */
export class TrainingConfigError extends Error {
  override readonly name = 'TrainingConfigError';
  /** Absolute path. */
  readonly file: string;

  constructor(file: string, problem: string) {
    super(`${path.basename(file)}: ${problem}`);
    this.file = file;
  }
}

export interface ProjectTrainingConfig {
  readonly config: TrainingConfig;
  /** Whether the project has a settings file. */
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

/** Adds the folder's test settings from VS Code where the file has none. */
export function withTests(config: TrainingConfig, { testCommand, testRunner, testReports, testImage }: TestSettings): TrainingConfig {
  const { test, image, ...tasks } = config.tasks;
  const chosen = {
    ...(testCommand && { command: testCommand }), ...(testRunner !== undefined && { runner: testRunner }), ...(testReports !== undefined && { reports: testReports }),
  };
  const [judgedBy, within] = [test ?? (Object.keys(chosen).length > 0 ? chosen : undefined), image ?? testImage];
  return { ...config, tasks: { ...tasks, ...(judgedBy && { test: judgedBy }), ...(within !== undefined && { image: within }) } };
}

/** A question gets so many rounds, so the comparison at the end gives them, too, unless the file says otherwise. */
export function withRounds(config: TrainingConfig, rounds: number): TrainingConfig {
  return { ...config, evaluation: { ...config.evaluation, rounds: config.evaluation.rounds ?? rounds } };
}

/**
 * Creates the folder's settings file if there is none.
 * @param folder absolute. @param config the content. @returns the file's absolute path. @throws TrainingConfigError
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
