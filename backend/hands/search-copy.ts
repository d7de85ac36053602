import { RipgrepUnavailableError, type Ripgrep, type RipgrepEnd } from '../context/ripgrep.ts';
import { isSecretFile } from '../common/secrets/secret-files.ts';
import { redact, SECRET_MARKER, type Redacted } from '../common/secrets/secrets.ts';
import { readTextFile } from '../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../verify/files/workspace-path.ts';
import { placeInCopy } from './place-in-copy.ts';

const MAX_HITS = 100;
const MAX_PATTERN = 1_000;

/** What a search of the copy finds, as `path:line:text`. A pattern that is no regular expression is searched for as it is. */
export async function searchCopy(
  ripgrep: Ripgrep, folder: string, { pattern, path: written }: { readonly pattern: string; readonly path?: string | undefined }, signal: AbortSignal,
): Promise<string> {
  if (pattern === '' || pattern.length > MAX_PATTERN) return 'Not done: a pattern has 1 to 1,000 characters.';
  const place = await placeOf(folder, written);
  if ('refused' in place) return `Not done: ${place.refused}`;
  const hits: string[] = [];
  let count = 0;
  const search = (how: readonly string[]): Promise<RipgrepEnd> => ripgrep.run({
    args: [
      '--line-number', '--no-heading', '--with-filename', '--color', 'never', '--hidden', '--no-require-git', '--no-ignore-parent', '--no-messages',
      '--max-columns', '300', '--max-columns-preview', '--max-filesize', '1M', '--sort', 'path', '--glob', '!**/.git', ...how, '--regexp', pattern, '--', place.path,
    ],
    folder, separator: '\n', signal,
    onRecord: (line) => {
      const hit = line.replace(/^\.\//, '');
      if (isSecretFile(hit.split(':', 1)[0] ?? '')) return;
      count += 1;
      if (hits.length < MAX_HITS) hits.push(hit);
    },
  });
  let end: RipgrepEnd | 'unavailable';
  try {
    end = await search([]);
  } catch (error) {
    if (!(error instanceof RipgrepUnavailableError)) throw error;
    end = await search(['--fixed-strings']).catch((again: unknown) => {
      if (again instanceof RipgrepUnavailableError) return 'unavailable' as const;
      throw again;
    });
  }
  if (end === 'unavailable') return 'Not done: there is no search on this machine. Use "run" with grep.';
  if (hits.length === 0) return 'Nothing was found.';
  const told = await withoutSecrets(folder, hits);
  const more = count > hits.length ? [`[${count} lines were found; these are the first ${hits.length}]`] : [];
  return [...told, ...more, ...(end === 'complete' ? [] : ['[the search was stopped: it took too long or found too much]'])].join('\n');
}

async function placeOf(folder: string, written = ''): Promise<{ readonly path: string } | { readonly refused: string }> {
  const plain = written.trim().replace(/^\.\/|\/+$/g, '');
  if (plain === '') return { path: './' };
  const place = await placeInCopy(folder, plain);
  if ('refused' in place) return place;
  return place.kind === 'absent' ? { refused: `There is no "${place.path.slice(0, 200)}" here.` } : { path: `./${place.path}` };
}

/** Whether a line belongs to a secret can be seen in its file alone. */
async function withoutSecrets(folder: string, hits: readonly string[]): Promise<string[]> {
  const files = new Map<string, Redacted['secrets']>();
  const told: string[] = [];
  for (const hit of hits) {
    const [, file = '', line = ''] = /^(.*?):(\d+):/.exec(hit) ?? [];
    const secrets = files.get(file) ?? (await secretsIn(folder, file));
    files.set(file, secrets);
    told.push(secrets.has(Number(line)) ? `${file}:${line}:${SECRET_MARKER}` : hit);
  }
  return told;
}

async function secretsIn(folder: string, file: string): Promise<Redacted['secrets']> {
  const checked = checkWorkspacePath(file);
  if (checked.refused !== undefined || (await refusalOnDisk(folder, checked.path)) !== undefined) return new Map();
  const found = await readTextFile(folder, checked.path);
  return found.kind === 'text' ? redact(found.text.split('\n')).secrets : new Map();
}
