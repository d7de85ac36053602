import { Readable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { AcpServer } from './acp/acp-agent.ts';
import { positive, readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  review: { type: 'boolean' }, 'review-above': { type: 'string' }, 'max-usd': { type: 'string' }, worker: { type: 'string', multiple: true },
} as const;

/** Where "ask above" is chosen in the editor, and no amount was given: as in VS Code's settings. */
const DEFAULT_REVIEW_ABOVE_USD = 0.1;

/** `conductor acp`: an agent for editors, by the Agent Client Protocol on standard input and output, until the editor is gone. */
export const acpCommand: Command = async (args, { terminal, connect, openVerification, conductorFolder, standardInput, interrupted, interruptMeans }) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError('"acp" takes options only.');
  const reviewAbove = values['review-above'];
  if (values.review && reviewAbove !== undefined) throw new UsageError('--review and --review-above exclude each other.');
  const maxUsd = values['max-usd'];
  const server = new AcpServer({
    connect, openVerification, conductorFolder,
    settings: {
      review: values.review ? 'always' : reviewAbove === undefined ? 'never' : 'above',
      reviewAboveUsd: reviewAbove === undefined ? DEFAULT_REVIEW_ABOVE_USD : positive(reviewAbove, '--review-above'),
      maxUsd: maxUsd === undefined ? undefined : positive(maxUsd, '--max-usd'),
      workers: values.worker,
    },
  });
  interruptMeans('Ending');
  const decoder = new TextDecoder();
  const output = new WritableStream<Uint8Array>({ write: (bytes) => terminal.write(decoder.decode(bytes, { stream: true })) });
  const input = Readable.toWeb(standardInput()) as ReadableStream<Uint8Array>;
  const connection = server.app().connect(ndJsonStream(output, input));
  const gone = Promise.withResolvers<void>();
  connection.closed.then(() => gone.resolve(), () => gone.resolve());
  interrupted.addEventListener('abort', () => gone.resolve(), { once: true });
  if (interrupted.aborted) gone.resolve();
  await gone.promise;
  await server.end();
  connection.close();
  return EXIT.ok;
};
