import path from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { KeyPage } from './mcp/key-page.ts';
import { conductorServer } from './mcp/mcp-server.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = { workspace: { type: 'string', short: 'w', multiple: true } } as const;

/** `conductor mcp`: serves the Model Context Protocol on standard input and output until the client is gone. */
export const mcpCommand: Command = async (args, { terminal, currentFolder, connect, openVerification, standardInput, interrupted, interruptMeans }) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError('"mcp" takes --workspace DIR only.');
  interruptMeans('Ending');
  const workspaces = (values.workspace ?? ['.']).map((folder) => path.resolve(currentFolder, folder));
  const gone = Promise.withResolvers<void>();
  standardInput().once('end', () => gone.resolve()).once('close', () => gone.resolve());
  const keys = new KeyPage();
  const handle = serveStdio(() => conductorServer({ workspaces, connect, openVerification, keys }), { onerror: ({ message }) => terminal.say(`MCP: ${message}`) });
  interrupted.addEventListener('abort', () => gone.resolve(), { once: true });
  await gone.promise;
  await handle.close();
  await keys.close();
  return EXIT.ok;
};
