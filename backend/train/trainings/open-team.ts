import { access } from 'node:fs/promises';
import path from 'node:path';
import type { TrainingConfig } from '../../protocol/training.ts';
import type { SharedModel } from '../engines/engine-start.ts';
import type { TrainEngine } from '../engines/engine.ts';
import type { CheckpointStore, TrainingCheckpoint } from '../grpo/checkpoint-store.ts';
import type { Givers } from '../grpo/givers.ts';
import type { GrpoTrainerOptions } from '../grpo/grpo-trainer.ts';
import { contribute, type ContributeParts } from '../team/contribute.ts';
import { Coordinator } from '../team/coordinator.ts';
import { openCoordinatorServer } from '../team/coordinator-server.ts';
import { KeptSamples } from '../team/kept-samples.ts';
import { Outbox } from '../team/outbox.ts';
import { TeamLink } from '../team/team-link.ts';
import { TEAM_PROTOCOL } from '../team/team-messages.ts';
import type { Task } from '../tasks/task.ts';
import { checkTerms, sharedOf } from './joined-team.ts';
import { Cancelled, Interrupted } from './stop-reasons.ts';
import { TrainingError } from './training-error.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';

/** What a training does with other machines. */
export interface Team {
  /** Of a coordinator: the groups of its members. */
  readonly givers?: Givers | undefined;
  /** Of a coordinator: no further step is made. */
  readonly end?: Coordinator['end'] | undefined;
  /** Of a member: its part, in place of steps of its own. */
  readonly contribute?: ((parts: Gathering, options: GrpoTrainerOptions) => ReturnType<typeof contribute>) | undefined;
  /** Of a member: fetches what the team has learned, so that it can be adopted here. */
  readonly bringHome?: ((engine: TrainEngine, store: CheckpointStore, step: number) => Promise<void>) | undefined;
  /** Has somebody told when others are waited for. */
  waiting(tell: (message: string | undefined) => void): void;
  close(): Promise<void>;
}

/** A member asks again at once; whoever does not is away. */
const DISMISSED_WITHIN_MS = 5_000;

/** What every training has to gather groups. */
type Gathering = Pick<ContributeParts<Task>, 'engine' | 'store' | 'tasks' | 'gatherer' | 'critic' | 'onGroup' | 'onStep'>;

interface Opened {
  readonly shared: SharedModel | undefined;
  readonly from: TrainingCheckpoint | undefined;
}

export const isMember = ({ team }: Pick<TrainingConfig, 'team'>): boolean => team !== undefined && 'join' in team;

/** The team of a training; undefined where this machine trains alone. @throws TeamError, TrainingError */
export async function openTeam(parts: TrainingRunParts, options: TrainingRunOptions, { shared, from }: Opened): Promise<Team | undefined> {
  const { team } = options.training.config;
  if (!team) return undefined;
  if (!shared) throw new TrainingError('A team trains on a server that all of its machines reach: name it in "engine" (docs/outgrow.md).');
  return 'join' in team ? openMember(parts, options, { shared, from, ...team }) : await openCoordinator(parts, options, { shared, from, ...team });
}

async function openCoordinator(
  { teamKeys, log = () => {}, delay, now }: TrainingRunParts, { training: { trainingId, config, members: given = [] }, signal, report }: TrainingRunOptions,
  { shared, from, port, members, wait, oldest }: { readonly shared: SharedModel; readonly from: TrainingCheckpoint | undefined; readonly port: number; readonly members: number; readonly wait: number; readonly oldest: number },
): Promise<Team> {
  if (!teamKeys) throw new TrainingError('This process keeps no keys of members, so it cannot coordinate a team.');
  let tell: (message: string | undefined) => void = () => {};
  const { groupSize, maxTokens } = config;
  const coordinator = new Coordinator({
    terms: { protocol: TEAM_PROTOCOL, trainingId, model: shared.model, oldest, settings: sharedOf(config) },
    limits: { groupSize, maxTokens, vocabulary: shared.vocabulary, contextLength: shared.contextLength },
    members, wait, given, counted: from?.counted ?? [], isResumed: from !== undefined, delay, now,
    latest: () => shared.latest, saved: () => shared.saved, renew: () => shared.renew(signal),
    onChange: (changed) => report({ members: [...changed] }),
    onWaiting: (message) => tell(message),
  });
  const server = await openCoordinatorServer({ coordinator, keys: teamKeys, port, log });
  return {
    givers: coordinator,
    end: (step, over) => coordinator.end(step, over),
    waiting: (told) => { tell = told; },
    close: async () => {
      // After a pause or a failure it may go on, so members wait.
      if (signal.reason instanceof Cancelled) coordinator.cancel();
      await coordinator.dismissed(DISMISSED_WITHIN_MS);
      await server.close();
    },
  };
}

function openMember(
  { delay, now }: TrainingRunParts, { training: { trainingId: instance, config }, folder, keys, signal }: TrainingRunOptions,
  { shared, from, join: url, key }: { readonly shared: SharedModel; readonly from: TrainingCheckpoint | undefined; readonly join: string; readonly key: string },
): Team {
  let tell: (message: string | undefined) => void = () => {};
  const link = new TeamLink({ url, key, keys, instance, delay, onWaiting: (message) => tell(message) });
  return {
    contribute: async (parts, trainer) => {
      const terms = await link.terms(signal, { isPatient: true });
      checkTerms(terms, { config, model: shared.model });
      return await contribute({
        ...parts, shared, instance, now, oldest: terms.oldest,
        link: {
          state: (ask, either) => link.state(ask, either),
          give: (group, either) => link.give(group, either),
          // A backend that ends goes on soon; whoever pauses does not say when.
          leave: async () => { if (!(signal.reason instanceof Interrupted)) await link.leave(); },
        },
        outbox: new Outbox(path.join(folder.path, 'outbox')),
        samplesOf: ({ step, version }) => new KeptSamples(parts.engine, path.join(folder.path, 'samples', `${step}.${version}`)),
      }, trainer, { from, signal });
    },
    bringHome: async (engine, store, step) => {
      const name = store.versionName(step);
      shared.sampleAlone();
      if (shared.saved !== undefined && !(await isThere(path.join(store.versions, name)))) await engine.saveForSampler(name);
    },
    waiting: (told) => { tell = told; },
    close: async () => {},
  };
}

const isThere = (folder: string): Promise<boolean> => access(folder).then(() => true, () => false);
