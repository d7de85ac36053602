import { stat } from 'node:fs/promises';
import path from 'node:path';
import { AsyncMemo } from '../common/async-memo.ts';
import { RecentlyUsed } from '../common/recently-used.ts';
import { outlineAdapter } from '../lm/adapter/read-adapter.ts';
import { readGeometry } from '../lm/checkpoint/open-checkpoint.ts';
import { openTokenizer, type Tokenizer } from '../lm/tokenizer/tokenizer.ts';
import type { ServedModels } from '../workers/adapters/served/served-model.ts';

/** A file of an adapter says by its time and size whether it is the one that was read. */
const FILES = ['adapter_config.json', 'adapter_model.safetensors'] as const;
/** Adapters of the Conductors that somebody serves, and those before. */
const VERSIONS_KEPT = 16;

/**
 * Reads what this machine has of served models, each once: a vocabulary of 151,936 blocks the thread for a third of a second, and an adapter has
 * hundreds of megabytes.
 * @param folderOf the folder (absolute) of a model. @throws with a sentence for people
 */
export function servedModels(folderOf: (model: string) => Promise<string>): ServedModels {
  const tokenizers = new AsyncMemo<string, Tokenizer>();
  const versions = new RecentlyUsed<string>(VERSIONS_KEPT);
  return {
    tokenizerOf: async (model) => {
      const folder = await folderOf(model);
      return await tokenizers.get(folder, () => openTokenizer(folder));
    },
    versionOf: async (model, adapter) => {
      const folder = await folderOf(model);
      const states = await Promise.all(FILES.map((name) => stat(path.join(adapter, name)).then(({ mtimeMs, size }) => [mtimeMs, size], () => undefined)));
      const read = JSON.stringify([folder, adapter, states]);
      const known = versions.get(read);
      if (known !== undefined) return known;
      const { version } = await outlineAdapter(adapter, await readGeometry(folder));
      versions.set(read, version);
      return version;
    },
  };
}
