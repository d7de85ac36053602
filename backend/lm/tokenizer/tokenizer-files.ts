import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { quoted, TokenizerError, TokenizerMissingError, type TokenizerErrorKind } from './errors.ts';

const MEBIBYTE = 1024 * 1024;
/** Several times the largest tokenizer.json in use, which has 34 MB for a vocabulary of 262,144. */
const LARGEST_DEFINITION = 128 * MEBIBYTE;
const LARGEST_SETTINGS = 4 * MEBIBYTE;
/** Long templates have about 20 kB. */
const LARGEST_TEMPLATE = MEBIBYTE / 4;
/** Seven times Qwen's vocabulary of 151,936. */
export const HIGHEST_ID = MEBIBYTE - 1;
/** More than twice as many as in any known tokenizer. */
const MOST_ADDED_TOKENS = 16_384;

const id = z.number().int().min(0).max(HIGHEST_ID);

const addedTokenSchema = z.object({
  content: z.string().min(1).max(1024),
  special: z.boolean().default(false),
  normalized: z.boolean().optional(),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
});

/** A normalizer, pre-tokenizer or decoder, or a sequence of them. The library reads their other fields. */
const componentSchema = z.looseObject({
  type: z.string(),
  get normalizers() { return z.array(componentSchema).optional(); },
  get pretokenizers() { return z.array(componentSchema).optional(); },
  get decoders() { return z.array(componentSchema).optional(); },
});
export type Component = z.output<typeof componentSchema>;

const definitionSchema = z.looseObject({
  // Entries are validated where they are used, because validation here would copy 150,000 of them.
  model: z.looseObject({
    type: z.string(),
    vocab: z.custom<Readonly<Record<string, unknown>>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
    merges: z.custom<readonly unknown[]>(Array.isArray),
    byte_fallback: z.boolean().nullish(),
    continuing_subword_prefix: z.string().nullish(),
    end_of_word_suffix: z.string().nullish(),
  }),
  added_tokens: z.array(addedTokenSchema.extend({ id })).max(MOST_ADDED_TOKENS).default([]),
  normalizer: componentSchema.nullish(),
  pre_tokenizer: componentSchema.nullish(),
  decoder: componentSchema.nullish(),
});
export type TokenizerDefinition = z.output<typeof definitionSchema>;

/** The components of a possibly nested sequence. */
export function flatten(component: Component | null | undefined): Component[] {
  if (!component) return [];
  if (component.type !== 'Sequence') return [component];
  return (component.normalizers ?? component.pretokenizers ?? component.decoders ?? []).flatMap(flatten);
}

/**
 * The BPE tokens as the file writes them, and their ids.
 * @throws TokenizerError
 */
export function readTokens(file: string, { model: { vocab } }: TokenizerDefinition): [token: string, id: number][] {
  const malformed = (problem: string): TokenizerError => failure('malformed', file, `${problem}: download the model again`);
  const seen = new Set<unknown>();
  const entries = Object.entries(vocab);
  for (const [token, id] of entries) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > HIGHEST_ID) throw malformed(`has no valid id for ${quoted(token)}`);
    if (seen.has(id)) throw malformed(`has two tokens of id ${id}`);
    seen.add(id);
  }
  return entries as [string, number][];
}

const namedToken = z.union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)]).nullish();
const namedTokensSchema = z.looseObject({ bos_token: namedToken, eos_token: namedToken, pad_token: namedToken, unk_token: namedToken });

const configSchema = namedTokensSchema.extend({
  chat_template: z.union([z.string(), z.array(z.object({ name: z.string(), template: z.string() }))]).nullish(),
  added_tokens_decoder: z.record(z.string().refine(isId, 'no token id'), addedTokenSchema)
    .refine((tokens) => Object.keys(tokens).length <= MOST_ADDED_TOKENS, 'too many tokens').nullish(),
});

function isId(text: string): boolean {
  return /^\d{1,7}$/.test(text) && Number(text) <= HIGHEST_ID;
}

const stopSchema = z.looseObject({ eos_token_id: z.union([id.transform((one) => [one]), z.array(id)]).nullish() });

/** A tokenizer's files, each validated separately. */
export interface TokenizerFiles {
  readonly definitionFile: string;
  readonly definition: TokenizerDefinition;
  readonly config: z.output<typeof configSchema>;
  /** The names of tokens that templates use, such as `bos_token`. */
  readonly namedTokens: Readonly<Record<string, string>>;
  readonly chatTemplate: { readonly file: string; readonly source: string } | undefined;
  /** The tokens that end a generation, in the order of the file. */
  readonly stopTokenIds: readonly number[];
}

/**
 * Reads a downloaded Hugging Face folder.
 * @throws TokenizerMissingError if there is no tokenizer.json
 * @throws TokenizerError
 */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const definitionFile = join(folder, 'tokenizer.json');
  const [definition, config, specialTokens, generation, model, template] = await Promise.all([
    readJson(definitionFile, definitionSchema, LARGEST_DEFINITION),
    readJson(join(folder, 'tokenizer_config.json'), configSchema, LARGEST_SETTINGS),
    readJson(join(folder, 'special_tokens_map.json'), namedTokensSchema, LARGEST_SETTINGS),
    readJson(join(folder, 'generation_config.json'), stopSchema, LARGEST_SETTINGS),
    readJson(join(folder, 'config.json'), stopSchema, LARGEST_SETTINGS),
    readText(join(folder, 'chat_template.jinja'), LARGEST_TEMPLATE),
  ]);
  if (definition === undefined) throw new TokenizerMissingError(definitionFile);
  const names = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const;
  const namedTokens = names.map((name) => [name, config?.[name] ?? specialTokens?.[name]] as const);
  return {
    definitionFile,
    definition,
    config: config ?? {},
    namedTokens: Object.fromEntries(namedTokens.filter((pair): pair is [typeof pair[0], string] => typeof pair[1] === 'string')),
    // A separate template file takes precedence over tokenizer_config.json, as in transformers.
    chatTemplate: template === undefined
      ? inlineTemplate(join(folder, 'tokenizer_config.json'), config?.chat_template)
      : { file: join(folder, 'chat_template.jinja'), source: template },
    stopTokenIds: (generation ?? model)?.eos_token_id ?? [],
  };
}

type InlineTemplate = z.output<typeof configSchema>['chat_template'];

function inlineTemplate(file: string, found: InlineTemplate): TokenizerFiles['chatTemplate'] {
  const source = typeof found === 'string' ? found : (found?.find(({ name }) => name === 'default') ?? found?.[0])?.template;
  if (source === undefined) return undefined;
  if (source.length > LARGEST_TEMPLATE) throw tooLarge(file, 'has a chat template that', LARGEST_TEMPLATE);
  return { file, source };
}

async function readJson<T extends z.ZodType>(file: string, schema: T, maxBytes: number): Promise<z.output<T> | undefined> {
  const text = await readText(file, maxBytes);
  if (text === undefined) return undefined;
  let parsed: z.ZodSafeParseResult<z.output<T>>;
  try {
    parsed = schema.safeParse(JSON.parse(text));
  } catch (error) {
    throw failure('malformed', file, 'is not valid JSON: download the model again', error);
  }
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.').slice(0, 100) || 'its content';
  throw failure('malformed', file, `is not as expected at ${place} (${issue?.message}): download the model again`, parsed.error);
}

/** @returns `undefined` if there is no such file */
async function readText(file: string, maxBytes: number): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  let bytes: Uint8Array;
  try {
    // Non-blocking, because opening a pipe could wait for ever.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = await handle.stat();
    if (!found.isFile()) throw failure('malformed', file, 'is no regular file: download the model again');
    if (found.size > maxBytes) throw tooLarge(file, '', maxBytes);
    bytes = await handle.readFile();
  } catch (error) {
    if (error instanceof TokenizerError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT') return undefined;
    throw failure('unreadable', file, `could not be read (${code}): check the file and its permissions`, error);
  } finally {
    await handle?.close();
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw failure('malformed', file, 'is not UTF-8 text: download the model again', error);
  }
}

function tooLarge(file: string, what: string, maxBytes: number): TokenizerError {
  return failure('too-large', file, `${what} is larger than ${maxBytes / MEBIBYTE} MiB and was not read: is it the right file`.trim());
}

function failure(kind: TokenizerErrorKind, file: string, problem: string, cause?: unknown): TokenizerError {
  return new TokenizerError({ kind, file, message: `${file} ${problem}.`, cause });
}
