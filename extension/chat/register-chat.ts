import * as vscode from 'vscode';
import { commandLine } from '../common/command-line.ts';
import type { ChatParts } from './chat-parts.ts';

/*
 * The places of VS Code's chat where Conductor is. Only the registrations are made when VS Code starts: the code behind each is loaded with
 * its first use.
 */

/** Ends all of it. */
export function registerChat(parts: ChatParts): vscode.Disposable {
  return vscode.Disposable.from(participant(parts), ...tools(parts), mcpServer(parts));
}

function participant(parts: ChatParts): vscode.Disposable {
  const load = () => import('./participant.ts');
  const conductor = vscode.chat.createChatParticipant('conductor.chat', async (request, context, stream, token) =>
    (await load()).answer(parts, request, context, stream, token));
  conductor.iconPath = vscode.Uri.joinPath(parts.extensionFolder, 'media', 'icon.png');
  conductor.followupProvider = { provideFollowups: async (result) => (await load()).followupsOf(parts, result) };
  return conductor;
}

function tools(parts: ChatParts): vscode.Disposable[] {
  const load = () => import('./tools.ts');
  return [
    vscode.lm.registerTool<unknown>('conductor_solve', {
      prepareInvocation: async ({ input }, token) => {
        const { told, prepareSolve } = await load();
        return told(() => prepareSolve(parts, input, token));
      },
      invoke: async ({ input }, token) => {
        const { told, invokeSolve } = await load();
        return told(() => invokeSolve(parts, input, token));
      },
    }),
    vscode.lm.registerTool<unknown>('conductor_verify', {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Conductor runs the project’s tests') }),
      invoke: async ({ input }, token) => {
        const { told, invokeVerify } = await load();
        return told(() => invokeVerify(parts, input, token));
      },
    }),
    vscode.lm.registerTool<unknown>('conductor_runs', {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Conductor looks up its runs') }),
      invoke: async ({ input }) => {
        const { told, invokeRuns } = await load();
        return told(() => invokeRuns(parts, input));
      },
    }),
  ];
}

/** `conductor mcp` of this extension, for agents that use MCP servers alone. None in Restricted Mode, where nothing of a workspace is read. */
function mcpServer({ extensionFolder, version }: ChatParts): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changed,
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.lm.registerMcpServerDefinitionProvider('conductor.mcp', {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: () => {
        const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
        const [first] = folders;
        if (!vscode.workspace.isTrusted || !first) return [];
        const { command, args, env } = commandLine(extensionFolder, 'mcp', ...folders.flatMap(({ uri }) => ['--workspace', uri.fsPath]));
        const server = new vscode.McpStdioServerDefinition('Conductor', command, args, env, version);
        server.cwd = first.uri;
        return [server];
      },
    }),
  );
}
