import * as z from 'zod';
import { DEVICES } from './devices.ts';
import { localSettingsSchema } from './worker-config.ts';

/*
 * Models that Conductor runs on this machine, as clients see them: those installed, those recommended, and the state of those in use.
 */

const bytes = z.number().nonnegative();
const deviceSchema = z.enum(DEVICES);
const precisionSchema = z.enum(['full', '8-bit', '4-bit']);

/** A model's name: `owner/name` on the hub, or a folder. */
export const modelNameSchema = z.string().min(1).max(1_024);

/** A completely downloaded model on this machine. */
export const pulledModelSchema = z.object({
  repo: z.string(),
  commit: z.string(),
  folder: z.string(),
  sizeBytes: bytes,
});
export type PulledModelView = z.infer<typeof pulledModelSchema>;

/** A model that is known to work. */
export const offeredModelSchema = z.object({
  repo: z.string(),
  licence: z.string(),
  parameters: z.number(),
  downloadBytes: bytes,
});
export type OfferedModel = z.infer<typeof offeredModelSchema>;

export const recommendationSchema = z.object({
  repo: z.string(),
  precision: precisionSchema,
  device: deviceSchema,
  neededBytes: bytes,
  /** One sentence. */
  reason: z.string(),
});
export type ModelRecommendation = z.infer<typeof recommendationSchema>;

export const localModelsSchema = z.object({
  pulled: z.array(pulledModelSchema),
  offered: z.array(offeredModelSchema),
  /** Absent if no known model runs well on this machine. */
  recommended: recommendationSchema.optional(),
  settings: localSettingsSchema,
});
export type LocalModelsView = z.infer<typeof localModelsSchema>;

/** How a model is, or was last, loaded in memory. */
export const loadedModelSchema = z.object({
  device: deviceSchema,
  precision: precisionSchema,
  /** Memory used on the device. */
  weightBytes: bytes,
  /** Context length in tokens: prompt and answer. */
  contextLength: z.number().int().nonnegative(),
  /** Why a better device was not used, and other remarks; one sentence each. */
  reasons: z.array(z.string()),
});
export type LoadedModelView = z.infer<typeof loadedModelSchema>;

export const loadPhaseSchema = z.enum(['choosing-device', 'fetching-libraries', 'trying', 'reading', 'quantizing', 'loading']);

export const localModelStatusSchema = z.object({
  /** As workers.json names it. */
  model: modelNameSchema,
  state: z.enum(['unloaded', 'loading', 'ready']),
  phase: loadPhaseSchema.optional(),
  /** Progress of the phase, from 0 to 1; absent if unknown. */
  fraction: z.number().min(0).max(1).optional(),
  loaded: loadedModelSchema.optional(),
  /** Why the last attempt to load it failed; one sentence. */
  problem: z.string().optional(),
});
export type LocalModelStatus = z.infer<typeof localModelStatusSchema>;

/** Progress of a model's download. */
export const pullProgressSchema = z.object({
  repo: z.string(),
  receivedBytes: bytes,
  totalBytes: bytes,
  bytesPerSecond: bytes,
});
export type PullProgress = z.infer<typeof pullProgressSchema>;
