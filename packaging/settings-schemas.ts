import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { trainingSettingsSchema } from '../backend/protocol/training.ts';
import { workersFileSchema } from '../backend/protocol/worker-config.ts';

/** The page that documents every setting of a training. */
const TRAINING_DOCUMENT = path.join(import.meta.dirname, '../docs/training.md');

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A row of the table in docs/training.md. */
export interface DocumentedSetting {
  /** The path, with a dot for each nested object. */
  readonly name: string;
  /** In JSON; undefined where there is none. */
  readonly default: string | undefined;
  readonly description: string;
}

/** JSON schemas of settings files, by the names in package.json. VS Code uses them to complete and check these files. */
export async function settingsSchemas(): Promise<Readonly<Record<string, JsonSchema>>> {
  const training = jsonSchemaOf(trainingSettingsSchema);
  const documented = documentedSettings(await readFile(TRAINING_DOCUMENT, 'utf8'));
  const settings = new Map(settingsIn(training));
  for (const { name, description } of documented) Object.assign(settings.get(name) ?? {}, { markdownDescription: description });
  return { 'conductor.train.schema.json': training, 'workers.schema.json': jsonSchemaOf(workersFileSchema) };
}

/** Of what stands in a file: what has a default may be left out. VS Code supports draft 7 in full, and later ones in part. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
}

/** Every leaf setting, by the name in `DocumentedSetting`. */
export function settingsIn({ properties = {} }: JsonSchema, above = ''): [string, JsonSchema][] {
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([key, setting]): [string, JsonSchema][] =>
    (setting.properties ? settingsIn(setting, `${above}${key}.`) : [[above + key, setting]]));
}

export function documentedSettings(markdown: string): DocumentedSetting[] {
  return [...markdown.matchAll(/^\| `([\w.]+)` \| (?:`(.+)` )?\| (.+?) \|.*\|$/gm)]
    .map(([, name = '', value, description = '']) => ({ name, default: value, description }));
}
