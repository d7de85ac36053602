import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { teamKeys } from '../../../backend/protocol/client/team-keys.ts';
import { type ScriptedAnswer, type ScriptedRequest, ScriptedServer } from '../../support/scripted-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { unequalAnswer } from '../../support/unequal-workers.ts';
import type { SimulatedTinker } from '../remote/simulated-tinker.ts';
import { freePort, Machine, settings, startTinker } from './team-setup.ts';

let folder: string;
let tinker: SimulatedTinker;
let port: number;
let workers: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
const machines: Machine[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  tinker = await startTinker(path.join(folder, 'small'));
  port = await freePort();
  script = unequalAnswer;
  workers = await ScriptedServer.start((request) => script(request));
});
afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.end();
  await workers.close();
  await tinker.close();
});

async function machine(name: string, keys: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const made = await Machine.start({ folder: path.join(folder, name), model: path.join(folder, 'small'), workersUrl: workers.baseUrl, keys });
  machines.push(made);
  return made;
}

/** A coordinator, and members with keys of their own. */
async function team(...names: readonly string[]): Promise<Machine[]> {
  const keys = teamKeys(path.join(folder, 'coordinator', 'home'));
  const coordinator = await machine('coordinator');
  const members = [];
  for (const name of names) members.push(await machine(name, { TEAM_KEY: await keys.add(name, {}) }));
  return [coordinator, ...members];
}

const coordinating = (more: Readonly<Record<string, unknown>> = {}, wait = 60) => settings(tinker.url, { team: { port, members: 1, wait, ...more } });
const joining = (more: Readonly<Record<string, unknown>> = {}) => settings(tinker.url, { steps: 9, groupSize: 9, team: { join: `http://127.0.0.1:${port}`, key: 'TEAM_KEY' }, ...more });

/** How many examples each step that the server made was learned from. */
const batches = (): number[] => [...tinker.models.values(), ...[]].flatMap(({ weights }) => weights).map((step) => step.split(' ').length - 1);

describe('a team', { timeout: 60_000 }, () => {
  it('learns from the plans of all in one batch', async () => {
    const [coordinator, ann, ben] = await team('ann', 'ben');
    const { trainingId } = await coordinator!.manager.start({ workspace: coordinator!.workspace, config: coordinating({ members: 2 }) });
    await coordinator!.until(trainingId, ({ state }) => state === 'waiting');
    const joined = [];
    for (const one of [ann!, ben!]) joined.push((await one.manager.start({ workspace: one.workspace, config: joining({ seed: joined.length + 1 }) })).trainingId);
    const training = await coordinator!.over(trainingId);
    const theirs = [await ann!.over(joined[0]!), await ben!.over(joined[1]!)];
    console.log(training.message, training.metrics, training.members, theirs.map(({ state, message, metrics }) => [state, message, metrics]), batches());
  });
});
