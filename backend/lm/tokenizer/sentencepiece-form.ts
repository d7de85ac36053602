import { quoted, TokenizerError } from './errors.ts';
import { type Component, flatten, type TokenizerDefinition } from './tokenizer-files.ts';

/** How SentencePiece writes a space. */
export const SPACE = '▁';

/** In which of its forms a tokenizer.json says how spaces are written. */
export interface SentencePieceForm {
  readonly replacesSpaces: boolean;
  /** Each piece of text between added tokens begins with a space more. */
  readonly prepends: boolean;
  /** Spaces are replaced after added tokens were found; the text, or each piece, begins with a space if it has none. */
  readonly metaspace: { readonly prepends: 'always' | 'first' | 'never'; readonly splits: boolean } | undefined;
  /** Takes away the space that encoding prepended. */
  readonly decodeFirst: ((bytes: Uint8Array) => Uint8Array) | undefined;
}

/** @throws TokenizerError with the field that is not supported */
export function sentencePieceForm(file: string, { normalizer, pre_tokenizer, decoder }: TokenizerDefinition): SentencePieceForm {
  const refuse = (field: string, component: unknown): never => {
    const message = `${file} ${field} is ${quoted(JSON.stringify(component))}, which Conductor does not read in a tokenizer with byte fallback: choose another model.`;
    throw new TokenizerError({ kind: 'unsupported', file, message });
  };
  const form = { replacesSpaces: false, prepends: false, metaspace: undefined as SentencePieceForm['metaspace'] };
  for (const component of flatten(normalizer)) {
    if (writesSpaces(component)) form.replacesSpaces = true;
    else if (component.type === 'Prepend' && component['prepend'] === SPACE) form.prepends = true;
    else refuse('normalizer', component);
  }
  for (const component of flatten(pre_tokenizer)) {
    const metaspace = form.metaspace === undefined ? metaspaceOf(component) : undefined;
    if (metaspace) form.metaspace = metaspace;
    // Gemma's, which finds no space, because all were replaced.
    else if (!(form.replacesSpaces && component.type === 'Split' && isPattern(component, ' '))) refuse('pre_tokenizer', component);
  }
  if (!form.replacesSpaces && form.metaspace === undefined) refuse('normalizer', normalizer ?? null);
  const decoders = flatten(decoder);
  const order = decoders.map(({ type }) => type).join();
  const [spaces, , , strip] = decoders;
  const isPlain = (order === 'Replace,ByteFallback,Fuse' || order === 'Replace,ByteFallback,Fuse,Strip') && readsSpaces(spaces!);
  const metaspace = order === 'Metaspace,ByteFallback,Fuse' ? metaspaceOf(spaces!) : undefined;
  if (!isPlain && metaspace === undefined) refuse('decoder', decoder ?? null);
  if (strip && !(strip['content'] === ' ' && strip['start'] === 1 && strip['stop'] === 0)) refuse('decoder', strip);
  return { ...form, decodeFirst: strip ? withoutFirstSpace : metaspace && metaspace.prepends !== 'never' ? withoutSpaces : undefined };
}

const isPattern = ({ pattern }: Component, text: string): boolean => (pattern as { readonly String?: unknown } | undefined)?.String === text;

const writesSpaces = (component: Component): boolean => component.type === 'Replace' && isPattern(component, ' ') && component['content'] === SPACE;
const readsSpaces = (component: Component): boolean => isPattern(component, SPACE) && component['content'] === ' ';

function metaspaceOf({ type, replacement, prepend_scheme: scheme = 'always', add_prefix_space: prefix, split = true }: Component): SentencePieceForm['metaspace'] {
  if (type !== 'Metaspace' || replacement !== SPACE || typeof split !== 'boolean') return undefined;
  if (scheme !== 'always' && scheme !== 'first' && scheme !== 'never') return undefined;
  return { prepends: prefix === false ? 'never' : scheme, splits: split };
}

const BLANK = 0x20;
const withoutFirstSpace = (bytes: Uint8Array): Uint8Array => (bytes[0] === BLANK ? bytes.subarray(1) : bytes);
/** The Metaspace decoder leaves out every space of the first token. (Not the one that is written as a byte, which no text is encoded to.) */
const withoutSpaces = (bytes: Uint8Array): Uint8Array => bytes.filter((byte) => byte !== BLANK);
