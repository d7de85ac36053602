import { ModelClient } from '../../../../backend/lm/process/model-client.ts';
import { modelFolder } from '../../../golden/golden.ts';
import { MODEL_PROCESS } from '../model-process-script.ts';

/* A backend in the middle of a long generation: prints the model's process and waits to be killed. Its argument is its storage. */

const client = new ModelClient({
  settings: { folder: modelFolder('qwen2-tiny'), device: 'cpu', precision: 'full', adapters: false, storage: process.argv[2] as string },
  script: MODEL_PROCESS,
  chooseDevice: async () => ({ device: 'cpu', reasons: [] }),
  idleMs: 600_000,
  threads: 1,
});
let told = false;
for (;;) {
  await client.generate({
    prompts: [[1]], samples: 1, seeds: [1], maxTokens: 1_000, temperature: 1,
    onTokens: () => {
      if (!told) process.stdout.write(`${client.pid}`);
      told = true;
    },
  });
}
