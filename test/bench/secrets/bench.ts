import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { redact } from '../../../backend/common/secrets/secrets.ts';

/*
 * How many secrets of a corpus are found, and how often ordinary code is taken for one. See README.md beside this file.
 */

interface Row {
  readonly rule: string;
  /** Texts with a secret, and texts that only look like one. */
  readonly tps: readonly string[] | null;
  readonly fps: readonly string[] | null;
}

const { values } = parseArgs({ options: { corpus: { type: 'string' }, code: { type: 'string' }, list: { type: 'boolean', default: false } } });
if (values.corpus === undefined && values.code === undefined) throw new Error('Name a corpus (--corpus FILE.jsonl), a folder of code (--code DIR), or both.');
if (values.corpus !== undefined) measureCorpus(values.corpus);
if (values.code !== undefined) measureCode(values.code);

function hasSecret(text: string): boolean {
  return redact(text.split(/\r?\n/)).secrets.size > 0;
}

function measureCorpus(file: string): void {
  const rows = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Row);
  const found = rows.map(({ rule, tps }) => ({ rule, found: (tps ?? []).filter(hasSecret).length, of: tps?.length ?? 0 }));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const alike = rows.flatMap(({ fps }) => fps ?? []);
  console.log(`secrets found: ${sum(found.map((row) => row.found))} of ${sum(found.map(({ of }) => of))}`);
  console.log(`rules of which all are found: ${found.filter((row) => row.found === row.of).length} of ${rows.length}`);
  console.log(`look-alikes taken for a secret: ${alike.filter(hasSecret).length} of ${alike.length}`);
  if (values.list) for (const row of found) if (row.found < row.of) console.log(`  ${row.rule}: ${row.found} of ${row.of}`);
}

function measureCode(folder: string): void {
  let lines = 0;
  let taken = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.parentPath.split(path.sep).includes('.git')) continue;
    const text = readFileSync(path.join(entry.parentPath, entry.name), 'utf8');
    if (text.length > 1024 * 1024 || text.includes('\0')) continue;
    const read = text.split('\n');
    const { secrets } = redact(read);
    lines += read.length;
    taken += secrets.size;
    if (values.list) for (const [line, kind] of secrets) console.log(`  ${path.join(entry.parentPath, entry.name)}:${line} ${kind}`);
  }
  console.log(`ordinary lines taken for a secret: ${taken} of ${lines} (${((taken / lines) * 100_000).toFixed(1)} in 100,000)`);
}
