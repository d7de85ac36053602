import type { AgentConfig } from './worker-config.ts';

/** An agent that is known to speak the Agent Client Protocol, with what its worker needs to know. docs/agents.md names the same. */
export interface KnownAgent {
  /** Name for people. */
  readonly label: string;
  /** Installs it. */
  readonly install: string;
  readonly agent: Pick<AgentConfig, 'command' | 'home' | 'hosts'> & Partial<AgentConfig>;
}

/** By the names under which people choose them. Programs, files and hosts as in the agents' own documentation, November 2026. */
export const KNOWN_AGENTS = {
  'opencode': {
    label: 'OpenCode', install: 'npm install -g opencode-ai',
    agent: {
      command: ['opencode', 'acp'], home: ['.config/opencode', '.local/share/opencode/auth.json'],
      hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com', 'openrouter.ai'],
    },
  },
  'codex': {
    label: 'Codex', install: 'npm install -g @agentclientprotocol/codex-acp',
    // Its own sandbox does not start inside another one.
    agent: { command: ['codex-acp'], home: ['.codex/config.toml', '.codex/auth.json'], hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'], mode: 'agent-full-access' },
  },
  'claude-code': {
    label: 'Claude Code', install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    agent: {
      command: ['claude-agent-acp'], home: ['.claude.json', '.claude/.credentials.json', '.claude/settings.json'],
      hosts: ['api.anthropic.com', 'platform.claude.com'],
    },
  },
  'gemini': {
    label: 'Gemini CLI', install: 'npm install -g @google/gemini-cli',
    agent: {
      command: ['gemini', '--acp'], home: ['.gemini/settings.json', '.gemini/oauth_creds.json', '.gemini/google_accounts.json'],
      hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    },
  },
} as const satisfies Record<string, Omit<KnownAgent, 'agent'> & { readonly agent: object }>;

export type AgentName = keyof typeof KNOWN_AGENTS;
export const AGENT_NAMES = Object.keys(KNOWN_AGENTS) as [AgentName, ...AgentName[]];
