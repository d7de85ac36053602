import * as z from 'zod';
import { quoted, UnsupportedModelError } from './errors.ts';

/* Reading a model's `config.json`. */

export const CONFIG = 'config.json';

export type Fields = Readonly<Record<string, unknown>>;

/** Far larger than in any real model. The limit keeps products of sizes exact. */
export const size = z.int().min(1).max(2 ** 24);

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a field is set. Absent, null, false and 0 count as not set. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0;
}

export function unsupported(field: string, value: unknown): UnsupportedModelError {
  return malformed(field, value === undefined ? 'is missing' : `is ${quoted(value)}`);
}

export function malformed(field: string, problem: string): UnsupportedModelError {
  return new UnsupportedModelError(CONFIG, field, problem);
}
