import { describe, expect, it } from 'vitest';
import { RunSubscriptions } from '../../extension/runs/run-subscriptions.ts';
import type { BackendConnection } from '../../extension/common/backend-connection.ts';

function recorded(refuse = false): { readonly subscriptions: RunSubscriptions; readonly asked: string[] } {
  const asked: string[] = [];
  const request = async (method: string) => {
    asked.push(method);
    if (refuse) throw new Error('There is no such run.');
    return { run: { runId: 'r' } };
  };
  return { asked, subscriptions: new RunSubscriptions({ request: request as BackendConnection['request'] }) };
}

describe('followers of one run', () => {
  it('share the subscription of the window, which ends with the last of them', async () => {
    const { subscriptions, asked } = recorded();
    const [panel, chat] = [{}, {}];
    await subscriptions.begin('r', panel);
    await subscriptions.begin('r', chat);
    await subscriptions.end('r', panel);
    expect(asked).toEqual(['run/subscribe', 'run/subscribe']);
    await subscriptions.end('r', chat);
    expect(asked.at(-1)).toBe('run/unsubscribe');
  });

  it('count once, however often they begin again after a lost connection', async () => {
    const { subscriptions, asked } = recorded();
    const panel = {};
    await subscriptions.begin('r', panel);
    await subscriptions.begin('r', panel);
    await subscriptions.end('r', panel);
    expect(asked.at(-1)).toBe('run/unsubscribe');
  });

  it('end nothing that was refused', async () => {
    const { subscriptions, asked } = recorded(true);
    const panel = {};
    await expect(subscriptions.begin('r', panel)).rejects.toThrow('no such run');
    await subscriptions.end('r', panel);
    expect(asked).toEqual(['run/subscribe']);
  });
});
