import { expect, it } from 'vitest';
import { gatherersInTurn } from '../../../backend/lab/gym/gatherers-in-turn.ts';
import { workerConfigSchema } from '../../../backend/protocol/worker-config.ts';

const gathererOf = (name: string) => ({
  prompt: (task: string) => ({ messages: [{ role: 'user' as const, content: `${name}: ${task}` }] }),
  outcomes: async () => [{ kind: 'judged' as const, verified: true, score: 1, costUsd: name.length }],
  poolOf: () => [workerConfigSchema.parse({ id: name, provider: 'openai-compatible', model: name, baseUrl: 'http://127.0.0.1:1/v1' })],
});

it('gives the tasks of a step to one gatherer and the next, with the pool, the prompt and the outcomes of the same one', async () => {
  const gatherer = gatherersInTurn([gathererOf('a'), gathererOf('bb')]);
  const { signal } = new AbortController();
  for (const [place, name] of ['a', 'bb', 'a', 'bb'].entries()) {
    const at = { step: 3, place };
    expect(gatherer.poolOf(at).map(({ id }) => id)).toEqual([name]);
    expect(gatherer.prompt('fix it', at).messages[0]?.content).toBe(`${name}: fix it`);
    expect(await gatherer.outcomes('fix it', [], at, signal)).toEqual([expect.objectContaining({ costUsd: name.length })]);
  }
});
