import { redactText } from '../../common/secrets/secrets.ts';
import { withoutData, type Picture } from '../../protocol/pictures.ts';
import { VERSION } from '../../protocol/product-version.ts';
import type { ModelMessage } from '../../protocol/methods.ts';
import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import { planPromptOf } from '../plan-prompt.ts';
import { promptOf } from '../step-prompt.ts';

/** Increase it with every change that readers of the file must know about; docs/export.md describes the format. */
export const RUN_FORMAT = 'conductor-run/1';

/** A run as a file: what the panel shows, and the prompts. */
export interface ExportedRun {
  readonly format: typeof RUN_FORMAT;
  /** Version of Conductor that wrote the file. */
  readonly conductor: string;
  readonly run: RunSnapshot;
  /** The prompts of each round's last plan and of each step, counted from 0. `step` is null for a plan. */
  readonly prompts: readonly { readonly round: number; readonly step: number | null; readonly messages: readonly ModelMessage[] }[];
}

/**
 * The run without secrets, to share. Lines that look like secrets are removed as they are from prompts, and the keys of its workers are
 * removed from every text.
 * @param keys values of the keys
 */
export function exportedRun(run: RunSnapshot, keys: readonly string[]): ExportedRun {
  const prompts = run.rounds.flatMap((round) => {
    const asked = round.steps.filter(({ state }) => state !== 'pending' && state !== 'skipped');
    const sent = [
      { step: null, messages: planPromptOf(run, round.index) },
      ...asked.map(({ index }) => ({ step: index, messages: promptOf(run, round.index, index) })),
    ];
    return sent.flatMap(({ step, messages = [] }) => (messages.length > 0
      ? [{ round: round.index, step, messages: messages.map(({ role, content }) => ({ role, content })) }]
      : []));
  });
  const told: ExportedRun = { format: RUN_FORMAT, conductor: VERSION, run: withoutPictureData(withPlainAddresses(run)), prompts };
  // The longest first: one key may contain another.
  const longestFirst = keys.filter((key) => key !== '').toSorted((a, b) => b.length - a.length);
  return everyText(told, (text) => redactText(longestFirst.reduce((rest, key) => rest.replaceAll(key, '[key]'), text)));
}

/** Pictures are named and not shown: nothing removes secrets from them. */
function withoutPictureData(run: RunSnapshot): RunSnapshot {
  const named = <T extends { readonly pictures?: readonly Picture[] | undefined }>(of: T): T =>
    (of.pictures ? { ...of, pictures: withoutData(of.pictures) } : of);
  const { request, earlier } = run;
  return { ...run, request: named(request), ...(earlier && { earlier: { ...earlier, exchanges: earlier.exchanges.map(named) } }) };
}

/** Server addresses without credentials, query and fragment. */
function withPlainAddresses(run: RunSnapshot): RunSnapshot {
  const plain = <T extends { readonly baseUrl?: string | undefined }>(worker: T): T => {
    if (worker.baseUrl === undefined) return worker;
    const { origin, pathname } = new URL(worker.baseUrl);
    return { ...worker, baseUrl: `${origin}${pathname}` };
  };
  const { worker } = run.policy;
  return { ...run, pool: run.pool.map(plain), policy: { ...run.policy, ...(worker && { worker: plain(worker) }) } };
}

/** The value with each string replaced. */
function everyText<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => everyText(item, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, everyText<unknown>(item, change)])) as T;
}
