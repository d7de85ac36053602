/*
 * Secrets that are recognised by what they are assigned to: `apiKey = "…"`, `"password": "…"`, `System.setProperty("TOKEN", "…")`,
 * `<token>…</token>`. The name says that the value is secret, and the value has to look random. Every repetition is bounded or cannot
 * backtrack far: a line may be a megabyte long.
 */

const SECRET_NAME =
  'passw(?:or)?d|passphrase|passwd|pwd|secret|token|api[-_.]?key|app[-_.]?key|access[-_.]?key|private[-_.]?key|auth[-_.]?key|account[-_.]?key'
  + '|encryption[-_.]?key|signing[-_.]?key|master[-_.]?key|client[-_.]?key|license[-_.]?key|credential|authorization|bearer|x-api-key|webhook';

/** The rest of the name, then what stands between a name and its value: a type, an operator, an opening quote. */
const BETWEEN =
  '[\\w.-]{0,32}[\\\\"\'`\\])]{0,4}(?:(?:\\s{0,4}:\\s{0,4}|\\s{1,4})[A-Za-z][\\w<>.]{0,20})?'
  + '\\s{0,8}(?:[:?|.+&-]{0,3}[=:]>?|->|,|>|\\(|\\sis\\s|\\svalue=|\\s)\\s{0,8}(?:[A-Za-z]{0,2}\\\\?["\'`]|[({[]{0,2}["\'`]?)';
const VALUE = '([^\\s"\'`<>,;(){}[\\]\\\\]{8,512})';

/** What every pattern below needs. Most lines end here. */
const WORTH_A_LOOK = /pass|pwd|secret|token|key|credential|auth|bearer|webhook|basic|\s-(?:u|-user|-proxy-user)\b/i;

const ASSIGNMENT = new RegExp(`(?:${SECRET_NAME})${BETWEEN}${VALUE}`, 'gi');
/** A line that ends with a name whose value stands in the next line. */
const OPENED = new RegExp(`(?:${SECRET_NAME})[\\w.-]{0,32}["'\`]?\\s{0,8}(?:>|[:=(]{1,2}>?|=>)\\s{0,8}[("'\`|]?\\s{0,8}$`, 'i');
const ALONE = /^\s*["'`]?([A-Za-z0-9+/=_.~@:|-]{12,512})["'`]?[,;)]?\s*$/;

/** `curl -u name:password`, `--user name:password` */
const COMMAND_USER = /(?:\bcurl\b.{0,200}|^)\s(?:-u|--user|--proxy-user|-U)[=\s]{0,4}["']?([^\s:"']{0,80}["']?:["']?[^\s"']{3,128})/;
/** RFC 7617: the name and the password in base64. */
const BASIC = /\bBasic\s{1,8}([A-Za-z0-9+/]{12,}={0,2})/;

/** A password that somebody chose need not look random: `<add key="Password" value="…" />`, `password = "…"` with signs or digits in it. */
const CHOSEN = /\b(?:(?:[\w-]{0,20}_)?(?:passw(?:or)?d|passphrase)|(?:cleartext)?password)["']?\s{0,8}(?:=|:|\svalue=)\s{0,8}["']([^"'\s<>{}()$]{8,64})["']/i;

/** Names of what only identifies: a random value is no secret there. */
const IDENTIFIES = /(?:id|ids|identifier|sha\d*|hash|checksum|digest|integrity|fingerprint|length|size|url|uri|path|file|public[-_]?key|public[-_]?token)["'`\])]{0,4}\s{0,8}(?:[:=,>]|=>)/i;

export function isAssignedSecret(line: string): boolean {
  if (!WORTH_A_LOOK.test(line)) return false;
  for (const match of line.matchAll(ASSIGNMENT)) {
    const value = match[1] ?? '';
    const name = match[0].slice(0, match[0].length - value.length);
    if (looksRandom(value) && !IDENTIFIES.test(name) && !/basic\s*$/i.test(name)) return true;
  }
  const chosen = CHOSEN.exec(line)?.[1];
  if (chosen !== undefined && looksChosen(chosen)) return true;
  const user = COMMAND_USER.exec(line)?.[1];
  if (user !== undefined && !/^[$<]|:["']?(?:[$<*]|pass|password|secret|x+$)/i.test(user)) return true;
  const basic = BASIC.exec(line)?.[1];
  return basic !== undefined && isCredentials(Buffer.from(basic, 'base64').toString('latin1'));
}

/** A name and a password that is not the word for one, as examples have it. */
function isCredentials(text: string): boolean {
  const password = /^[\x20-\x7e]*?:([\x20-\x7e]*)$/.exec(text)?.[1];
  return password !== undefined && !/^(?:.*pass.*|x+|\*+|secret|)$/i.test(password);
}

/** Whether the line ends in the middle of an assignment whose value would be a secret. */
export function opensSecret(line: string): boolean {
  return /[:=(>"'`|]\s{0,8}$/.test(line.slice(-10)) && OPENED.test(line.slice(-200));
}

/** Whether the line is the value of the assignment that the line before has opened. */
export function isSecretAlone(line: string): boolean {
  const value = ALONE.exec(line)?.[1];
  return value !== undefined && looksRandom(value);
}

/** Letters of both cases with digits, or letters with signs: no word of a program, and none of a test either. */
function looksChosen(text: string): boolean {
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9_.:/\\-]/].filter((pattern) => pattern.test(text)).length;
  return classes >= 3 && !PLACEHOLDER.test(text);
}

/** What stands for a value in examples and templates. */
const PLACEHOLDER = /x{5}|\*{3}|0{6}|1234567890|abcdef.{0,3}ghi|example|your[-_]|placeholder|changeme|redacted|\.{3}|^\$|%[({]|^%\w+%$|\{\{/i;

/** The number of characters from which on a random text can be a key. */
const SHORTEST = 15;

/**
 * Whether a text looks random: letters and digits in turn, and a Shannon entropy of more than three bits per character. Identifiers have
 * few digits, and placeholders repeat characters.
 */
function looksRandom(text: string): boolean {
  if (text.length < SHORTEST || PLACEHOLDER.test(text) || !/[A-Za-z]/.test(text)) return false;
  const digits = text.match(/\d/g)?.length ?? 0;
  const changes = text.match(/[A-Za-z]\d|\d[A-Za-z]/g)?.length ?? 0;
  if (digits < 2 || changes < 2) return false;
  // A path or a dotted name with a version in it.
  if (/^[a-z]+:\/\//i.test(text) || /^(?:[A-Za-z]+\d{0,2}[./_-]){2,}[A-Za-z]+\d{0,2}$/.test(text)) return false;
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits > 3;
}
