import path from 'node:path';
import { escapeRegExp } from '../../common/escape-regexp.ts';
import { shellQuote } from '../../verify/sandbox/shell-quote.ts';
import { openCodePlugin } from './opencode-plugin.ts';

/* What an agent needs to know Conductor: the gate at its stop, where it has hooks, and Conductor's tools, by MCP. */

/** A part of a file that an agent reads its settings from. */
export type Placement = JsonPlacement | TextPlacement | WholePlacement;

interface Placed {
  /** Absolute. */
  readonly file: string;
}

/** A value at a path of a JSON file; appended to the array there if the path ends with `-1`. */
export interface JsonPlacement extends Placed {
  readonly kind: 'json';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** What the file has to have besides, if it is new. */
  readonly around?: Readonly<Record<string, unknown>>;
}

/** A table at the end of a TOML file. A file that has one with this header, and not by `written`, is left as it is. */
export interface TextPlacement extends Placed {
  readonly kind: 'text';
  /** The line, however it is spaced or commented. */
  readonly header: RegExp;
  readonly text: string;
  /** The table as it is written for any program. */
  readonly written: RegExp;
}

/** A file of Conductor's own. */
export interface WholePlacement extends Placed {
  readonly kind: 'whole';
  readonly text: string;
  /** 0o644 by default. */
  readonly mode?: number;
}

export interface Place {
  /** The project, absolute. */
  readonly workspace: string;
  /** The home folder, absolute. */
  readonly home: string;
  readonly isForUser: boolean;
  /** Where Git looks for the repository's hooks, absolute; undefined outside of one. */
  readonly hooks: string | undefined;
  /** In which agents are told of another folder than that in the home folder. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How Conductor's command line is started: a program and its first arguments. */
export type Program = readonly [string, ...string[]];

export interface AgentSetup {
  readonly name: string;
  /** Those in one file are made one after the other. */
  readonly placements: (place: Place, program: Program) => readonly Placement[];
  /** What a person has to do then. */
  readonly then: string;
}

/** Seconds that the gate may take, and that the agent waits for it. */
const GATE_SECONDS = 280;
const WAIT_SECONDS = 300;
/** Seconds that an agent waits for a tool, where it would give up before a plan has ended. */
const SOLVE_SECONDS = 1_200;

const shellWord = (word: string): string => (/^[\w./:=@%+-]+$/.test(word) ? word : shellQuote(word));
const gateWords = (program: Program): string[] => [...program, 'hook', 'stop', '--timeout', String(GATE_SECONDS)];
const gate = (program: Program): string => gateWords(program).map(shellWord).join(' ');
const server = ([command, ...args]: Program): { command: string; args: string[] } => ({ command, args: [...args, 'mcp'] });

/** The form of Claude Code's hooks, which Codex has, too. */
const claudeHook = (program: Program): object => ({ hooks: [{ type: 'command', command: gate(program), timeout: WAIT_SECONDS }] });

/** Codex and Gemini CLI start servers of MCP without the variables that they are not said to need, such as those with keys. One that is not set does no harm. */
const PASSED = ['CONDUCTOR_HOME', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'DEEPSEEK_API_KEY', 'OPENROUTER_API_KEY'];
const CODEX_PASSES = `env_vars = [${PASSED.map((name) => JSON.stringify(name)).join(', ')}]`;
/** Gemini CLI puts the value of the variable there, and nothing if it is not set. */
const GEMINI_PASSES = Object.fromEntries(PASSED.map((name) => [name, `$${name}`]));

const mcpAt = (file: string, program: Program, more: object = {}): JsonPlacement => ({ kind: 'json', file, path: ['mcpServers', 'conductor'], value: { ...more, ...server(program) } });

/** The folder of an agent: of the project, or the person's, which a variable may name. */
function folderOf({ workspace, home, isForUser, environment }: Place, name: string, variable: string): string {
  return isForUser ? path.resolve(environment[variable] || path.join(home, name)) : path.join(workspace, name);
}

export const AGENTS: readonly AgentSetup[] = [
  {
    name: 'claude',
    placements: (place, program) => {
      const { workspace, home, isForUser, environment: { CLAUDE_CONFIG_DIR: other } } = place;
      return [
        { kind: 'json', file: path.join(folderOf(place, '.claude', 'CLAUDE_CONFIG_DIR'), 'settings.json'), path: ['hooks', 'Stop', -1], value: claudeHook(program) },
        mcpAt(isForUser ? path.resolve(other || home, '.claude.json') : path.join(workspace, '.mcp.json'), program),
      ];
    },
    then: 'Claude Code asks once whether the project\'s MCP server may be used.',
  },
  {
    name: 'codex',
    placements: (place, program) => {
      const folder = folderOf(place, '.codex', 'CODEX_HOME');
      const { command, args } = server(program);
      return [
        { kind: 'json', file: path.join(folder, 'hooks.json'), path: ['hooks', 'Stop', -1], value: claudeHook(program) },
        {
          kind: 'text', file: path.join(folder, 'config.toml'), header: /^\s*\[\s*mcp_servers\s*\.\s*(["']?)conductor\1\s*\]\s*(?:#.*)?$/m,
          written: new RegExp(String.raw`\[mcp_servers\.conductor\]\r?\ncommand = ".*"\r?\nargs = \[.*"mcp"\]\r?\n(?:${escapeRegExp(CODEX_PASSES)}\r?\n)?tool_timeout_sec = ${SOLVE_SECONDS}\r?\n`),
          text: `[mcp_servers.conductor]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n${CODEX_PASSES}\ntool_timeout_sec = ${SOLVE_SECONDS}\n`,
        },
      ];
    },
    then: 'Codex runs the hook once you trust it with /hooks; of a project\'s folder, only where you trust the project.',
  },
  {
    name: 'copilot',
    placements: ({ workspace, home, isForUser }, program) => [
      {
        kind: 'whole', file: path.join(isForUser ? path.join(home, '.copilot') : path.join(workspace, '.github'), 'hooks', 'conductor.json'),
        text: `${JSON.stringify({ version: 1, hooks: { agentStop: [{ type: 'command', bash: gate(program), timeoutSec: WAIT_SECONDS }] } }, undefined, 2)}\n`,
      },
      isForUser
        ? mcpAt(path.join(home, '.copilot', 'mcp-config.json'), program, { type: 'local', tools: ['*'] })
        : { kind: 'json', file: path.join(workspace, '.vscode', 'mcp.json'), path: ['servers', 'conductor'], value: { type: 'stdio', ...server(program) } },
    ],
    then: 'Copilot CLI and VS Code read the hook at their next start.',
  },
  {
    name: 'cursor',
    placements: ({ workspace, home, isForUser }, program) => {
      const folder = path.join(isForUser ? home : workspace, '.cursor');
      return [
        { kind: 'json', file: path.join(folder, 'hooks.json'), path: ['hooks', 'stop', -1], value: { command: gate(program), timeout: WAIT_SECONDS }, around: { version: 1 } },
        mcpAt(path.join(folder, 'mcp.json'), program),
      ];
    },
    then: 'Cursor reads both at its next start.',
  },
  {
    name: 'gemini',
    placements: ({ workspace, home, isForUser, environment: { GEMINI_CLI_HOME: other } }, program) => {
      const file = path.join(isForUser ? path.resolve(other || home) : workspace, '.gemini', 'settings.json');
      return [
        // Both limits are in milliseconds.
        { kind: 'json', file, path: ['hooks', 'AfterAgent', -1], value: { hooks: [{ name: 'conductor', type: 'command', command: gate(program), timeout: WAIT_SECONDS * 1_000 }] } },
        { kind: 'json', file, path: ['mcpServers', 'conductor'], value: { ...server(program), env: GEMINI_PASSES, timeout: SOLVE_SECONDS * 1_000 } },
      ];
    },
    then: 'Gemini CLI reads both at its next start; of a project\'s folder, only where you trust the folder.',
  },
  {
    name: 'opencode',
    placements: ({ workspace, home, isForUser, environment: { XDG_CONFIG_HOME: other } }, program) => {
      const user = path.resolve(other || path.join(home, '.config'), 'opencode');
      return [
        { kind: 'whole', file: path.join(isForUser ? user : path.join(workspace, '.opencode'), 'plugins', 'conductor.js'), text: openCodePlugin(gateWords(program)) },
        {
          kind: 'json', file: path.join(isForUser ? user : workspace, 'opencode.json'),
          path: ['mcp', 'conductor'], value: { type: 'local', command: [...program, 'mcp'], enabled: true },
        },
      ];
    },
    then: 'OpenCode reads both at its next start.',
  },
  {
    name: 'git',
    placements: ({ hooks }, program) => (hooks === undefined ? [] : [{
      kind: 'whole', file: path.join(hooks, 'pre-push'), mode: 0o755,
      text: `#!/bin/sh\n# A push that breaks tests is refused. "conductor uninstall git" takes this hook back.\nexec ${[...program, 'hook', 'pre-push'].map(shellWord).join(' ')} "$@"\n`,
    }]),
    then: 'Git calls it before each push; "git push --no-verify" does not.',
  },
];
