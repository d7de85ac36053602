import { Readable, Transform, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError, type ClientContext, type NewSessionResponse, type PromptResponse } from '@agentclientprotocol/sdk';
import { VERSION } from '../../../protocol/product-version.ts';
import { providerWords } from '../../../protocol/provider-words.ts';
import { NO_USAGE } from '../../../protocol/token-counts.ts';
import { AGENTS_OWN_MODEL, type WorkerConfig } from '../../../protocol/worker-config.ts';
import { WorkerError, type WorkerErrorKind } from '../../errors.ts';
import type { FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../../model.ts';
import { quotable } from '../../redact.ts';
import { AnswerText } from '../answer-text.ts';
import { abortError } from '../classify-error.ts';
import { withoutTools } from '../no-tools.ts';
import { AgentWork } from './agent-work.ts';
import { answerTo } from './permission.ts';
import type { AgentEnd, AgentStreams, RunAgent } from './run-agent.ts';

/** An agent that does not greet within this time does not speak the protocol, or waits for a login. */
const GREETING_MS = 90_000;
/** All that an agent may say on its output, with its updates. */
const MAX_OUTPUT_BYTES = 128 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const AFTER_END_MS = 200;
const AFTER_BREAK_MS = 5_000;
/** The JSON-RPC error of the protocol for an agent without a login. */
const AUTH_REQUIRED = -32_000;

const FINISHED: Readonly<Record<PromptResponse['stopReason'], FinishReason | undefined>> = {
  end_turn: 'stop', max_tokens: 'length', max_turn_requests: 'length', refusal: 'content-filter', cancelled: undefined,
};

export interface AcpAdapterParts {
  readonly worker: WorkerConfig;
  readonly key: string | undefined;
  readonly run: RunAgent;
}

/**
 * An agent that speaks the Agent Client Protocol, version 1. It is started for each request, works in the place of the request with the tools
 * that it brings, and ends. Its questions for permission are answered by rule.
 */
export class AcpAdapter implements ModelAdapter {
  readonly #parts: AcpAdapterParts;

  constructor(parts: AcpAdapterParts) {
    this.#parts = parts;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<ModelReply> {
    const { worker, worker: { agent: { stepTokens } = { stepTokens: 0 } } } = this.#parts;
    const prompt = withoutTools(worker, request).map(({ role, content }) => (role === 'assistant' ? `Your earlier answer was:\n${content}` : content)).join('\n\n');
    const work = new AgentWork(new AnswerText(worker, options.onText), options);
    // Until the prompt is sent, nothing can have been billed.
    let isPrompted = false;
    try {
      return await this.#inAgent(request.place, options.signal, async (agent, session) => {
        isPrompted = true;
        const response = await agent.request(methods.agent.session.prompt, { sessionId: session.sessionId, prompt: [{ type: 'text', text: prompt }] });
        const finishReason = FINISHED[response.stopReason];
        if (finishReason === undefined) throw this.#failure('agent-failed', 'the agent cancelled its work');
        return { text: work.output, finishReason, usage: work.usage(stepTokens, response), ...(work.usd !== undefined && { usd: work.usd }), model: modelIn(session) ?? worker.model };
      }, (update, folder) => work.take(update, folder));
    } catch (error) {
      const { kind, message } = this.#failureOf(error, options.signal, [prompt]);
      const usage = isPrompted ? work.usage(stepTokens) : NO_USAGE;
      throw new WorkerError({ kind, message, usage, usd: work.usd, cause: error });
    } finally {
      await request.place?.ended();
    }
  }

  /** Starts the agent and a session in an empty folder, and asks it nothing. @returns its name and version. @throws WorkerError */
  async greet(signal: AbortSignal): Promise<string> {
    try {
      return await this.#inAgent(undefined, signal, (_agent, _session, name) => Promise.resolve(name));
    } catch (error) {
      throw this.#failureOf(error, signal, []);
    }
  }

  /** Starts the agent, opens a session, and ends the agent when `work` has. */
  async #inAgent<T>(
    place: ModelRequest['place'], signal: AbortSignal, work: (agent: ClientContext, session: NewSessionResponse, name: string) => Promise<T>,
    onUpdate: (...update: Parameters<AgentWork['take']>) => void = () => undefined,
  ): Promise<T> {
    const { worker, key, run } = this.#parts;
    const isDone = new AbortController();
    const done = Promise.withResolvers<T>();
    const talk = (streams: AgentStreams): void => {
      this.#talk(streams, work, (update) => {
        try {
          onUpdate(update, streams.folder);
        } catch (error) {
          done.reject(error);
        }
      }, done.reject).then(done.resolve, done.reject);
    };
    const timeoutMs = (worker.agent?.minutes ?? 0) * 60_000;
    const running = run({ worker, key, place, timeoutMs, signal: AbortSignal.any([signal, isDone.signal]) }, talk);
    // What an agent says before it ends may still be on its way.
    const ended = running.then((end) => new Promise<never>((_resolve, reject) => setTimeout(() => reject(this.#endedEarly(end)), AFTER_END_MS)));
    try {
      return await Promise.race([done.promise, ended]);
    } catch (error) {
      if (error instanceof WorkerError || error instanceof RequestError) throw error;
      // A connection breaks because its agent ended, which says why.
      throw await Promise.race([ended.catch((end: unknown) => end), new Promise((resolve) => setTimeout(() => resolve(error), AFTER_BREAK_MS))]);
    } finally {
      done.promise.catch(() => undefined);
      ended.catch(() => undefined);
      isDone.abort();
      await running.catch(() => undefined);
    }
  }

  async #talk<T>(
    { input, output, folder }: AgentStreams, work: (agent: ClientContext, session: NewSessionResponse, name: string) => Promise<T>,
    onUpdate: (update: Parameters<AgentWork['take']>[0]) => void, fail: (error: Error) => void,
  ): Promise<T> {
    let bytes = 0;
    const bounded = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        bytes += chunk.length;
        if (bytes > MAX_OUTPUT_BYTES) next(this.#failure('too-large', `the agent said more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`));
        else next(null, chunk);
      },
    });
    bounded.on('error', fail);
    output.on('error', () => undefined);
    output.pipe(bounded);
    const stream = ndJsonStream(
      Writable.toWeb(input) as WritableStream<Uint8Array>, Readable.toWeb(bounded) as ReadableStream<Uint8Array>, { maxMessageBytes: MAX_MESSAGE_BYTES },
    );
    return await client({ name: 'conductor' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => answerTo(params, folder))
      .onNotification(methods.client.session.update, ({ params }) => onUpdate(params.update))
      .connectWith(stream, async (agent) => {
        const late = setTimeout(() => fail(this.#failure('agent-failed', `it did not greet within ${GREETING_MS / 1_000} s, as the Agent Client Protocol asks for`)), GREETING_MS);
        let session: NewSessionResponse;
        let name: string;
        try {
          const { protocolVersion, agentInfo } = await agent.request(methods.agent.initialize, {
            protocolVersion: PROTOCOL_VERSION, clientCapabilities: {}, clientInfo: { name: 'conductor', version: VERSION },
          });
          if (protocolVersion !== PROTOCOL_VERSION) throw this.#failure('agent-failed', `it speaks version ${String(protocolVersion).slice(0, 20)} of the Agent Client Protocol, not ${PROTOCOL_VERSION}`);
          name = [agentInfo?.title ?? agentInfo?.name ?? 'an agent', agentInfo?.version ?? ''].join(' ').trim().slice(0, 200);
          session = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
          await this.#choose(agent, session);
        } finally {
          clearTimeout(late);
        }
        return await work(agent, session, name);
      });
  }

  /** Sets the mode and the model of a session, where the worker names them. */
  async #choose(agent: ClientContext, { sessionId, modes, configOptions }: NewSessionResponse): Promise<void> {
    const { model, agent: { mode } = {} } = this.#parts.worker;
    if (mode !== undefined) {
      const offered = modes?.availableModes.map(({ id }) => id) ?? [];
      if (!offered.includes(mode)) throw this.#failure('not-found', `it has no mode "${mode}"${listed(offered)}`);
      if (modes?.currentModeId !== mode) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
    }
    if (model === AGENTS_OWN_MODEL) return;
    const option = configOptions?.find((one) => one.category === 'model' && one.type === 'select');
    const offered = option?.type === 'select' ? option.options.flatMap((one) => ('options' in one ? one.options.map(({ value }) => value) : [one.value])) : [];
    if (!option || !offered.includes(model)) throw this.#failure('not-found', `it does not offer the model "${model}"${listed(offered)}`);
    if (option.type === 'select' && option.currentValue !== model) await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value: model });
  }

  #failure(kind: WorkerErrorKind, what: string): WorkerError {
    return new WorkerError({ kind, message: `Worker "${this.#parts.worker.id}": ${what}; try again or use another worker.` });
  }

  #endedEarly({ exitCode, exceeded, stderr }: AgentEnd): WorkerError {
    const { agent } = this.#parts.worker;
    if (exceeded === 'time') return this.#failure('agent-failed', `the agent did not finish within ${agent?.minutes} minutes and was stopped`);
    if (exceeded !== undefined) return this.#failure('agent-failed', `the agent exceeded its limit of ${exceeded === 'output' ? 'what it may print' : exceeded} and was stopped`);
    const last = stderr.trim().split('\n').at(-1) ?? '';
    const said = quotable(last, { key: this.#parts.key, prompts: [] });
    return this.#failure('agent-failed', `the agent ended ${exitCode === null ? 'by a signal' : `with exit code ${exitCode}`} before it had answered${providerWords(said)}`);
  }

  #failureOf(error: unknown, signal: AbortSignal, prompts: readonly string[]): WorkerError {
    const { worker, key } = this.#parts;
    if (signal.aborted) return abortError({ worker, signal });
    if (error instanceof WorkerError) return error;
    if (error instanceof RequestError) {
      if (error.code === AUTH_REQUIRED) {
        return new WorkerError({
          kind: 'authentication',
          message: `Worker "${worker.id}": the agent is not logged in; log in with it in a terminal, and name the files of its login under "home" in workers.json.`,
          cause: error,
        });
      }
      const said = quotable(detailOf(error), { key, prompts });
      return this.#failure('agent-failed', `the agent answered with an error${providerWords(said)}`);
    }
    return this.#failure('agent-failed', `the connection to the agent broke (${error instanceof Error ? error.message.slice(0, 200) : 'unknown error'})`);
  }
}

/** Agents put the cause into `data`, and "Internal error" into the message. */
function detailOf({ message, data }: RequestError): string {
  const details = typeof data === 'string' ? data : ((data ?? {}) as { details?: unknown; message?: unknown });
  const said = typeof details === 'string' ? details : [details.details, details.message].find((one) => typeof one === 'string');
  return said === undefined ? message : `${message}: ${String(said)}`;
}

function modelIn({ configOptions }: NewSessionResponse): string | undefined {
  const option = configOptions?.find((one) => one.category === 'model');
  return option?.type === 'select' ? option.currentValue : undefined;
}

const listed = (offered: readonly string[]): string => (offered.length === 0 ? '' : `, but ${offered.slice(0, 12).join(', ')}${offered.length > 12 ? ' and others' : ''}`);
