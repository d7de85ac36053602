import { expect, it } from 'vitest';
import { SuggestionState } from '../../../extension/suggest/suggestion-state.ts';

it('tells what went wrong until something works again', () => {
  const state = new SuggestionState();
  const kinds: string[] = [];
  state.changed.on(() => kinds.push(state.activity.kind));
  state.switched({ isOn: true, isTrusted: true });
  state.begin()({ problem: 'No worker is ready.' });
  expect(state.activity).toEqual({ kind: 'problem', message: 'No worker is ready.' });
  const first = state.begin();
  const second = state.begin();
  first('cancelled');
  expect(state.activity.kind).toBe('asking');
  second('answered');
  expect(kinds).toEqual(['ready', 'asking', 'problem', 'asking', 'asking', 'asking', 'ready']);
});

it('is off where somebody switched it off, and restricted where the workspace is not trusted', () => {
  const state = new SuggestionState();
  expect(state.activity.kind).toBe('off');
  state.switched({ isOn: true, isTrusted: false });
  expect(state.activity.kind).toBe('restricted');
});
