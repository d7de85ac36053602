import * as z from 'zod';

/* The JSON answers of Tinker's API, as far as they are read. Names are the API's. */

const id = z.string().min(1).max(4_096);
/** JSON has no NaN: servers write null. */
const logprob = z.number().nullable().transform((value) => value ?? Number.NaN);

export const capabilitiesSchema = z.object({
  supported_models: z.array(z.object({ model_name: id })).max(10_000),
});

export const sessionSchema = z.object({ session_id: id });

export const modelSchema = z.object({ model_id: id, request_id: id.optional() });

/** The result comes later, for `retrieve_future`. */
export const futureSchema = z.object({ request_id: id });

export const savedSchema = z.object({ path: z.string().regex(/^tinker:\/\/[\w.:-]+\/[\w./-]+$/).max(4_096) });

export const stepSchema = z.object({ metrics: z.record(z.string(), z.number().nullable()).nullish() });

/** The results that SkyRL 0.3.0 gives as JSON, and later servers in Protocol Buffers. */
export const sampleSchema = z.object({
  sequences: z.array(z.object({
    stop_reason: z.enum(['stop', 'length']),
    tokens: z.array(z.int().min(0)),
    logprobs: z.array(logprob),
  })),
});

export const gradientSchema = z.object({
  loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(logprob) }) })),
  metrics: z.record(z.string(), z.number().nullable()).nullish(),
});
