import { absoluteModelName } from '../lm/process/find-model-folder.ts';
import { EXIT } from './exit-codes.ts';
import type { ModelAction } from './model-action.ts';
import { jsonText, printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `conductor model choose MODEL`: uses a local model as the Conductor and as a worker. */
export const chooseModel: ModelAction = {
  options: ['json', 'no-worker'],
  run: async (name, { json, 'no-worker': noWorker = false }, { terminal, connect, currentFolder }) => {
    if (!name) throw new UsageError('Name one model: conductor model choose OWNER/NAME');
    const model = await absoluteModelName(name, currentFolder);
    const client = await connect();
    try {
      const { file, conductor, workers } = await client.request('model/choose', { model, worker: !noWorker });
      if (json) terminal.result(jsonText({ file, conductor: conductor ?? null, workers }, 2));
      const tasks = noWorker ? 'plays the Conductor' : 'plays the Conductor and answers as a worker';
      terminal.say(printable(`"${conductor ?? model}" ${tasks} from now on: ${file}`));
      return EXIT.ok;
    } finally {
      client.close();
    }
  },
};
