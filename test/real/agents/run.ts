import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AGENTS, modelOf, type Agent } from './agents.ts';
import { edits, type Seen } from './editing.ts';
import { outputOf } from './output-of.ts';

/*
 * Whether real agents complete a loop of tools against the simulated servers, which then speak tools as the real ones do. Each gets a project,
 * a home and an environment of its own: nobody's login is read.
 *
 *     npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli
 *     node with-node.mjs node test/real/agents/run.ts --agents FOLDER
 */

const WANTED = 'hello, quiet fox';

const { values } = parseArgs({ options: { agents: { type: 'string' } } });
if (values.agents === undefined) throw new Error('Name the folder in which the agents are installed: --agents FOLDER');
const programs = path.resolve(values.agents, 'node_modules/.bin');

async function tryAgent(agent: Agent): Promise<boolean> {
  const { name, wire } = agent;
  const program = path.join(programs, agent.program);
  if (!(await access(program).then(() => true, () => false))) {
    console.log(`– ${name}: not installed`);
    return true;
  }
  const root = await mkdtemp(path.join(tmpdir(), 'conductor-agent-'));
  const [home, project] = [path.join(root, 'home'), path.join(root, 'project')];
  await Promise.all([home, project].map((folder) => mkdir(folder)));
  const file = path.join(project, 'greeting.txt');
  await writeFile(file, 'hello, loud fox\n');
  const seen: Seen = { turns: 0, results: 0 };
  const server = await modelOf(agent, edits({ file, wanted: WANTED }, seen));
  try {
    const place = { url: server.url, home, project };
    await agent.prepare?.(place);
    const question = 'Change greeting.txt so that it says hello to the quiet fox.';
    const output = await outputOf(program, agent.args(question), { cwd: project, env: { PATH: process.env['PATH'] ?? '', HOME: home, ...agent.env(place) } });
    const isChanged = (await readFile(file, 'utf8')).trim() === WANTED;
    const isTold = output.includes('Done: the file is changed.');
    const facts = `${wire}, ${seen.turns} turns, ${seen.results} results, file ${isChanged ? 'changed' : 'as it was'}`;
    console.log(`${isChanged && isTold ? '✓' : '✗'} ${name}: ${facts}`);
    if (!isTold) console.log(output.slice(-2_000));
    return isChanged && isTold;
  } finally {
    await server.close();
    await rm(root, { recursive: true, force: true });
  }
}

let isFine = true;
for (const agent of AGENTS) isFine = (await tryAgent(agent)) && isFine;
process.exitCode = isFine ? 0 : 1;
