import * as z from 'zod';
import { workerConfigSchema } from './worker-config.ts';

const MAX_TASK_FILES = 32;

/** A simulated pool that a client starts. It ends with the client's connection. */
export const simulationRequestSchema = z.object({
  /** Files of tasks (absolute) whose answers the workers know, besides the gym's. */
  tasks: z.array(z.string().min(1).max(4_096)).max(MAX_TASK_FILES).default([]),
  /** Of the gym's tasks and of the workers' luck. */
  seed: z.number().int().min(0).max(1_000_000_000).default(1),
  /** Whether the workers of workers.json answer, too. Otherwise they are switched off meanwhile. */
  beside: z.boolean().default(false),
});
export type SimulationRequest = z.infer<typeof simulationRequestSchema>;

/** The simulation that runs. */
export const simulationSchema = z.object({
  ...simulationRequestSchema.shape,
  /** With made-up prices. In runs and trainings they cost nothing. */
  workers: z.array(workerConfigSchema),
  /** A folder (absolute) with tasks of the gym and settings to train on them. */
  folder: z.string(),
});
export type Simulation = z.infer<typeof simulationSchema>;
