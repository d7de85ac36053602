import { stat } from 'node:fs/promises';
import path from 'node:path';
import { agent, PROTOCOL_VERSION, RequestError, type AgentApp, type AgentContext, type ClientCapabilities, type McpServer } from '@agentclientprotocol/sdk';
import { VERSION } from '../../protocol/product-version.ts';
import { RPC_CODES } from '../../protocol/request-error.ts';
import type { CommandContext } from '../command.ts';
import { printable } from '../terminal.ts';
import type { EditorFiles } from './write-change.ts';
import { AcpSession, COMMANDS, type AcpSettings } from './session.ts';
import { MODES, REVIEWS, SessionFiles, type KeptSession } from './session-files.ts';

/*
 * Conductor as an agent of the Agent Client Protocol, version 1 (https://agentclientprotocol.com): a thin client of the backend, as the
 * command line is one. An editor starts it, and a person asks. Nothing is written to the project that the person, or the session's mode,
 * has not allowed.
 */

export interface AcpParts extends Pick<CommandContext, 'connect' | 'openVerification' | 'conductorFolder'> {
  readonly settings: AcpSettings;
}

/** Serves one connection. */
export class AcpServer {
  readonly #parts: AcpParts;
  readonly #files: SessionFiles;
  readonly #sessions = new Map<string, AcpSession>();
  readonly #prompts = new Set<Promise<unknown>>();
  #can: ClientCapabilities = {};

  constructor(parts: AcpParts) {
    this.#parts = parts;
    this.#files = new SessionFiles(parts.conductorFolder);
  }

  /** Cancels what is at work, and waits until the backend knows. */
  async end(): Promise<void> {
    for (const session of this.#sessions.values()) session.cancel();
    await Promise.allSettled(this.#prompts);
  }

  app(): AgentApp {
    return agent({ name: 'conductor' })
      .onRequest('initialize', ({ params }) => {
        this.#can = params.clientCapabilities ?? {};
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: 'conductor', title: 'Conductor', version: VERSION },
          // Keys are the workers': nobody logs in here.
          authMethods: [],
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { embeddedContext: true, image: true, audio: false },
            mcpCapabilities: { http: false, sse: false },
            sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
          },
        };
      })
      .onRequest('authenticate', () => {
        throw RequestError.invalidParams(undefined, 'There is nothing to log in to: each worker has its own key. "conductor worker list" in a terminal shows them.');
      })
      .onRequest('session/new', async ({ params, client }) => {
        await checkFolder(params.cwd);
        const session = this.#open(crypto.randomUUID(), {
          cwd: path.normalize(params.cwd), title: '', updatedAt: new Date().toISOString(), mode: 'ask', review: this.#parts.settings.review, runs: [],
        }, client, params.mcpServers);
        return { sessionId: session.id, ...settingsOf(session) };
      })
      .onRequest('session/load', async ({ params, client }) => {
        const session = await this.#takeUp(params.sessionId, params.cwd, client, params.mcpServers);
        await told(() => session.replay());
        return settingsOf(session);
      })
      .onRequest('session/resume', async ({ params, client }) => settingsOf(await this.#takeUp(params.sessionId, params.cwd, client, params.mcpServers ?? [])))
      .onRequest('session/list', async ({ params: { cwd } }) => {
        const sessions = await this.#files.list();
        const wanted = cwd === undefined || cwd === null ? sessions : sessions.filter((session) => session.cwd === path.normalize(cwd));
        return { sessions: wanted.map(({ id, cwd: folder, title, updatedAt }) => ({ sessionId: id, cwd: folder, title, updatedAt })) };
      })
      .onRequest('session/set_mode', async ({ params: { sessionId, modeId } }) => {
        await this.#session(sessionId).set({ mode: oneOf(MODES, modeId, 'mode') });
        return {};
      })
      .onRequest('session/set_config_option', async ({ params }) => {
        const session = this.#session(params.sessionId);
        if (params.configId === 'mode') await session.set({ mode: oneOf(MODES, params.value, 'mode') });
        else if (params.configId === 'review') await session.set({ review: oneOf(REVIEWS, params.value, 'value of "review"') });
        else throw RequestError.invalidParams(undefined, `There is no option "${printable(params.configId)}".`);
        return { configOptions: session.configOptions };
      })
      .onRequest('session/prompt', async ({ params, signal }) => {
        const prompt = this.#session(params.sessionId).prompt(params.prompt, signal);
        this.#prompts.add(prompt);
        try {
          return await told(() => prompt);
        } finally {
          this.#prompts.delete(prompt);
        }
      })
      .onNotification('session/cancel', ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
      .onRequest('session/close', ({ params }) => {
        this.#session(params.sessionId).cancel();
        this.#sessions.delete(params.sessionId);
        return {};
      })
      .onRequest('session/delete', async ({ params }) => {
        this.#sessions.get(params.sessionId)?.cancel();
        this.#sessions.delete(params.sessionId);
        await this.#files.remove(params.sessionId);
        return {};
      });
  }

  #session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (!session) throw RequestError.resourceNotFound(`session ${printable(id)}`);
    return session;
  }

  async #takeUp(id: string, cwd: string, client: AgentContext, mcpServers: readonly McpServer[]): Promise<AcpSession> {
    await checkFolder(cwd);
    if (this.#sessions.get(id)?.isAtWork) throw RequestError.invalidRequest(undefined, 'This session is at work: wait for its end, or cancel it.');
    const kept = await this.#files.read(id);
    if (!kept) throw RequestError.resourceNotFound(`session ${printable(id)}`);
    if (kept.cwd !== path.normalize(cwd)) throw RequestError.invalidParams(undefined, `This session is about another project, ${kept.cwd}.`);
    return this.#open(id, kept, client, mcpServers);
  }

  #open(id: string, kept: KeptSession, client: AgentContext, mcpServers: readonly McpServer[]): AcpSession {
    const { connect, openVerification, settings } = this.#parts;
    const names = mcpServers.map(({ name }) => printable(name)).join(', ');
    const session = new AcpSession(id, kept, {
      connect, openVerification, settings, client, files: this.#files, editor: this.#editorFiles(id, client),
    }, names === '' ? [] : [`The editor’s MCP servers are not used: ${names}. Steps work in a private copy of the project, in the sandbox.`]);
    this.#sessions.set(id, session);
    // An editor knows the session only after the answer to its request.
    setTimeout(() => void client.notify('session/update', {
      sessionId: id, update: { sessionUpdate: 'available_commands_update', availableCommands: [...COMMANDS] },
    }).catch(() => undefined), 0);
    return session;
  }

  #editorFiles(sessionId: string, client: AgentContext): EditorFiles {
    const { fs } = this.#can;
    return {
      ...(fs?.readTextFile && { read: async (file) => (await client.request('fs/read_text_file', { sessionId, path: file })).content }),
      ...(fs?.writeTextFile && { write: async (file, content) => void (await client.request('fs/write_text_file', { sessionId, path: file, content })) }),
    };
  }
}

const settingsOf = ({ modes, configOptions }: AcpSession) => ({ modes, configOptions });

function oneOf<T extends string>(known: readonly T[], value: unknown, what: string): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw RequestError.invalidParams(undefined, `There is no ${what} "${printable(String(value))}": it is one of ${known.join(', ')}.`);
  return found;
}

async function checkFolder(cwd: string): Promise<void> {
  const found = path.isAbsolute(cwd) ? await stat(cwd).catch(() => undefined) : undefined;
  if (!found?.isDirectory()) throw RequestError.invalidParams(undefined, `${printable(cwd)} is no folder: a session works in a folder, by its absolute path.`);
}

/** What users of the command line would read of a fault, the person reads in the editor: one sentence as the error's message. */
async function told<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(RPC_CODES.internalError, printable(error instanceof Error ? error.message : String(error)));
  }
}
