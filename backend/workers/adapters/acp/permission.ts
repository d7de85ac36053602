import path from 'node:path';
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';

/** Arguments of tools that name a file or folder, in the agents that we know. */
const PATH_ARGUMENTS = ['path', 'file_path', 'filePath', 'filepath', 'notebook_path', 'cwd', 'workdir', 'directory', 'parentDir'];

/**
 * The answer to an agent that asks whether it may do something: yes inside its folder, otherwise no. Commands are held by the sandbox, so
 * they may run. To fetch from the network is no work on the folder. It is allowed for once only, so that each act is asked for.
 */
export function answerTo({ toolCall, options }: RequestPermissionRequest, folder: string): RequestPermissionResponse {
  const isAllowed = toolCall.kind !== 'fetch' && pathsOf(toolCall).every((named) => isInside(folder, named));
  const wanted: readonly PermissionOption['kind'][] = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = wanted.flatMap((kind) => options.find((one) => one.kind === kind) ?? [])[0];
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

function pathsOf({ locations, content, rawInput }: RequestPermissionRequest['toolCall']): string[] {
  const raw = typeof rawInput === 'object' && rawInput !== null ? rawInput as Record<string, unknown> : {};
  return [
    ...(locations ?? []).map((location) => location.path),
    ...(content ?? []).flatMap((one) => (one.type === 'diff' ? [one.path] : [])),
    ...PATH_ARGUMENTS.flatMap((name) => (typeof raw[name] === 'string' ? [raw[name]] : [])),
  ];
}

function isInside(folder: string, named: string): boolean {
  const relative = path.relative(folder, path.resolve(folder, named));
  return relative === '' || (!path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..');
}
