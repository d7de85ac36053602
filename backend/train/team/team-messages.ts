import * as z from 'zod';
import { trainingSettingsSchema } from '../../protocol/training.ts';

/*
 * What the machines of a team say to each other, as JSON. A member asks; the coordinator answers. Everything is validated where it arrives: schemas hold for
 * any training, `check-group.ts` for the one that is under way.
 */

/** Of these messages. Both sides have to have the same. */
export const TEAM_PROTOCOL = 2;

/** Part of each path. */
export const TEAM_PATH = '/team/v1';

/** Of a group: 256 plans of 8,192 tokens are some 60 MB. */
export const MAX_GROUP_BYTES = 64 * 1024 * 1024;
/** Of every other message. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** The most groups of a member in a step. */
const MOST_GROUPS = 128;
/** The most seconds and dollars that anything is said to take. */
const MOST = 1e9;

const stepNumber = z.int().min(0).max(1_000_000);
/** As a training server names saved weights. */
const samplerPath = z.string().regex(/^tinker:\/\/[\w.:-]+\/[\w./-]+$/).max(4_096);
/** The member's own training. A key is of one at a time. */
const instance = z.string().regex(/^[\w.-]{1,100}$/);

/** The settings that are the same for all machines of a team. */
export const sharedSettings = { steps: true, groupSize: true, maxTokens: true, rounds: true, revisionWeight: true, reward: true, ablations: true, adapter: true } as const;

/** What a member is told when it joins. */
export const teamTermsSchema = z.object({
  protocol: z.literal(TEAM_PROTOCOL),
  /** The coordinator's training. */
  trainingId: z.string().min(1).max(200),
  /** The training server's name of the model. */
  model: z.string().min(1).max(4_096),
  /** How many versions old plans may be. */
  oldest: z.int().min(0).max(64),
  settings: trainingSettingsSchema.pick(sharedSettings),
});
export type TeamTerms = z.infer<typeof teamTermsSchema>;

/** For which step groups are, and the version that their plans are sampled from: an older one where a machine is ahead of the step under way. */
const share = { step: stepNumber, version: stepNumber } as const;
export type Share = z.infer<z.ZodObject<typeof share>>;

/** What a member asks again and again. The answer comes when it differs from what the member knows, or after a while. */
export const teamAskSchema = z.strictObject({
  instance,
  /** Of the state that it knows. */
  revision: z.string().max(64).optional(),
  /** What it is at work on. */
  working: z.strictObject(share).optional(),
  /** The place of a version that the training server does not have any more. */
  lost: samplerPath.optional(),
});
export type TeamAsk = z.infer<typeof teamAskSchema>;

export const teamStateSchema = z.object({
  /** Another one for each other state, also after a restart. */
  revision: z.string().max(64),
  /** Steps done: the version to sample from. */
  step: stepNumber,
  /** Absent where that is the model as it was. */
  sampler: samplerPath.optional(),
  /** Where the training server keeps its weights. */
  weights: samplerPath.optional(),
  /** Whether groups of this version can still go into the next step. */
  isOpen: z.boolean(),
  /** The member's groups that need not be handed in again. */
  held: z.array(z.object({ step: stepNumber, place: z.int().min(0) })).max(MOST_GROUPS * 130),
  /** Present when no further step is made. */
  over: z.object({ hasLearned: z.boolean() }).optional(),
});
export type TeamState = z.infer<typeof teamStateSchema>;

const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unparseable') }),
  z.strictObject({ kind: z.literal('judged'), verified: z.boolean(), passes: z.boolean().optional(), score: z.number().min(0).max(1), costUsd: z.number().min(0).max(MOST) }),
  z.strictObject({ kind: z.literal('infrastructure') }),
]);

const tokens = z.array(z.int().min(0).max(2 ** 31 - 1)).max(1_000_000);

/** The plans of one task: token ids, verdicts and figures, and no text. */
export const givenGroupSchema = z.strictObject({
  instance,
  ...share,
  /** Which of the member's groups for this step it is, of how many. */
  place: z.int().min(0).max(MOST_GROUPS - 1),
  of: z.int().min(1).max(MOST_GROUPS),
  /** How long the member took for all of them. */
  seconds: z.number().min(0).max(MOST),
  /** Each different prompt once. */
  prompts: z.array(tokens.min(1)).min(1).max(256),
  completions: z.array(z.strictObject({
    /** Its index in `prompts`. */
    prompt: z.int().min(0).max(255),
    tokens,
    logprobs: z.array(z.number().max(0)).max(1_000_000),
    finishReason: z.enum(['stop', 'length']),
    /** Absent where the plan was not carried out. */
    outcome: outcomeSchema.optional(),
    expected: z.strictObject({ chance: z.number().min(0).max(1), odds: z.number().min(1e-6).max(1) }).optional(),
    /** Of its revision. */
    revised: outcomeSchema.optional(),
  })).min(1).max(256),
});
export type GivenGroup = z.infer<typeof givenGroupSchema>;

/** `held`: it counts, or counted. `late`: it is older than plans may be. */
export const takenSchema = z.object({ taken: z.enum(['held', 'late']) });
export type Taken = z.infer<typeof takenSchema>['taken'];

/** With every status that is not 200. */
export const refusalSchema = z.object({ error: z.string().max(2_000) });
