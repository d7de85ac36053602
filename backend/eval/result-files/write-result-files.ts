import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import type { Finished } from './finished.ts';
import { resultsPage } from './page/page.ts';

/** Writes what an evaluation ends with into its folder: our own files, a page, and files of other tools' forms. */
export async function writeResultFiles(folder: string, finished: Finished): Promise<void> {
  const { results, samples } = finished;
  const write = (name: string, text: string): Promise<void> => replaceFile(path.join(folder, name), text);
  await write('results.json', `${JSON.stringify(results, null, 2)}\n`);
  await write('samples.jsonl', samples.map((sample) => `${JSON.stringify(sample)}\n`).join(''));
  await write('results.html', resultsPage(finished));
}
