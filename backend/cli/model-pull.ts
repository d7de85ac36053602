import { gigabytes } from '../lm/download/size-text.ts';
import { pullModel } from '../lm/hub/pull-model.ts';
import { recommendModel } from '../lm/hub/recommend-model.ts';
import { measureMemory } from '../lm/process/measure-memory.ts';
import type { CommandContext } from './command.ts';
import { downloadProgress } from './download-text.ts';
import { EXIT } from './exit-codes.ts';
import type { ModelAction } from './model-action.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { storageFolder, writableStorage } from './storage.ts';
import { jsonText } from './terminal.ts';

/** `conductor model pull [OWNER/NAME]`: downloads a model, resuming an interrupted download. Prints its folder. */
export const pullNamedModel: ModelAction = {
  options: ['json', 'storage', 'revision', 'yes'],
  run: async (name, { json = false, storage: named, revision, yes = false }, context) => {
    const { terminal, environment, interrupted, localSettings } = context;
    const repo = name ?? (await recommended({ yes, json, storage: storageFolder(named, context) }, context));
    if (repo === undefined) return EXIT.failed;
    const storage = await writableStorage(named, context);
    const progress = new ProgressPrinter(terminal);
    try {
      const model = await pullModel({
        repo,
        revision,
        storage,
        endpoint: environment['HF_ENDPOINT'] || (await localSettings()).hubEndpoint,
        token: environment['HF_TOKEN'] || undefined,
        signal: interrupted,
        onProgress: ({ file, ...received }) => {
          progress.tell(downloadProgress(terminal.status ? `Fetching ${file}` : `Fetching ${repo}`, received));
        },
        onWait: () => terminal.say('Another process is downloading this model. Waiting for it.'),
      });
      progress.end();
      terminal.say(`${repo} is downloaded: ${gigabytes(model.sizeBytes)}, commit ${model.commit}.`);
      terminal.result(json ? jsonText(model, 2) : model.folder);
      return EXIT.ok;
    } catch (error) {
      progress.end();
      if (interrupted.aborted) terminal.say('The downloaded part is kept; the same command goes on from there.');
      throw error;
    }
  },
};

/** The largest model that runs well on this machine, once the user agrees to its download. */
async function recommended(
  { yes, json, storage }: { readonly yes: boolean; readonly json: boolean; readonly storage: string }, context: CommandContext,
): Promise<string | undefined> {
  const { terminal, interrupted, deviceProbe, localSettings } = context;
  const found = recommendModel(await measureMemory({ storage, probe: deviceProbe }, await localSettings()));
  if (!found) throw new Error('This machine has too little memory for any model known to plan well.');
  const { repo, downloadBytes, licence } = found.model;
  terminal.say(found.reason);
  if (yes || (!json && (await terminal.ask?.(`Download ${gigabytes(downloadBytes)} (${licence})?`, interrupted)))) return repo;
  terminal.say(`To fetch it: conductor model pull ${repo}`);
  return undefined;
}
