import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `conductor backend [status|stop]`: the process behind the command line and VS Code. */
export const backendCommand: Command = async (args, { terminal, connect, stopBackend }) => {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } });
  const [action = 'status', ...rest] = positionals;
  if (rest.length > 0 || !['status', 'stop'].includes(action)) throw new UsageError('The actions are "backend status" and "backend stop".');
  if (action === 'stop') {
    terminal.say((await stopBackend()) ? 'The backend stopped. Unfinished runs resume when it starts again.' : 'No backend is running.');
    return EXIT.ok;
  }
  const client = await connect();
  try {
    const health = await client.request('backend/health', {});
    if (values.json) terminal.result(jsonText(health, 2));
    else {
      terminal.result(`Conductor ${health.backendVersion} on Node ${health.node}, process ${health.pid}`);
      terminal.result(health.sandbox.available ? 'Sandbox: available' : `Sandbox: not available. ${health.sandbox.reason ?? ''}`);
      for (const problem of health.problems) terminal.result(`Problem: ${problem}`);
    }
    return EXIT.ok;
  } finally {
    client.close();
  }
};
