import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { readBody, writeEvents } from '../../../backend/simulator/http-body.ts';
import { countTokens, type SimulatedMessage, type SimulatedTool } from '../../../backend/simulator/simulated-model.ts';
import { skillsOf } from '../../../backend/simulator/skills.ts';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

const part = z.object({
  text: z.string().optional(),
  functionCall: z.object({ id: z.string().optional(), name: z.string(), args: z.record(z.string(), z.unknown()).default({}) }).optional(),
  functionResponse: z.object({ id: z.string().optional(), name: z.string(), response: z.record(z.string(), z.unknown()).default({}) }).optional(),
});
const content = z.object({ role: z.enum(['user', 'model']).default('user'), parts: z.array(part) });
const requestSchema = z.object({
  contents: z.array(content).min(1),
  tools: z.array(z.object({
    functionDeclarations: z.array(z.object({ name: z.string(), parameters: z.unknown().optional(), parametersJsonSchema: z.unknown().optional() })).default([]),
  })).default([]),
});
type Content = z.infer<typeof content>;

export interface GeminiServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A simulated model behind `streamGenerateContent` and `generateContent` of the Gemini API (https://ai.google.dev/api/generate-content), on
 * 127.0.0.1 only, as far as Gemini CLI needs it. No worker of Conductor speaks this format, so the simulator's own server does not either.
 */
export async function startGeminiServer(rule: HandsRule): Promise<GeminiServer> {
  const server = createServer((request, response) => {
    answer(rule, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: String(error) } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(rule: HandsRule, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request, MAX_BODY_BYTES);
  const [, model, method] = /^\/v1(?:beta)?\/models\/([\w.-]+):(\w+)/.exec(request.url ?? '') ?? [];
  if (request.method !== 'POST' || model === undefined || (method !== 'streamGenerateContent' && method !== 'generateContent')) {
    sendJson(response, 404, { error: { code: 404, status: 'NOT_FOUND', message: `The simulator has no ${request.method} ${request.url}.` } });
    return;
  }
  const { contents, tools } = requestSchema.parse(JSON.parse(body));
  const offered = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name, parameters, parametersJsonSchema }): SimulatedTool => ({ name, parameters: parametersJsonSchema ?? parameters })));
  const turn = offered.length === 0
    ? { text: `Simulated by ${model}.`, calls: [] }
    : rule({ name: model, skills: skillsOf([10, 10, 10]), seed: 1 }, { messages: contents.flatMap(messagesOf), tools: offered });
  const parts = [
    ...(turn.text === '' ? [] : [{ text: turn.text }]),
    ...turn.calls.map(({ name, arguments: written }) => ({ functionCall: { name, args: JSON.parse(written) as unknown } })),
  ];
  const [promptTokenCount, candidatesTokenCount] = [countTokens(body), countTokens(JSON.stringify(parts))];
  const chunk = (some: readonly unknown[], finishReason?: 'STOP'): unknown => ({
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...(finishReason && { finishReason }) }], modelVersion: model,
    usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount },
  });
  response.setHeader('x-conductor-simulated', 'true');
  if (method === 'generateContent') {
    sendJson(response, 200, chunk(parts, 'STOP'));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  for (const [index, one] of parts.entries()) await writeEvents(response, [{ data: chunk([one], index === parts.length - 1 ? 'STOP' : undefined) }], gone.signal);
  response.end();
}

/** The results of functions as messages of their own. */
function messagesOf({ role, parts }: Content): SimulatedMessage[] {
  const text = parts.map(({ text: said = '' }) => said).join('');
  const results = parts.flatMap(({ functionResponse }): SimulatedMessage[] =>
    (functionResponse ? [{ role: 'tool', content: JSON.stringify(functionResponse.response), callId: functionResponse.id ?? functionResponse.name }] : []));
  const toolCalls = parts.flatMap(({ functionCall }) =>
    (functionCall ? [{ id: functionCall.id ?? functionCall.name, name: functionCall.name, arguments: JSON.stringify(functionCall.args) }] : []));
  if (results.length > 0 && text === '') return results;
  return [...results, { role: role === 'model' ? 'assistant' : 'user', content: text, ...(toolCalls.length > 0 && { toolCalls }) }];
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
