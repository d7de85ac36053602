import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installSkyRl } from './installed-skyrl.ts';
import { SkyRlServer } from './skyrl-server.ts';

/*
 * node with-node.mjs node test/train/remote/skyrl/serve-skyrl.ts MODEL [PROCESSES]: a SkyRL for `../skyrl.test.ts` until Ctrl+C. With two
 * processes or more, Ray starts them, and each has its share of the weights (fully sharded data parallel); only SkyRL 0.4.0 can.
 */
const [, , model, processes = '1'] = process.argv;
const count = Number(processes);
if (model === undefined || !Number.isInteger(count) || count < 1) throw new Error('Name the folder of a model, and a number of processes if they are several.');
const spread = {
  use_ray: true, num_processes: count, fully_sharded_data_parallel_size: count, ray_pg_bundles: Array.from({ length: count }, () => ({ CPU: 1 })),
};
const server = await SkyRlServer.start({
  installed: await installSkyRl(), model: path.resolve(model), folder: await mkdtemp(path.join(tmpdir(), 'skyrl-')),
  settings: { max_lora_adapters: 8, max_lora_rank: 16, train_micro_batch_size: count, sample_max_num_sequences: 4, ...(count > 1 && spread) },
  environment: { RAY_ENABLE_UV_RUN_RUNTIME_ENV: '0', RAY_USAGE_STATS_ENABLED: '0' },
});
console.log(`CONDUCTOR_TEST_TINKER=${server.url}`);
process.once('SIGINT', () => void server.kill());
