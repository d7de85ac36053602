import { gigabytes } from '../lm/download/size-text.ts';
import { modelOffers } from '../lm/hub/model-offers.ts';
import type { PulledModel } from '../lm/hub/pulled-models.ts';
import { measureMemory } from '../lm/process/measure-memory.ts';
import { EXIT } from './exit-codes.ts';
import type { ModelAction } from './model-action.ts';
import { pulledModels, storageFolder } from './storage.ts';
import { allPrintable, jsonText, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const NOTHING_FITS = 'This machine has too little memory for any of them.';

/** `conductor model list`: downloaded models, and models known to plan well. */
export const listModels: ModelAction = {
  options: ['json', 'storage'],
  run: async (name, { json, storage: named }, context) => {
    if (name !== undefined) throw new UsageError('"model list" takes no model.');
    const { terminal, deviceProbe, localSettings } = context;
    const storage = storageFolder(named, context);
    const pulled = await pulledModels(storage);
    const offers = modelOffers(await measureMemory({ storage, probe: deviceProbe }, await localSettings()));
    if (json) terminal.result(jsonText({ storage, pulled, offered: offers.offered, recommended: offers.recommended ?? null }, 2));
    else printList(pulled, offers, terminal);
    return EXIT.ok;
  },
};

function printList(pulled: readonly PulledModel[], { offered, recommended }: ReturnType<typeof modelOffers>, terminal: Terminal): void {
  if (pulled.length === 0) terminal.say('No models downloaded yet.');
  for (const { repo, commit, sizeBytes, folder } of allPrintable(pulled)) {
    const mark = terminal.resultStyle('green', '✓');
    terminal.result(`${mark} ${repo.padEnd(28)} ${commit.slice(0, 8)} ${gigabytes(sizeBytes).padStart(8)}  ${folder}`);
  }
  terminal.say('Known to plan well:');
  for (const { repo, parameters, downloadBytes, licence } of offered) {
    const billions = `${(parameters / 1e9).toFixed(1)} billion parameters`;
    const mark = repo === recommended?.repo ? 'recommended' : '';
    terminal.result(`– ${repo.padEnd(28)} ${billions}, ${gigabytes(downloadBytes).padStart(7)}, ${licence} ${mark}`.trimEnd());
  }
  terminal.say(recommended?.reason ?? NOTHING_FITS);
}
