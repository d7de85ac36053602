import * as z from 'zod';
import { AdapterError } from '../adapter/errors.ts';
import { ImpossiblePrefixError } from '../automaton/continuing.ts';
import { AutomatonTooLargeError } from '../automaton/growing-automaton.ts';
import { UnusableVocabularyError } from '../automaton/token-effects.ts';
import { CheckpointError, type CheckpointErrorKind, UnsupportedModelError } from '../checkpoint/errors.ts';
import { ModelRequestError, PromptTooLongError } from '../decoder/request-error.ts';
import { DeviceError, type DeviceErrorKind } from '../device/device-error.ts';
import { RuntimeMissingError } from '../load-error.ts';
import { QuantizedCacheError, type QuantizedCacheErrorKind } from '../quantize/errors.ts';
import { TokenizerError, type TokenizerErrorKind, TokenizerMissingError } from '../tokenizer/errors.ts';
import { ModelFailedError } from './errors.ts';

/*
 * Serialises errors of the model's process as the class name, the message and the data. The backend restores errors of the same
 * class, because code depends on the class.
 */

export const wireErrorSchema = z.object({
  name: z.string().max(100),
  message: z.string().max(4_000),
  data: z.record(z.string().max(100), z.union([z.string().max(4_000), z.number()])),
});

export type WireError = z.output<typeof wireErrorSchema>;
type Data = WireError['data'];

const text = (value: Data[string] | undefined): string => (typeof value === 'string' ? value : '');
const optionalText = (value: Data[string] | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const optionalNumber = (value: Data[string] | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

interface TravellingClass {
  /** The fields that are sent in addition to the message. */
  readonly fields: readonly string[];
  readonly make: (message: string, data: Data) => Error;
}

/** The classes by name. A map, because names come from the other process and could be `constructor`. */
const CLASSES: ReadonlyMap<string, TravellingClass> = new Map(Object.entries({
  ModelRequestError: { fields: [], make: (message) => new ModelRequestError(message) },
  PromptTooLongError: { fields: [], make: (message) => new PromptTooLongError(message) },
  RuntimeMissingError: { fields: [], make: (message) => new RuntimeMissingError(message) },
  ModelFailedError: { fields: [], make: (message) => new ModelFailedError(message) },
  UnusableVocabularyError: { fields: [], make: (message) => worded(new UnusableVocabularyError(''), message) },
  AutomatonTooLargeError: {
    fields: ['limit'],
    make: (message, { limit }) => worded(new AutomatonTooLargeError(optionalNumber(limit) ?? 0), message),
  },
  ImpossiblePrefixError: {
    fields: ['prefix'],
    make: (message, { prefix }) => worded(new ImpossiblePrefixError(text(prefix)), message),
  },
  UnsupportedModelError: {
    fields: ['file', 'field'],
    make: (message, { file, field }) => worded(new UnsupportedModelError(text(file), text(field), ''), message),
  },
  CheckpointError: {
    fields: ['kind', 'file', 'tensor'],
    make: (message, { kind, file, tensor }) =>
      new CheckpointError({ kind: text(kind) as CheckpointErrorKind, file: text(file), tensor: optionalText(tensor), message }),
  },
  AdapterError: {
    fields: ['folder', 'field', 'tensor'],
    make: (message, { folder, field, tensor }) =>
      new AdapterError({ folder: text(folder), field: optionalText(field), tensor: optionalText(tensor), message }),
  },
  TokenizerError: {
    fields: ['kind', 'file'],
    make: (message, { kind, file }) => new TokenizerError({ kind: text(kind) as TokenizerErrorKind, file: text(file), message }),
  },
  TokenizerMissingError: {
    fields: ['file'],
    make: (message, { file }) => worded(new TokenizerMissingError(text(file)), message),
  },
  QuantizedCacheError: {
    fields: ['kind', 'folder', 'neededBytes', 'freeBytes'],
    make: (message, { kind, folder, neededBytes, freeBytes }) => new QuantizedCacheError({
      kind: text(kind) as QuantizedCacheErrorKind, folder: text(folder), message,
      neededBytes: optionalNumber(neededBytes), freeBytes: optionalNumber(freeBytes),
    }),
  },
  DeviceError: { fields: ['kind'], make: (message, { kind }) => new DeviceError(text(kind) as DeviceErrorKind, message) },
} satisfies Readonly<Record<string, TravellingClass>>));

/** Restores the message of an error whose constructor makes its own. */
function worded<E extends Error>(error: E, message: string): E {
  error.message = message;
  return error;
}

export function toWireError(error: unknown): WireError {
  const known = error instanceof Error ? CLASSES.get(error.name) : undefined;
  if (!(error instanceof Error) || !known) {
    const said = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim();
    return { name: 'ModelFailedError', message: `The model could not answer: ${said.slice(0, 1_000)}`, data: {} };
  }
  const values = Object.entries(error).filter(
    ([field, value]) => known.fields.includes(field) && (typeof value === 'string' || typeof value === 'number'),
  );
  const data = values.map(([field, value]) => [field, typeof value === 'string' ? value.slice(0, 4_000) : value]);
  return { name: error.name, message: error.message.slice(0, 4_000), data: Object.fromEntries(data) as Data };
}

export function fromWireError({ name, message, data }: WireError): Error {
  return CLASSES.get(name)?.make(message, data) ?? new ModelFailedError(message);
}
