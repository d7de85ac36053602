import path from 'node:path';
import { composerFile, composerScript } from './composer-scripts.ts';
import { launchedScript } from './launched-script.ts';
import { nodeTestAlias } from './node-test-alias.ts';
import { inItsFolder } from './package-folder.ts';
import { ProjectFolder, type PackageFile } from './project-folder.ts';
import { runInTurn, scriptsMatching } from './run-together.ts';
import { scriptUse, type ScriptUse } from './script-use.ts';
import { simpleCommands, withEdits, type Edit, type SimpleCommand } from './shell-words.ts';
import { wireitCommand } from './wireit.ts';

/** Of scripts that run scripts. Beyond this depth they are taken for a cycle. */
const MAX_DEPTH = 6;

/**
 * Expands `npm test`, `yarn run unit -- --bail`, `pnpm lint`, `nyc npm run unit`, `run-s lint test:*`, `composer test` and the like to the script's text, with the scripts that
 * npm runs before and after it. Then the runner can be recognized and made to write a report, the package manager is not needed, and a
 * third of a second is saved. A program that a package manager starts (`yarn tsc`) is started without it. The command runs in `folder`; a
 * `cd` before it is followed.
 */
export async function expandScripts(command: string, folder: string, depth = 0): Promise<string> {
  if (depth >= MAX_DEPTH) return command;
  const edits: Edit[] = [];
  let current = folder;
  const commands = simpleCommands(command);
  for (const simple of commands) {
    const [first, second] = simple.words.map(({ text }) => text);
    if (first === 'cd' && second !== undefined) {
      current = path.resolve(current, second);
      continue;
    }
    const { call, launcher, measuresOnly } = launchedScript(simple);
    const [start, end] = [call.words[0]?.start, call.words.at(-1)?.end];
    const project = new ProjectFolder(current);
    const found = await project.packageFile();
    const ofNode = found && (expansionOf(call, found, command) ?? (await inItsFolder(call, current, command)) ?? runInTurn(call, found.scripts) ?? nodeTestAlias(call, found, command));
    const text = ofNode ?? (await composerExpansion(call, project, command));
    if (text === undefined || start === undefined || end === undefined) continue;
    const expanded = await expandScripts(text, current, depth + 1);
    const inner = simpleCommands(expanded);
    // Another program can start one program, and no line of a shell.
    if (launcher && !measuresOnly && (inner.length !== 1 || (inner[0]?.assignments.length ?? 0) > 0)) continue;
    // A script runs in a shell of its own: the folder that it changes to is left at its end.
    const changesFolder = commands.length > 1 && inner.some(({ words }) => words[0]?.text === 'cd');
    edits.push({ start: launcher && measuresOnly ? launcher.start : start, end, text: changesFolder ? `(${expanded})` : expanded });
  }
  return withEdits(command, edits);
}

async function composerExpansion(call: SimpleCommand, project: ProjectFolder, command: string): Promise<string | undefined> {
  const composer = await composerFile(project);
  return composer && composerScript(call, composer, command);
}

/** What a use of a package manager runs, if it runs a script or a program. */
function expansionOf(simple: SimpleCommand, found: PackageFile, command: string): string | undefined {
  const used = scriptUse(simple);
  if (used === undefined) return undefined;
  const isExec = simple.words[1]?.text === 'exec';
  return (isExec ? undefined : lifecycleOf(found, used, command)) ?? (used.program && command.slice(used.program.start, simple.words.at(-1)?.end));
}

function lifecycleOf({ scripts, wireit }: PackageFile, { name, extra }: ScriptUse, command: string): string | undefined {
  const script = scripts[name] === 'wireit' ? wireitCommand(name, wireit) : scripts[name];
  if (script === undefined) return extra === undefined ? scriptsMatching(name, scripts) : undefined;
  const withExtra = extra === undefined ? script : `${script} ${command.slice(extra.start, extra.end)}`;
  return [scripts[`pre${name}`], withExtra, scripts[`post${name}`]].filter((part) => part !== undefined).join(' && ');
}

/**
 * The scripts of a package that look like its tests, the likeliest first. Where another script measures the coverage of one, that one is the tests alone, and the
 * script "test" may do much besides.
 */
export function testScripts({ scripts }: PackageFile): readonly string[] {
  const measured = new Set(Object.entries(scripts).flatMap(([name, text]) => (name === 'test' ? [] : [measuredBy(text)])));
  const rank = (name: string): number => (measured.has(name) ? 0 : name === 'test' ? 1 : /^(test:unit|unit|test:ci)$/.test(name) ? 2 : 3);
  return Object.keys(scripts)
    .filter((name) => /^(?:tests?|unit|spec)(?:$|[:_-])/.test(name) && !/watch|cov|update|debug|e2e/.test(name))
    .sort((a, b) => rank(a) - rank(b));
}

/** How npm is told to run a script. */
export const scriptCommand = (name: string): string => `npm ${name === 'test' ? 'test' : `run ${name}`}`;

/** The script whose coverage a script measures. */
function measuredBy(text: string): string | undefined {
  const [only, ...others] = simpleCommands(text);
  if (!only || others.length > 0) return undefined;
  const { call, measuresOnly } = launchedScript(only);
  return measuresOnly ? scriptUse(call)?.name : undefined;
}
