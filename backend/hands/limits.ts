/** The limits of one step with hands. At the first that is reached, the worker is asked once for what it has. */
export const HANDS_LIMITS = {
  turns: 30,
  /** Sent in all turns together, estimated. */
  tokens: 300_000,
  /** While this process works on it. */
  ms: 20 * 60_000,
  /** One command of `run`. */
  commandMs: 120_000,
  /** Of one conversation; above it the oldest results are left out. */
  conversationTokens: 48_000,
};
