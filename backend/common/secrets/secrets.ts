import { isAssignedSecret, isSecretAlone, opensSecret } from './assigned-secrets.ts';
import { type BrokenText, brokenTextsIn, disguisesOf, endsInToken } from './disguised-secrets.ts';
import { issuedKeyIn } from './issued-keys.ts';

/*
 * Finds the lines of a text that hold a secret. A false positive costs little; a key sent to a provider costs a lot.
 */

export const SECRET_MARKER = '[left out: looks like a secret]';

const SECRET_SHAPES: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  // The secret access key: 40 characters of base64, sometimes with almost no digits.
  { kind: 'an AWS key', pattern: /secret_?access_?key['"]?\s{0,8}[=:]\s{0,8}['"]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/i },
  { kind: 'a signed token', pattern: /(?<![A-Za-z0-9_-])ey[A-Za-z0-9_-]{10,500}\.ey[A-Za-z0-9_/\\-]{10,4000}\.[A-Za-z0-9_/\\-]{10}/ },
  // The same in base64: `eyJ` becomes `ZXlK`.
  { kind: 'a signed token', pattern: /\bZXlK[A-Za-z0-9+/_-]{40}/ },
  // RFC 6750, section 2.1; a placeholder has no digit.
  { kind: 'a bearer token', pattern: /\bBearer\s{1,8}(?=[A-Za-z0-9._~+/-]{0,200}\d)[A-Za-z0-9._~+/-]{20,}/i },
  { kind: 'an Azure key', pattern: /\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=[A-Za-z0-9+/%&=-]{40,}/ },
  { kind: 'an address of a webhook', pattern: /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{40}/ },
  { kind: 'an address of a webhook', pattern: /\.webhook\.office\.com\/webhookb2\/[A-Za-z0-9@-]{36}/ },
  { kind: 'an address of a webhook', pattern: /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{50}/ },
  {
    kind: 'an address with a password',
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"`]{0,64}:(?![$<{*%])[^\s/@'"`]{3,128}@[\w[]/i,
  },
];

/** What each of the shapes needs. Most lines end here. */
const MAY_HAVE_SHAPE = /secret_?access|ey[A-Za-z0-9_-]{10}|ZXlK|bearer\s|AccountKey=|SharedAccess|hooks\.slack|webhook|:\/\//i;

const KEY_BEGINS = /-----BEGIN [A-Z0-9_ -]{0,100}PRIVATE KEY(?: BLOCK)?-----/i;
const KEY_ENDS = /-----END [A-Z0-9_ -]{0,100}PRIVATE KEY(?: BLOCK)?-----/i;
/** A key without an end marker continues while its lines look like key data; the last of them may be short. */
const KEY_CONTINUES = /^(?:[A-Za-z0-9+/=:\s"'`,\\>|#-]{16,}|[^A-Za-z0-9]*[A-Za-z0-9+/]+={0,2}[^A-Za-z0-9]*)$/;
/** A line of a key whose beginning was cut off. */
const KEY_LINE = /^[^A-Za-z0-9]*[A-Za-z0-9+/]{2,}={0,2}[^A-Za-z0-9]*$/;
/** Of a longer line, its beginning says what it is: a pattern that follows all of it may need more memory than patterns have. */
const LONGEST_LINE = 100_000;
const looksLike = (pattern: RegExp, line: string): boolean => pattern.test(line.slice(0, LONGEST_LINE));

/** A Secret of Kubernetes: what its `data` holds is in base64, which looks like anything. */
const SECRET_MANIFEST = /^\s*["']?kind["']?\s*:\s*["']?secret["']?\s*,?\s*$/i;
const MANIFEST_DATA = /^(\s*)["']?(?:data|stringData)["']?\s*:/;
const MANIFEST_ENTRY = /^\s*(?:["']?[\w.-]{1,200}["']?\s*:\s*["']?[^\s|>{"'][^\s{]{3,}|[A-Za-z0-9+/=]{8,}\s*$)/;

export interface Redacted {
  readonly lines: readonly string[];
  /** The kinds of secrets that the replaced lines look like, by line number from 1. */
  readonly secrets: ReadonlyMap<number, string>;
}

/** Replaces lines that look like a secret with a marker. The number of lines stays the same. */
export function redact(lines: readonly string[]): Redacted {
  const secrets = secretsIn(lines);
  return { lines: secrets.size === 0 ? lines : lines.map((line, index) => (secrets.has(index + 1) ? SECRET_MARKER : line)), secrets };
}

function secretsIn(lines: readonly string[]): ReadonlyMap<number, string> {
  const secrets = new Map<number, string>();
  const brokenTexts = brokenTextsIn(lines);
  const manifest = lines.some((line) => SECRET_MANIFEST.test(line)) ? new ManifestData() : undefined;
  let inKey = false;
  let opened = false;
  for (const [index, line] of lines.entries()) {
    const mayBound = line.includes('-----');
    if (inKey && !KEY_ENDS.test(line) && !looksLike(KEY_CONTINUES, line) && line.trim() !== '') inKey = false;
    const begins = mayBound && KEY_BEGINS.test(line);
    const ends = mayBound && KEY_ENDS.test(line);
    const kind: string | undefined = inKey || begins || ends ? 'a private key' : (secrets.get(index + 1) ?? secretIn(line, opened) ?? (manifest?.holds(line) ? 'a password or token' : undefined));
    if (ends && !inKey && !begins) for (let before = index; before > 0 && looksLike(KEY_LINE, lines[before - 1] as string); before -= 1) secrets.set(before, 'a private key');
    if (begins) inKey = true;
    if (ends) inKey = false;
    opened = opensSecret(line) || (kind !== undefined && endsInToken(line));
    if (kind !== undefined) secrets.set(index + 1, kind);
    else addBroken(brokenTexts(index), index, secrets);
  }
  return secrets;
}

/** Of the texts of a broken token, the first ones and the longest are tried: in a long list, every line begins forty. */
const FIRST_TEXTS = 4;

/** Adds the lines over which a secret is broken that begins at the end of this one. */
function addBroken(texts: readonly BrokenText[], index: number, secrets: Map<number, string>): void {
  for (const { text, rest, lines: count } of texts.filter((_, at) => at < FIRST_TEXTS || at === texts.length - 1)) {
    if (!mayBeSecret(text)) continue;
    const kind = secretIn(text, false);
    if (kind === undefined) continue;
    // What does not need the first line is found by itself.
    if (secretIn(rest, false) === undefined) for (let line = index + 1; line <= index + count; line += 1) secrets.set(line, kind);
    return;
  }
}

/** Numbers alone, and words in lower case, are no secret. */
const mayBeSecret = (text: string): boolean => /[A-Z]|:\/\//.test(text) || (/\d/.test(text) && /[a-z]/.test(text));

/** The text with a marker in the place of each line that looks like a secret. */
export function redactText(text: string): string {
  return redact(text.split('\n')).lines.join('\n');
}

function secretIn(line: string, opened: boolean): string | undefined {
  return plainlyIn(line, opened) ?? disguisedIn(line);
}

function plainlyIn(line: string, opened: boolean): string | undefined {
  return shapeIn(line) ?? (isAssignedSecret(line) || (opened && isSecretAlone(line)) ? 'a password or token' : undefined);
}

const shapeIn = (line: string): string | undefined =>
  issuedKeyIn(line) ?? (MAY_HAVE_SHAPE.test(line) ? SECRET_SHAPES.find(({ pattern }) => pattern.test(line))?.kind : undefined);

function disguisedIn(line: string): string | undefined {
  for (const plain of disguisesOf(line)) {
    const kind = KEY_BEGINS.test(plain) ? 'a private key' : plainlyIn(plain, false);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Follows the lines of a manifest, to know those below `data`. */
class ManifestData {
  /** The indentation of `data`; undefined outside of it. */
  #indent: number | undefined;

  holds(line: string): boolean {
    const data = MANIFEST_DATA.exec(line);
    if (data) {
      this.#indent = data[1]?.length ?? 0;
      return false;
    }
    if (this.#indent === undefined || line.trim() === '') return false;
    if (line.length - line.trimStart().length > this.#indent) return looksLike(MANIFEST_ENTRY, line);
    this.#indent = undefined;
    return false;
  }
}
