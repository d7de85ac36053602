import { CLIENT_CAPABILITIES_META_KEY, inputRequired, inputResponse, type InputRequiredResult, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Pool } from '../../protocol/methods.ts';
import { ToolError } from './allowed-folder.ts';
import type { KeyPage } from './key-page.ts';

/** A call cannot go on before a person has answered: its result is this request, and the client calls again with the response. */
export class InputNeeded extends Error {
  override readonly name = 'InputNeeded';
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super('A person is asked.');
    this.result = result;
  }
}

/** Of the request's envelope in the newest revision, else of the handshake. */
const capabilitiesSchema = z.object({ elicitation: z.object({ url: z.looseObject({}).optional() }).optional() });
const RESPONSE = 'keys';

/**
 * The names of the keys without which no run can begin: those of the workers, if none is ready, and that of the planner that was chosen.
 * @param workers those that may take part; by default all that are switched on
 */
export function neededKeys({ workers: all, conductor }: Pick<Pool, 'workers' | 'conductor'>, workers?: readonly string[]): readonly string[] {
  const wanted = all.filter(({ worker }) => workers?.includes(worker.id) ?? worker.enabled);
  const needed = wanted.some(({ ready }) => ready) ? [] : wanted;
  const planner = all.filter(({ worker, ready }) => worker.id === conductor && !ready);
  return [...new Set([...needed, ...planner].flatMap(({ worker }) => worker.key ?? []))];
}

/**
 * Asks the person for keys on a page of this machine, and waits until they are entered. Does nothing if the client cannot show an address: then the
 * run's own refusal says what to do. MCP forbids to ask for keys by a form of the client (specification of 2026-07-28, elicitation).
 * @throws InputNeeded, ToolError, the signal's reason
 */
export async function obtainKeys(names: readonly string[], page: KeyPage, { mcpReq }: ServerContext, { server }: McpServer): Promise<void> {
  if (names.length === 0) return;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const can = capabilitiesSchema.safeParse(envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {});
  if (!can.data?.elicitation?.url) return;
  const response = inputResponse(mcpReq.inputResponses, RESPONSE);
  if (response.kind !== 'elicit') {
    const message = `Conductor's workers need ${names.join(', ')}. Enter ${names.length === 1 ? 'it' : 'them'} on a page on this machine: what you enter stays in Conductor's memory.`;
    throw new InputNeeded(inputRequired({ inputRequests: { [RESPONSE]: inputRequired.elicitUrl({ message, url: await page.ask(names) }) } }));
  }
  if (response.action !== 'accept')
    throw new ToolError(`The person gave no key for ${names.join(', ')}. They can set ${names.length === 1 ? 'it' : 'them'} in the environment of this server, or call again to be asked again.`);
  await page.entered(mcpReq.signal);
}
