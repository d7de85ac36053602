/*
 * Detects secrets by file names and by patterns of lines. A false positive costs little; a key sent to a provider costs a lot. The patterns
 * follow the documentation of the issuers (named next to each), with slightly lower lengths. Every repetition in a pattern is bounded or
 * cannot backtrack far: a line may be a megabyte long.
 */

export const SECRET_MARKER = '[left out: looks like a secret]';

/** Names of files that always count as secret; compared in lower case. */
const SECRET_FILES: readonly RegExp[] = [
  /^\.env$/, /^\.env\.(?!(?:.*\.)?(?:example|sample|template|dist|defaults)$)/, /^\.envrc$/, /\.env$/,
  /\.(?:pem|key|p12|pfx|p8|jks|keystore|ppk|kdbx|gpg)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/, /^ssh_host_.*_key$/,
  /^\.?(?:npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg|vault-token|boto|s3cfg|my\.cnf)$/, /^_netrc$/,
  /^credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml))?$/, /^(?:client_secret|service[-_]?account).*\.json$/,
  /^secrets?(?:\.[\w-]+)?\.(?:json|ya?ml|toml|ini|env|properties|xml)$/,
  /^kubeconfig$/, /\.tfstate(?:\.backup)?$/, /\.tfvars(?:\.json)?$/,
];

/** Folders in which every file is a secret. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.azure', '.kube']);

/** Whether a path, relative with forward slashes, names a file that is never sent. */
export function isSecretFile(path: string): boolean {
  const segments = path.toLowerCase().split('/');
  const name = segments.pop() ?? '';
  if (name === 'config.json' && segments.at(-1) === '.docker') return true;
  return segments.some((segment) => SECRET_FOLDERS.has(segment)) || SECRET_FILES.some((pattern) => pattern.test(name));
}

const SECRET_SHAPES: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  // OpenAI (sk-, sk-proj-), Anthropic (sk-ant-), OpenRouter (sk-or-), DeepSeek (sk-)
  { kind: 'a model provider\'s key', pattern: /\bsk-(?=[A-Za-z0-9_-]{0,200}\d)[A-Za-z0-9_-]{20,}/ },
  { kind: 'a Google key', pattern: /\bAIza[A-Za-z0-9_-]{35}/ },
  { kind: 'a Hugging Face token', pattern: /\bhf_[A-Za-z0-9]{30,}/ },
  // AWS: access key ids of users (AKIA) and of temporary credentials (ASIA)
  { kind: 'an AWS key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/ },
  // The secret access key: 40 characters of base64, sometimes with almost no digits.
  { kind: 'an AWS key', pattern: /secret_?access_?key['"]?\s{0,8}[=:]\s{0,8}['"]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/i },
  // GitHub: ghp_, gho_, ghu_, ghs_, ghr_, and fine-grained tokens
  { kind: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})/ },
  { kind: 'a GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{18,}/ },
  { kind: 'a Slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/ },
  { kind: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{30,}/ },
  { kind: 'a Stripe key', pattern: /\b[sr]k_live_[A-Za-z0-9]{16,}/ },
  { kind: 'a signed token', pattern: /\beyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10}/ },
  // RFC 6750, section 2.1; a placeholder has no digit.
  { kind: 'a bearer token', pattern: /\bBearer\s{1,8}(?=[A-Za-z0-9._~+/-]{0,200}\d)[A-Za-z0-9._~+/-]{20,}/i },
  { kind: 'an Azure key', pattern: /\bAccountKey=[A-Za-z0-9+/]{40,}/ },
  {
    kind: 'an address with a password',
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"`]{1,64}:(?![$<{*%])[^\s/@'"`]{3,128}@[\w[]/i,
  },
];

/** `apiKey = "…"`, `"password": "…"`: counts if the value looks random. */
const ASSIGNMENT = new RegExp(
  '(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential)[\\w-]{0,32}'
  + '[\'"]?\\s{0,8}(?:=|:|=>|:=)\\s{0,8}[\'"`]?([A-Za-z0-9+/=_.~-]{20,512})', 'i',
);

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
/** A key without an end marker continues while its lines look like key data. */
const KEY_CONTINUES = /^[A-Za-z0-9+/=:\s"'`,\\-]{16,}$/;

export interface Redacted {
  readonly lines: readonly string[];
  /** The kinds of secrets that the replaced lines look like, by line number from 1. */
  readonly secrets: ReadonlyMap<number, string>;
}

/** Replaces lines that look like a secret with a marker. The number of lines stays the same. */
export function redact(lines: readonly string[]): Redacted {
  const secrets = new Map<number, string>();
  let inKey = false;
  const redacted = lines.map((line, index) => {
    if (inKey && !KEY_ENDS.test(line) && !KEY_CONTINUES.test(line) && line.trim() !== '') inKey = false;
    const kind = inKey || KEY_BEGINS.test(line) ? 'a private key' : secretIn(line);
    if (KEY_BEGINS.test(line)) inKey = true;
    if (KEY_ENDS.test(line)) inKey = false;
    if (kind === undefined) return line;
    secrets.set(index + 1, kind);
    return SECRET_MARKER;
  });
  return { lines: redacted, secrets };
}

function secretIn(line: string): string | undefined {
  const shape = SECRET_SHAPES.find(({ pattern }) => pattern.test(line));
  if (shape) return shape.kind;
  const value = ASSIGNMENT.exec(line)?.[1];
  return value !== undefined && looksRandom(value) ? 'a password or token' : undefined;
}

/**
 * Whether a text looks random: several letters and digits, and a Shannon entropy of more than three bits per character. Identifiers have
 * few digits, and placeholders repeat characters.
 */
function looksRandom(text: string): boolean {
  if ((text.match(/\d/g) ?? []).length < 3 || (text.match(/[A-Za-z]/g) ?? []).length < 3) return false;
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits > 3;
}
