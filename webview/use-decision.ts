import { useState } from 'preact/hooks';
import { useHost, type Host } from './host.ts';

interface Decision {
  readonly isSent: boolean;
  /** Why the backend refused it. */
  readonly problem?: string;
  readonly send: (decide: (host: Host) => Promise<unknown>) => void;
}

/** Sends a decision once; after a refusal another one can be sent. */
export function useDecision(): Decision {
  const host = useHost();
  const [sent, setSent] = useState<Omit<Decision, 'send'>>({ isSent: false });
  return {
    ...sent,
    send: (decide) => {
      setSent({ isSent: true });
      decide(host).catch((error: unknown) => setSent({ isSent: false, problem: error instanceof Error ? error.message : String(error) }));
    },
  };
}
