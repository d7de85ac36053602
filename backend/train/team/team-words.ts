import type { TrainingConfig } from '../../protocol/training.ts';

/** Why a team cannot train so; one sentence. */
export function teamProblem({ team, engine, loss }: Pick<TrainingConfig, 'team' | 'engine' | 'loss'>): string | undefined {
  if (!team) return undefined;
  if (engine === 'local') return 'A team trains on a server that all of its machines reach: name it in "engine" (docs/outgrow.md), or leave out "team".';
  if ('port' in team && team.oldest > 0 && loss.importanceLimit === 0) {
    return 'Plans of older versions need weights against what has changed since: set "loss.importanceLimit" above 0, or "team.oldest" to 0.';
  }
  return undefined;
}

/** What a person is told before anything leaves or comes in. */
export function teamTerms({ team }: Pick<TrainingConfig, 'team'>): readonly string[] {
  if (!team) return [];
  if ('port' in team) {
    return [
      `This machine coordinates a team: on 127.0.0.1:${team.port} it takes plans with their verdicts from whoever has a key (conductor train key add NAME), and believes what members say of their own tests.`,
      'Members are told the model, how many steps and plans there are and what they are rewarded for, and where the training server keeps the weights. Nothing of this project goes to them.',
    ];
  }
  return [
    `The coordinator ${new URL(team.join).origin} gets, for each plan of this project: the token ids of its prompt and of the plan, their log-probabilities, the verdict, what it cost, and how long this machine took. It gets no text, no file, no worker's name or answer, and no key but ${team.key}.`,
    'Token ids are text to whoever has the model\'s tokenizer, which is public: with them go your questions, the parts of files that these quote, and your plans.',
    'What leaves lies in the folder "outbox" of the training as it leaves.',
  ];
}
