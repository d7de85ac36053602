import { access, realpath } from 'node:fs/promises';
import path from 'node:path';
import { programIn } from '../common/program-in.ts';
import { AGENT_NAMES, KNOWN_AGENTS, type AgentName } from '../protocol/known-agents.ts';
import type { RunFolders } from '../verify/files/run-folder.ts';
import { basePythonOf } from '../verify/runners/base-python.ts';
import { HostError } from '../verify/sandbox/network/hosts.ts';
import { SandboxUnavailableError, type Sandbox } from '../verify/sandbox/sandbox.ts';
import { shellQuote } from '../verify/sandbox/shell-quote.ts';
import type { RunAgent } from '../workers/adapters/acp/run-agent.ts';
import { WorkerError } from '../workers/errors.ts';
import { AgentHomeError, copyAgentHome } from './agent-home.ts';

export interface AgentRunnerOptions {
  readonly sandbox: Pick<Sandbox, 'run'>;
  readonly folders: RunFolders;
  /** Where programs are searched. */
  readonly searchPath: string;
  /** The person's, from which an agent gets copies of its own configuration. */
  readonly homeFolder: string;
}

/**
 * Starts agents in the sandbox: in their place or in an empty folder, with a home of their own that holds copies of their configuration and
 * login, and with their hosts alone within reach. All of it is gone when the agent has ended.
 */
export function agentRunner({ sandbox, folders, searchPath, homeFolder }: AgentRunnerOptions): RunAgent {
  return async ({ worker, key, place, timeoutMs, signal }, talk) => {
    const { id, agent } = worker;
    if (!agent) throw new WorkerError({ kind: 'invalid-request', message: `Worker "${id}" is no agent.` });
    const [name = '', ...args] = agent.command;
    const program = await programIn(name, searchPath);
    if (program === undefined) {
      throw new WorkerError({ kind: 'not-found', message: `Worker "${id}": the program "${name}" was not found on PATH; install it, or change "command" in workers.json.` });
    }
    const own = await folders.create();
    try {
      await copyAgentHome(agent.home, homeFolder, own.temporary);
      const folder = place?.folder ?? (await own.makeWorkspace());
      const { exitCode, exceeded, stderr } = await sandbox.run({
        command: `exec ${[program, ...args].map(shellQuote).join(' ')}`,
        cwd: folder,
        temporary: own.temporary,
        hidden: place?.hidden ?? [],
        readable: [...(place?.readable ?? []), ...(await foldersOf(program, homeFolder))],
        programFolders: place?.programFolders ?? [],
        environment: { ...place?.environment, CI: 'true', GIT_TERMINAL_PROMPT: '0', PAGER: 'cat', ...agent.env, ...(key !== undefined && worker.key !== undefined && { [worker.key]: key }) },
        reach: agent.hosts,
        talk: (input, output) => talk({ input, output, folder }),
        timeoutMs, signal, sandboxed: true,
      });
      return { exitCode, exceeded, stderr };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SandboxUnavailableError) {
        throw new WorkerError({ kind: 'not-found', message: `Worker "${id}": an agent works in a sandbox, and there is none: ${error.message}`, cause: error });
      }
      if (error instanceof HostError || error instanceof AgentHomeError) {
        throw new WorkerError({ kind: 'invalid-request', message: `Worker "${id}": ${error.message}`, cause: error });
      }
      throw error;
    } finally {
      await own.remove();
    }
  };
}

/** The known agents whose program is on PATH, in the order in which they are offered. */
export async function findAgents(searchPath: string): Promise<AgentName[]> {
  const found = await Promise.all(AGENT_NAMES.map((name) => programIn(KNOWN_AGENTS[name].agent.command[0], searchPath)));
  return AGENT_NAMES.filter((_name, index) => found[index] !== undefined);
}

/** The folders that a program needs: its own, and that of the packages among which it lies. A program right in the home folder gets no more than itself. */
async function foldersOf(program: string, homeFolder: string): Promise<string[]> {
  const real = await realpath(program).catch(() => program);
  const isApart = (folder: string): boolean => path.relative(folder, homeFolder).startsWith('..');
  const own = [program, real].map((file) => {
    const [before, ...packages] = file.split('/node_modules/');
    if (packages.length > 0) return `${before}/node_modules`;
    const folder = path.dirname(file);
    return isApart(folder) ? folder : file;
  });
  return [...own, ...(await environmentOf(real)).filter(isApart)];
}

/** The environment of Python in which a program lies, and the Python that it was made of; nothing for other programs. */
async function environmentOf(program: string): Promise<string[]> {
  const environment = path.dirname(path.dirname(program));
  try {
    await access(path.join(environment, 'pyvenv.cfg'));
    return [environment, ...(await basePythonOf(environment))];
  } catch {
    return [];
  }
}
