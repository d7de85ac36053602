import { expect, it } from 'vitest';
import { AdapterError } from '../../../backend/lm/adapter/errors.ts';
import { ImpossiblePrefixError } from '../../../backend/lm/automaton/continuing.ts';
import { AutomatonTooLargeError } from '../../../backend/lm/automaton/growing-automaton.ts';
import { UnusableVocabularyError } from '../../../backend/lm/automaton/token-effects.ts';
import { CheckpointError, UnsupportedModelError } from '../../../backend/lm/checkpoint/errors.ts';
import { ModelRequestError } from '../../../backend/lm/decoder/request-error.ts';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import { RuntimeMissingError } from '../../../backend/lm/load-error.ts';
import { ModelFailedError } from '../../../backend/lm/process/errors.ts';
import { fromWireError, toWireError, wireErrorSchema } from '../../../backend/lm/process/wire-error.ts';
import { QuantizedCacheError } from '../../../backend/lm/quantize/errors.ts';
import { TokenizerError, TokenizerMissingError } from '../../../backend/lm/tokenizer/errors.ts';

const message = 'What happened and what to do.';

it.each([
  new ModelRequestError(message),
  new RuntimeMissingError(message),
  new UnusableVocabularyError('it has none.'),
  new AutomatonTooLargeError(7),
  new ImpossiblePrefixError('abc'),
  new UnsupportedModelError('config.json', 'rope_scaling', 'is not plain'),
  new CheckpointError({ kind: 'wrong-shape', file: '/a/b', tensor: 't', message }),
  new CheckpointError({ kind: 'truncated', file: '/a/b', message }),
  new AdapterError({ folder: '/a', field: 'r', message }),
  new TokenizerError({ kind: 'chat-template', file: '/a/b', message }),
  new TokenizerMissingError('/a/tokenizer.json'),
  new QuantizedCacheError({ kind: 'no-space', folder: '/a', neededBytes: 5, freeBytes: 3, message }),
  new DeviceError('out-of-memory', message),
])('$name comes out of the process as it went in', (error) => {
  const arrived = fromWireError(wireErrorSchema.parse(structuredClone(toWireError(error))));
  expect(arrived).toBeInstanceOf(error.constructor);
  expect({ ...arrived, message: arrived.message }).toEqual({ ...error, message: error.message });
});

it('any other error comes out as a failure of the model that says what it was, whatever it was', () => {
  for (const thrown of [new TypeError('x is not\na function'), 'x is not\na function']) {
    const arrived = fromWireError(wireErrorSchema.parse(toWireError(thrown)));
    expect(arrived).toBeInstanceOf(ModelFailedError);
    expect(arrived.message).toBe('The model could not answer: x is not a function');
  }
});

it.each(['constructor', 'toString', '__proto__'])('a name that only JavaScript knows (%s) is a failure of the model like any other', (name) => {
  expect(fromWireError({ name, message, data: {} })).toBeInstanceOf(ModelFailedError);
  expect(toWireError(Object.defineProperty(new Error('odd'), 'name', { value: name }))).toMatchObject({ name: 'ModelFailedError' });
});
