import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeSampleProject } from '../../../backend/simulator/sample-project.ts';
import type { SimulatedCall, SimulatedTurn } from '../../../backend/simulator/simulated-model.ts';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';
import { signature } from '../../../backend/simulator/worker-texts.ts';
import type { FlowBug } from './flat-project.ts';

/*
 * What simulated workers do with their hands in a project of the simulator's. The first step reads the file with the bug, changes it in a way
 * that leaves its test red, runs the tests, and mends its change. A step that reads another one runs a command that does not end.
 */

/** The command of a step that reads another one. */
export const ENDLESS = 'sleep 3600';

export interface HandsProject {
  readonly writeProject: (folder: string) => Promise<FlowBug>;
  readonly hands: HandsRule;
}

export function handsProject(seed: number): HandsProject {
  let known: { readonly bug: FlowBug; readonly source: string } | undefined;
  return {
    writeProject: async (folder) => {
      const bug = await writeSampleProject(folder, { seed });
      known = { bug, source: await readFile(path.join(folder, bug.path), 'utf8') };
      return bug;
    },
    hands: ({ name }, { messages }) => {
      if (!known) throw new Error('There is no project yet.');
      const { bug, source } = known;
      const taken = messages.filter(({ role }) => role === 'assistant').length;
      const readsOthers = messages.some(({ content }) => content.includes('<step number='));
      const turns = readsOthers ? [turn('I look whether it holds for long.', 'run', { command: ENDLESS })] : mending(bug, source);
      return turns[taken] ?? { text: `${signature(name)}\n\nThe change is made, and the tests pass with it.`, calls: [] };
    },
  };
}

function mending({ path: file, correctSource }: FlowBug, source: string): SimulatedTurn[] {
  const guess = `${source}// The comparison below may be wrong.\n`;
  return [
    turn('I read the module first.', 'read', { path: file }),
    turn('I try the nearest cause.', 'edit', { path: file, search: source, replace: guess }),
    turn('', 'test', {}),
    turn('The test is still red, so that was not it.', 'edit', { path: file, search: guess, replace: correctSource }),
    turn('', 'test', {}),
  ];
}

const turn = (text: string, name: string, given: object): SimulatedTurn =>
  ({ text, calls: [{ name, arguments: JSON.stringify(given) } satisfies Omit<SimulatedCall, 'id'>] });
