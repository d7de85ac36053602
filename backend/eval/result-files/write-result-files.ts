import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import { FILES } from '../evaluation/files.ts';
import { EVALPLUS_SETS, evalPlusSamples } from './evalplus-samples.ts';
import { fileNameOf } from './file-names.ts';
import type { Finished } from './finished.ts';
import { INSPECT_LOG_NAME, inspectLog, inspectLogName } from './inspect-log.ts';
import { costPlotFile } from './page/cost-plot-file.ts';
import { resultsPage } from './page/page.ts';
import { sweBenchPredictions } from './swe-bench-predictions.ts';

/** Writes what an evaluation ends with into its folder: our own files, a page, and files of other tools' forms. */
export async function writeResultFiles(folder: string, finished: Finished): Promise<void> {
  const { results, samples } = finished;
  const write = async (name: string, text: string): Promise<void> => {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, text);
  };
  await write(FILES.results, `${JSON.stringify(results, null, 2)}\n`);
  await write(FILES.samples, jsonLines(samples));
  await write(FILES.page, resultsPage(finished));
  await write(FILES.plot, costPlotFile(results));
  await removeEarlierLogs(path.join(folder, FILES.inspect));
  for (const [index, { name }] of results.contestants.entries()) {
    const fileName = fileNameOf(name, index);
    await write(`${FILES.inspect}/${inspectLogName(finished, name, fileName)}`, `${JSON.stringify(inspectLog(finished, name), null, 1)}\n`);
    for (const set of EVALPLUS_SETS) {
      const solutions = evalPlusSamples(finished, name, set);
      if (solutions.length > 0) await write(`${FILES.evalPlus}/${set.dataset}/${fileName}.jsonl`, jsonLines(solutions));
    }
    for (const [seed, predictions] of sweBenchPredictions(finished, name).entries()) {
      if (predictions.length > 0) await write(`${FILES.sweBench}/${fileName}${results.seeds > 1 ? `-seed-${seed + 1}` : ''}.jsonl`, jsonLines(predictions));
    }
  }
}

const jsonLines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Inspect wants the time in a log's name, so logs of an earlier run are not replaced but listed beside the new ones. */
async function removeEarlierLogs(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => INSPECT_LOG_NAME.test(one))) await rm(path.join(folder, name), { force: true });
}
