import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { AGENT_NAMES, KNOWN_AGENTS } from '../../backend/protocol/known-agents.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { allowedHost } from '../../backend/verify/sandbox/network/hosts.ts';
import { programIn } from '../../backend/common/program-in.ts';
import { findAgents } from '../../backend/wiring/agents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('finds the agents whose program is on PATH and can be run', async () => {
  const folder = await temporaryFolder();
  const [here, other] = [path.join(folder, 'here'), path.join(folder, 'other')];
  for (const one of [here, other]) await mkdir(one);
  for (const file of [path.join(here, 'codex-acp'), path.join(other, 'opencode'), path.join(other, 'gemini')]) await writeFile(file, '#!/bin/sh\n');
  await chmod(path.join(here, 'codex-acp'), 0o755);
  await chmod(path.join(other, 'opencode'), 0o755);
  expect(await findAgents([here, 'relative', other].join(path.delimiter))).toEqual(['opencode', 'codex']);
  expect(await findAgents('')).toEqual([]);
  expect(await programIn('opencode', [here, other].join(path.delimiter))).toBe(path.join(other, 'opencode'));
  expect(await programIn(path.join(other, 'gemini'), here)).toBeUndefined();
  expect(await programIn('./opencode', other)).toBeUndefined();
});

it.each(AGENT_NAMES)('knows settings of %s that a worker can have', (name) => {
  const worker = workerConfigSchema.parse({ id: name, provider: 'acp', model: 'default', agent: KNOWN_AGENTS[name].agent });
  expect(worker.agent?.hosts.map((host) => allowedHost(host)?.port)).toEqual(worker.agent?.hosts.map(() => 443));
});
