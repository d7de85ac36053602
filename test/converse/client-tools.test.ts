import { expect, it } from 'vitest';
import { ClientTools } from '../../backend/converse/client-tools.ts';
import type { SpokenMessage } from '../../backend/protocol/conversation.ts';

/* Two runs of one session that wait for the same id: some models count their calls anew in each answer. */

const call = (path: string) => ({ id: 'call_0', name: 'read', arguments: JSON.stringify({ path }) });
const returned = (path: string): SpokenMessage[] => [
  { role: 'user', content: 'Mend it' }, { role: 'assistant', content: '', toolCalls: [call(path)] }, { role: 'tool', callId: 'call_0', content: `What ${path} holds` },
];

function waiting(...paths: readonly string[]): ClientTools {
  const tools = new ClientTools();
  for (const [index, path] of paths.entries()) tools.expect(`run ${index}`, 's', [call(path)], undefined);
  return tools;
}

it('gives results to the run that called what the messages say', () => {
  const tools = waiting('a', 'b', 'c');
  expect(['a', 'b', 'c'].map((path) => tools.claimed('s', returned(path), () => true)?.runId)).toEqual(['run 0', 'run 1', 'run 2']);
});

it('gives them to the one that answers what is asked where several called the same', () => {
  expect(waiting('a', 'a').claimed('s', returned('a'), (runId) => runId === 'run 0')?.runId).toBe('run 0');
});

it('gives them to the one that waits where the program has written the arguments in another way', () => {
  const [question, , result] = returned('a');
  const spaced: SpokenMessage = { role: 'assistant', content: '', toolCalls: [{ ...call('a'), arguments: '{"path": "a", "all": false}' }] };
  expect(waiting('a').claimed('s', [question!, spaced, result!], () => true)?.runId).toBe('run 0');
});
