import { getDefaultWritePaths, SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { RUN_SCRIPT } from './script.ts';
import type { WalledLine, WallsAround } from './walled-line.ts';

/** The library's command line for macOS. Untested. */
export async function macLine({ hidden, readable, writable }: WallsAround, signal: AbortSignal): Promise<WalledLine> {
  const literal = (paths: readonly string[]): { path: string; literal: true }[] => paths.map((entry) => ({ path: entry, literal: true }));
  const line = await SandboxManager.wrapWithSandbox(
    RUN_SCRIPT,
    undefined,
    {
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: {
        denyRead: literal(hidden),
        allowRead: literal(readable),
        allowWrite: literal(writable),
        // The library lets every command write to a few paths.
        denyWrite: literal(getDefaultWritePaths().filter((entry) => !entry.startsWith('/dev/'))),
      },
    },
    signal,
  );
  return { line, release: () => SandboxManager.cleanupAfterCommand() };
}
