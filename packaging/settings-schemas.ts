import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { trainingConfigSchema } from '../backend/protocol/training.ts';
import { workersFileSchema } from '../backend/protocol/worker-config.ts';

/** Where every setting of a training is told. */
const TRAINING_DOCUMENT = path.join(import.meta.dirname, '../docs/training.md');

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A row of the table in docs/training.md. */
export interface DocumentedSetting {
  /** With a dot for each object that it is in. */
  readonly name: string;
  /** In JSON; undefined where there is none. */
  readonly default: string | undefined;
  readonly description: string;
}

/** JSON schemas of the files that people edit, by the names under which package.json has VS Code complete and check these with them. */
export async function settingsSchemas(): Promise<Readonly<Record<string, JsonSchema>>> {
  const training = jsonSchemaOf(trainingConfigSchema);
  const documented = documentedSettings(await readFile(TRAINING_DOCUMENT, 'utf8'));
  const settings = new Map(settingsIn(training));
  for (const { name, description } of documented) Object.assign(settings.get(name) ?? {}, { markdownDescription: description });
  return { 'conductor.train.schema.json': training, 'workers.schema.json': jsonSchemaOf(workersFileSchema) };
}

/** Of what stands in a file: what has a default may be left out. VS Code supports draft 7 in full, and later ones in part. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
}

/** Every setting that is no object of others, by its name as `DocumentedSetting` has it. */
export function settingsIn({ properties = {} }: JsonSchema, above = ''): [string, JsonSchema][] {
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([key, setting]): [string, JsonSchema][] =>
    (setting.properties ? settingsIn(setting, `${above}${key}.`) : [[above + key, setting]]));
}

export function documentedSettings(markdown: string): DocumentedSetting[] {
  return [...markdown.matchAll(/^\| `([\w.]+)` \| (?:`(.+)` )?\| (.+?) \|.*\|$/gm)]
    .map(([, name = '', value, description = '']) => ({ name, default: value, description }));
}
