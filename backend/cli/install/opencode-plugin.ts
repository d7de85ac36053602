/**
 * The text of a plugin by which OpenCode 1 has the gate at its stop (https://opencode.ai/docs/plugins/). It has no hook that keeps a session from
 * stopping: the plugin judges a session that has become idle, and goes on with it by a message.
 * @param gate the program that judges, with its arguments
 */
export const openCodePlugin = (gate: readonly string[]): string => `// Has the project's tests judge what OpenCode changed. "conductor uninstall opencode" takes this plugin back.
import { spawn } from 'node:child_process';

const [PROGRAM, ...ARGUMENTS] = ${JSON.stringify(gate)};
// Of all instances of this plugin: OpenCode makes another one for a message that comes while it ends.
const judging = (globalThis[Symbol.for('conductor.gate')] ??= new Set());

export const ConductorGate = async ({ client, directory }) => {
  const processes = new Set();
  const works = new Set();
  let hasLeft = false;

  const judged = (input) => new Promise((resolve) => {
    const gate = spawn(PROGRAM, ARGUMENTS, { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'] });
    const pieces = [];
    processes.add(gate);
    gate.stdout.on('data', (piece) => pieces.push(piece));
    gate.stdin.on('error', () => undefined);
    gate.once('error', () => resolve({}));
    gate.once('close', () => {
      processes.delete(gate);
      try {
        resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')));
      } catch {
        resolve({});
      }
    });
    gate.stdin.end(JSON.stringify(input));
  });

  const messagesOf = async (id) => (await client.session.messages({ path: { id } })).data ?? [];

  async function keepAtWork(id) {
    const { data: session } = await client.session.get({ path: { id } });
    // What a subagent did is judged when the agent stops that called it.
    if (!session || session.parentID) return;
    for (let isContinued = false; ; isContinued = true) {
      const messages = await messagesOf(id);
      // A person has stopped it, or the model failed.
      if (messages.at(-1)?.info.error) return;
      const { decision, reason, systemMessage } = await judged({ hook_event_name: 'Stop', session_id: id, cwd: directory, stop_hook_active: isContinued });
      if (decision !== 'block') {
        if (systemMessage) await client.tui.showToast({ body: { message: systemMessage, variant: 'info' } });
        return;
      }
      // A person has gone on meanwhile: the session is judged when it stops again.
      if (hasLeft || (await messagesOf(id)).length !== messages.length) return;
      const agent = messages.findLast(({ info }) => info.role === 'user')?.info.agent;
      await client.session.prompt({ path: { id }, body: { ...(agent && { agent }), parts: [{ type: 'text', text: reason }] } });
    }
  }

  return {
    event: async ({ event: { type, properties } }) => {
      if (type !== 'session.idle' || judging.has(properties.sessionID)) return;
      judging.add(properties.sessionID);
      // A fault of the gate keeps nobody.
      const work = keepAtWork(properties.sessionID).catch(() => undefined).finally(() => {
        judging.delete(properties.sessionID);
        works.delete(work);
      });
      works.add(work);
    },
    dispose: async () => {
      // "opencode run" ends as soon as the session is idle. Elsewhere a person has left.
      if (process.argv.includes('run')) return void (await Promise.all(works));
      hasLeft = true;
      for (const gate of processes) gate.kill();
    },
  };
};
`;
