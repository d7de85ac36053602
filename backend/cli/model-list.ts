import { gigabytes } from '../lm/download/size-text.ts';
import { MODEL_TABLE } from '../lm/hub/model-table.ts';
import type { PulledModel } from '../lm/hub/pulled-models.ts';
import { recommendModel, type Recommendation } from '../lm/hub/recommend-model.ts';
import { measureMemory } from '../lm/process/measure-memory.ts';
import { EXIT } from './exit-codes.ts';
import type { ModelAction } from './model-action.ts';
import { pulledModels, storageFolder } from './storage.ts';
import { allPrintable, jsonText, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const NOTHING_FITS = 'This machine has too little memory for any of them.';

/** `conductor model list`: the models that were pulled, and those that are known to plan well. */
export const listModels: ModelAction = {
  options: ['json', 'storage'],
  run: async (name, { json, storage: named }, context) => {
    if (name !== undefined) throw new UsageError('"model list" takes no model.');
    const { terminal, deviceProbe, localSettings } = context;
    const storage = storageFolder(named, context);
    const pulled = await pulledModels(storage);
    const recommendation = recommendModel(await measureMemory({ storage, probe: deviceProbe }, await localSettings()));
    if (json) terminal.result(jsonText(listResult(storage, pulled, recommendation), 2));
    else printList(pulled, recommendation, terminal);
    return EXIT.ok;
  },
};

function listResult(storage: string, pulled: readonly PulledModel[], recommendation: Recommendation | undefined) {
  return {
    storage,
    pulled,
    offered: MODEL_TABLE.map(({ repo, licence, parameters, downloadBytes }) => ({ repo, licence, parameters, downloadBytes })),
    recommended: recommendation ? viewOf(recommendation) : null,
  };
}

function viewOf({ model, precision, device, neededBytes, reason }: Recommendation) {
  const isQuantized = precision === '4-bit' || precision === '8-bit';
  return { repo: model.repo, precision: isQuantized ? precision : 'full', device, neededBytes, reason };
}

function printList(pulled: readonly PulledModel[], recommendation: Recommendation | undefined, terminal: Terminal): void {
  if (pulled.length === 0) terminal.say('No model was pulled yet.');
  for (const { repo, commit, sizeBytes, folder } of allPrintable(pulled)) {
    const mark = terminal.resultStyle('green', '✓');
    terminal.result(`${mark} ${repo.padEnd(28)} ${commit.slice(0, 8)} ${gigabytes(sizeBytes).padStart(8)}  ${folder}`);
  }
  terminal.say('Known to plan well:');
  for (const { repo, parameters, downloadBytes, licence } of MODEL_TABLE) {
    const billions = `${(parameters / 1e9).toFixed(1)} billion parameters`;
    const mark = repo === recommendation?.model.repo ? 'recommended' : '';
    terminal.result(`– ${repo.padEnd(28)} ${billions}, ${gigabytes(downloadBytes).padStart(7)}, ${licence} ${mark}`.trimEnd());
  }
  terminal.say(recommendation?.reason ?? NOTHING_FITS);
}
