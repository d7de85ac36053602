import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Simulation } from '../protocol/simulation.ts';
import { readArguments, whole } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText, printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  seed: { type: 'string' },
  beside: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/**
 * `conductor simulate [TASKS…]`: simulated workers are the pool until Ctrl+C. The backend holds them for this connection only, so they are
 * gone however this process ends.
 */
export const simulateCommand: Command = async (args, { terminal, connect, currentFolder, interrupted, interruptMeans }) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const seed = values.seed === undefined ? 1 : whole(values.seed, '--seed', { from: 0, to: 1_000_000_000 });
  const tasks = await Promise.all(positionals.map((file) => existing(path.resolve(currentFolder, file))));
  const client = await connect();
  const ended = Promise.withResolvers<number>();
  let begun = false;
  let isOver = false;
  const lost = (): void => {
    if (isOver) return;
    terminal.say('The backend has ended, and the simulation with it.');
    ended.resolve(EXIT.failed);
  };
  const unsubscribe = client.on('pool/changed', () => {
    if (!begun || isOver) return;
    client.request('simulation/get', {}).then(({ simulation }) => {
      if (simulation || isOver) return;
      terminal.say('The simulation was ended from elsewhere.');
      ended.resolve(EXIT.ok);
    }).catch(lost);
  });
  const leave = (): void => ended.resolve(EXIT.ok);
  try {
    const { workers } = await client.request('pool/get', {});
    const real = workers.filter(({ worker }) => worker.enabled && !worker.simulated).map(({ worker }) => worker.id);
    const simulation = await client.request('simulation/begin', { tasks, seed, beside: values.beside ?? false });
    begun = true;
    if (values.json) terminal.result(jsonText(simulation));
    else tell(simulation, real, terminal);
    interruptMeans('Ending the simulation');
    interrupted.addEventListener('abort', leave, { once: true });
    if (interrupted.aborted) leave();
    client.closed.then(lost, lost);
    const code = await ended.promise;
    isOver = true;
    if (interrupted.aborted) {
      await client.request('simulation/end', {});
      terminal.say('The simulation has ended: its workers are out of the pool, and what was adopted from it is taken back.');
    }
    return code;
  } finally {
    interrupted.removeEventListener('abort', leave);
    unsubscribe();
    client.close();
  }
};

function tell({ workers, tasks, seed, beside, folder }: Simulation, real: readonly string[], terminal: Terminal): void {
  const names = workers.map(({ id }) => id).join(', ');
  const others = real.length === 0 ? '' : beside ? ` They answer beside ${real.join(', ')}.` : ` Meanwhile nothing is sent to ${real.join(', ')}.`;
  terminal.say(terminal.style('yellow', printable(`SIMULATED: until Ctrl+C, the workers are ${names}. They have made-up skills and cost nothing.${others}`)));
  terminal.say(printable(`They know the gym's tasks${seed === 1 ? '' : ` of seed ${seed}`}${tasks.length === 0 ? '' : ` and those of ${tasks.join(', ')}`}, and nothing else. None of this shows anything about real models.`));
  terminal.say(printable([
    'Now, in another terminal:',
    `  conductor eval gym${seed === 1 ? '' : ` --seed ${seed}`} -c alone,conductor:conductor-mini`,
    `  conductor train --workspace ${folder} --config ${path.join(folder, 'conductor.train.json')} --yes`,
    '  conductor train adopt TRAINING',
    '  and the first one again.',
  ].join('\n')));
}

/** @throws UsageError */
async function existing(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`There is no file ${file}.`);
  return file;
}
