import { describe, expect, it } from 'vitest';
import { spokenMessages, type SentPart } from '../../extension/model-provider/spoken-messages.ts';

const text = (value: string): SentPart => ({ kind: 'text', text: value });
const data = (mimeType: string, value: string): SentPart => ({ kind: 'data', mimeType, bytes: new TextEncoder().encode(value) });
const call = (id: string): SentPart => ({ kind: 'call', id, name: 'read', input: { path: id } });
const result = (id: string, ...parts: SentPart[]): SentPart => ({ kind: 'result', id, parts });

describe('messages of VS Code for the backend', () => {
  it('keep text, calls with their ids, and what the tools returned, before the text beside it', () => {
    expect(spokenMessages([
      { role: 'system', parts: [text('Be brief.')] },
      { role: 'user', parts: [text('Mend '), text('both')] },
      { role: 'assistant', parts: [text('I look.'), call('a'), call('b')] },
      { role: 'user', parts: [text('Hurry.'), result('a', text('one'), text(' more')), result('b')] },
    ])).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Mend both' },
      { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'a', name: 'read', arguments: '{"path":"a"}' }, { id: 'b', name: 'read', arguments: '{"path":"b"}' }] },
      { role: 'tool', callId: 'a', content: 'one more' },
      { role: 'tool', callId: 'b', content: '' },
      { role: 'user', content: 'Hurry.' },
    ]);
  });

  it('tell of a picture that there was one, in a result of a tool, too', () => {
    const [asked, answered] = spokenMessages([{ role: 'user', parts: [text('What is this?'), data('image/png', 'x')] }, { role: 'user', parts: [result('a', data('image/jpeg', 'x'))] }]);
    expect(asked?.content).toBe('What is this?\n[image/png: not shown, since workers are sent text alone]\n');
    expect(answered).toEqual({ role: 'tool', callId: 'a', content: '\n[image/jpeg: not shown, since workers are sent text alone]\n' });
  });

  it('hand on data that is text, and no marks for caches', () => {
    const [message] = spokenMessages([{ role: 'user', parts: [data('cache_control', 'ephemeral'), data('application/json', '{"a":1}'), data('text/markdown', '# A'), data('application/vnd.x+json', '[]'), data('stateful_marker', 'x')] }]);
    expect(message?.content).toBe('\n{"a":1}\n\n# A\n\n[]\n');
  });

  it('leave out thinking, and a message that has nothing else', () => {
    expect(spokenMessages([{ role: 'assistant', parts: [{ kind: 'thinking' }] }, { role: 'user', parts: [] }, { role: 'assistant', parts: [{ kind: 'thinking' }, text('So.')] }]))
      .toEqual([{ role: 'assistant', content: 'So.' }]);
  });

  it('show parts that nobody knows yet as they are', () => {
    const [message] = spokenMessages([{ role: 'user', parts: [{ kind: 'unknown', value: { node: 1 } }, { kind: 'unknown', value: 'words' }, { kind: 'unknown', value: undefined }] }]);
    expect(message?.content).toBe('\n{"node":1}\n\nwords\n\n\n');
  });
});
