import { expect, it } from 'vitest';
import { decodeGradientResult, decodeSampleResult, encodeGradientRequest } from '../../../backend/train/engines/remote/messages/gradient-messages.ts';

/* The bytes are those of the SDK's definitions (tinker 0.25.0) and of SkyRL 0.4.0's serializer, written by Python for the same values. */
const REQUEST = '0a076d6f64656c5f3110031a640a100a0e0a0c05000000060000000700000012300a0d7461726765745f746f6b656e73121f0a180600000000000000070000000000000008000000000000001802220103121e0a077765696768747312130a0c000000000000003f0000803f1801220103220d63726f73735f656e74726f70792a1d0a12636c69705f6c6f775f7468726573686f6c64119a9999999999e93f3001';
const SAMPLE = '0a14120801000000020000001a08000000bf0000c0bf0a0e08011204030000001a04000000c012080000c07f000080bf';
const RESULT = '0a067363616c6172127612360a086c6f6770726f6273122a0a0c000000bf000080bf000000c01218000000000000000008000000000000000c000000000000001801123a0a10656c656d656e74776973655f6c6f737312260a080000803f000000401218000000000000000004000000000000000800000000000000180118021a0c0a016111000000000000f83f';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

it('a request for gradients has the bytes that the SDK writes', () => {
  const bytes = encodeGradientRequest({
    modelId: 'model_1', sequence: 3, loss: 'cross_entropy', lossOptions: { clip_low_threshold: 0.8 }, forwardOnly: true,
    data: [{ tokens: [5, 6, 7], targets: [6, 7, 8], inputs: { weights: [0, 0.5, 1] } }],
  });
  expect(Buffer.from(bytes).toString('hex')).toBe(REQUEST);
});

it('samples and gradients are read as SkyRL writes them', () => {
  expect(decodeSampleResult(hex(SAMPLE))).toEqual({
    sequences: [{ stopReason: 'stop', tokens: [1, 2], logprobs: [-0.5, -1.5] }, { stopReason: 'length', tokens: [3], logprobs: [-2] }],
  });
  expect(decodeGradientResult(hex(RESULT))).toEqual({ logprobs: [[-0.5, -1], [-2]], metrics: { a: 1.5 } });
});

it('what is cut off is an error', () => {
  expect(() => decodeSampleResult(hex(SAMPLE).slice(0, -3))).toThrow();
  expect(() => decodeGradientResult(hex(RESULT).slice(0, 40))).toThrow();
});
