import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { PROJECT } from '../hands/setup.ts';
import { edit, fence } from '../solve/hands-team.ts';
import { outcomeOf, repaid } from '../support/compared-runs.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* A training's process is killed with SIGKILL in the middle of a rollout whose worker has hands, and the next one goes on with it. */

const BROKEN = PROJECT['src/shapes.js'];
const RIGHT = BROKEN.replace('width + height', 'width * height');
const REPLIES = [edit('src/shapes.js', 'width + height', 'width * height'), fence('run', 'cat src/shapes.js'), 'Mended.'];

const child = fileURLToPath(new URL('../../dist/test/rollout-crash-child.mjs', import.meta.url));
let server: ScriptedServer;

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('rollout-crash-child.ts', import.meta.url))], outfile: child, bundle: true, minify: true, keepNames: true, platform: 'node', format: 'esm',
    mainFields: ['module', 'main'], external: ['@vscode/ripgrep'],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  });
  // A worker's turn follows from the conversation alone.
  server = await ScriptedServer.start(({ messages }) => REPLIES[messages.filter(({ role }) => role === 'assistant').length] ?? 'Nothing more.');
});
afterAll(() => server.close());

async function newHome(): Promise<string> {
  const home = await temporaryFolder();
  for (const [file, text] of Object.entries({ ...PROJECT, 'src/shapes.js': RIGHT })) {
    await mkdir(path.dirname(path.join(home, 'project', file)), { recursive: true });
    await writeFile(path.join(home, 'project', file), text);
  }
  return home;
}

async function rollout(home: string, kill = '', count = 1): Promise<NodeJS.Signals | null> {
  const started = spawn(process.execPath, [child, home, server.baseUrl, BROKEN, RIGHT, kill, String(count)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: Buffer[] = [];
  started.stderr.on('data', (data: Buffer) => said.push(data));
  const [code, signal] = (await once(started, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0 && signal === null) throw new Error(`The rollout failed: ${Buffer.concat(said).toString()}`);
  return signal;
}

function eventsIn(home: string) {
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  try {
    expect(journal.budget.reserved('training:training')).toEqual({ usd: 0, tokens: 0 });
    return journal.read('training.0.0.0');
  } finally {
    journal.close();
  }
}

it('ends the same, with its change, and no turn is paid for twice, at whatever point of its step it is killed', async () => {
  const undisturbed = await newHome();
  expect(await rollout(undisturbed)).toBeNull();
  const expected = outcomeOf(eventsIn(undisturbed));
  expect(snapshotOf(eventsIn(undisturbed))).toMatchObject({ outcome: 'verified', rounds: [{ steps: [{ changes: [{ path: 'src/shapes.js' }] }] }] });
  for (const [kill, count] of [['after:attempt.started', 2], ['after:step.turned', 1], ['before:step.observed', 2], ['after:step.observed', 1], ['before:verify.completed', 1]] as const) {
    const home = await newHome();
    const point = `${kill}, ${count}`;
    expect(await rollout(home, kill, count), point).toBe('SIGKILL');
    expect(await rollout(home), point).toBeNull();
    const events = eventsIn(home);
    expect(outcomeOf(events), point).toEqual(expected);
    expect(repaid(events), point).toEqual([]);
    expect(events.filter(({ event }) => event.type === 'step.turned'), point).toHaveLength(2);
  }
}, 180_000);
