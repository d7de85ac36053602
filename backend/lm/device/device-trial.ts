import * as z from 'zod';

/** What a model does on a device, each of which is tried. */
export const TRIED_USES = ['full', '8-bit', '4-bit', 'training'] as const;
export type TriedUse = (typeof TRIED_USES)[number];

const tokensPerSecond = z.number().min(0);

/** What a trial of a device on this machine came to: a small model with random weights on the device and on the CPU. */
export const deviceTrialSchema = z.object({
  /** The attention that computes as on the CPU. Fused attention is preferred. */
  attention: z.enum(['fused', 'plain']),
  /** Whether float16 computes as float32 does on the CPU, apart from its rounding. */
  hasFloat16: z.boolean(),
  /** What does not compute as on the CPU, and how: the end of a sentence. */
  failures: z.partialRecord(z.enum(TRIED_USES), z.string().max(500)),
  /** Decoding of one text, in tokens per second; absent where it failed. */
  speeds: z.partialRecord(z.enum(['full', '4-bit']), z.object({ cpu: tokensPerSecond, device: tokensPerSecond })),
  seconds: z.number().min(0),
});

export type DeviceTrial = z.output<typeof deviceTrialSchema>;

/** What a session must know of the machine's device. */
export interface DeviceTraits {
  /** `plain`: attention made of plain operations, because the fused one computes wrongly here. Fused by default. */
  readonly attention?: DeviceTrial['attention'] | undefined;
  /** Whether float16 may be computed with, where not every machine has it. False by default. */
  readonly hasFloat16?: boolean | undefined;
}
