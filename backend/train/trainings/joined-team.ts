import { isDeepStrictEqual } from 'node:util';
import type { MemberSettings, TrainingConfig } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { howToSetKey } from '../../solve/run-pool.ts';
import { TeamLink } from '../team/team-link.ts';
import type { sharedSettings, TeamTerms } from '../team/team-messages.ts';
import type { TrainingCastSources } from './training-cast.ts';
import { TrainingError } from './training-error.ts';

/** The settings that all machines of a team have. */
export function sharedOf(config: TrainingConfig): TeamTerms['settings'] {
  const { steps, groupSize, maxTokens, rounds, revisionWeight, reward, ablations, adapter } = config;
  const shared: Record<keyof typeof sharedSettings, unknown> = { steps, groupSize, maxTokens, rounds, revisionWeight, reward, ablations, adapter };
  return shared as TeamTerms['settings'];
}

/** The settings of a member with those that its coordinator tells. Asks the coordinator. @throws TeamError, TrainingError */
export async function joinedConfig(
  config: TrainingConfig, { join: url, key, training }: MemberSettings, conductor: WorkerConfig,
  { clients, delay }: Pick<TrainingCastSources, 'clients'> & { readonly delay: (ms: number, signal: AbortSignal) => Promise<void> },
): Promise<TrainingConfig> {
  const keys = {
    get: async (name: string) => {
      const secret = await clients.secret(name);
      if (!secret) throw new TrainingError(`The key ${name} of this member is not set: ${howToSetKey({ key: name })}.`);
      return secret;
    },
    forget: () => {},
  };
  const link = new TeamLink({ url, key, keys, instance: 'new', delay });
  const terms = await link.terms(AbortSignal.timeout(TIMEOUT_MS));
  const { ablations: _own, ...own } = config;
  const joined = { ...own, temperature: 1, ...terms.settings, team: { join: url, key, training: training ?? terms.trainingId } };
  const { engine } = config;
  checkTerms(terms, { config: joined, model: engine === 'local' ? '' : (engine.model ?? conductor.model) });
  return joined;
}

/** For a person who waits. */
const TIMEOUT_MS = 20_000;

/** @throws TrainingError where the coordinator trains something else than this training is part of */
export function checkTerms(terms: TeamTerms, { config, model }: { readonly config: TrainingConfig; readonly model: string }): void {
  if (terms.model !== model) {
    throw new TrainingError(`The team trains "${terms.model}" and this machine would sample from "${model}": choose the same model for the Conductor, or name it in "engine.model".`);
  }
  const { team } = config;
  if (team && 'join' in team && team.training !== undefined && team.training !== terms.trainingId) {
    throw new TrainingError('The coordinator has another training under way than the one that was joined: join it with a new training.');
  }
  if (!isDeepStrictEqual(asSent(terms.settings), asSent(sharedOf(config)))) {
    throw new TrainingError('The coordinator has other settings than when this training joined it: join it again with a new training.');
  }
}

const asSent = (settings: TeamTerms['settings']): unknown => JSON.parse(JSON.stringify(settings));
