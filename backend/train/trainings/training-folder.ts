import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import { trainingSchema, type Training } from '../../protocol/training.ts';
import { stepName, VERSIONS } from '../grpo/checkpoint-store.ts';
import { frozenOutcomesSchema, type FrozenOutcomes } from './frozen-outcomes.ts';
import { readJson, TasksFolder, unlessMissing } from './tasks-folder.ts';

/**
 * The folder (absolute) of one training: its state (`training.json`), its tasks (`tasks-folder.ts`), workers' answers (`answers.sqlite`),
 * checkpoints and versions (`checkpoint-store.ts`). Each file is replaced whole or not at all.
 */
export class TrainingFolder extends TasksFolder {
  get answers(): string {
    return path.join(this.path, 'answers.sqlite');
  }

  /** The person's file of tasks as it was when the training began. */
  get taskFile(): string {
    return path.join(this.path, 'tasks.jsonl');
  }

  /** What a training that learns from the journal learns from: names of runs, none of their texts. Undefined before that is decided. */
  outcomes(): Promise<FrozenOutcomes | undefined> {
    return readJson(path.join(this.path, 'outcomes.json'), frozenOutcomesSchema);
  }

  saveOutcomes(outcomes: FrozenOutcomes): Promise<void> {
    return replaceFile(path.join(this.path, 'outcomes.json'), JSON.stringify(outcomes));
  }

  /** The adapter after a step: a PEFT folder. Where all weights were trained, the model after the last step: a folder in Hugging Face's format. */
  version(step: number): string {
    return path.join(this.path, VERSIONS, stepName(step));
  }

  /** Metrics for other tools: one object per line, named as in TRL. */
  get curves(): string {
    return path.join(this.path, 'metrics.jsonl');
  }

  /** Undefined where it is missing, invalid or unreadable: one such training must not hide the others. */
  training(): Promise<Training | undefined> {
    return readJson(path.join(this.path, 'training.json'), trainingSchema).catch(() => undefined);
  }

  async saveTraining(training: Training): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await replaceFile(path.join(this.path, 'training.json'), JSON.stringify(training));
    const lines = training.metrics.map((metrics, index) => `${JSON.stringify({ step: index + 1, ...metrics })}\n`);
    await replaceFile(this.curves, lines.join(''));
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** The folders of all trainings under `root` (absolute). @throws file system errors */
export async function trainingFolders(root: string): Promise<TrainingFolder[]> {
  const names = await unlessMissing(readdir(root)) ?? [];
  return names.sort().map((name) => new TrainingFolder(path.join(root, name)));
}
