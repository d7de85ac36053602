import * as z from 'zod';

/* wireit runs the commands that the field `wireit` of a package.json has for its scripts, after those of the scripts that they depend on. */

const taskSchema = z.object({
  command: z.string().optional(),
  dependencies: z.array(z.union([z.string(), z.object({ script: z.string() })])).default([]),
  service: z.unknown().optional(),
});

/** What wireit runs for a script, each command once. Undefined if that is not known: a service, or scripts of all packages that this one depends on. */
export function wireitCommand(name: string, tasks: Readonly<Record<string, unknown>>): string | undefined {
  const commands = new Map<string, string>();
  const begun = new Set<string>();
  const add = (script: string): boolean => {
    if (begun.has(script)) return true;
    begun.add(script);
    const [, folder, elsewhere] = /^(\.{1,2}\/[^:]*):(.+)$/.exec(script) ?? [];
    if (folder !== undefined && elsewhere !== undefined) {
      commands.set(script, `(cd ${folder} && npm run ${elsewhere})`);
      return true;
    }
    const { data: task } = taskSchema.safeParse(tasks[script]);
    if (task === undefined || task.service !== undefined) return false;
    if (!task.dependencies.every((one) => add(typeof one === 'string' ? one : one.script))) return false;
    if (task.command !== undefined) commands.set(script, task.command);
    return true;
  };
  return add(name) && commands.size > 0 ? [...commands.values()].join(' && ') : undefined;
}
