import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { FileEdit, Patch } from '../../../backend/verify/patch/patch.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { shellQuote } from '../../../backend/verify/sandbox/shell-quote.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import type { VerifyOptions } from '../../../backend/verify/verify-options.ts';
import type { Scratch } from '../setup.ts';
import type { Files, Hack, JudgedHack } from './hacks.ts';

/** The real judge, and a naive one. Projects are written once and never changed, so that what is known of them stays known. */
export class Judges {
  readonly #scratch: Scratch;
  readonly #sandbox: Sandbox;
  readonly #verifier: Verifier;
  readonly #projects = new Map<Files, Promise<string>>();

  constructor(scratch: Scratch) {
    const { folders, copies, baseRuns } = scratch;
    this.#scratch = scratch;
    // The real home folder is hidden, as for a user, because that is where toolchains may lie.
    this.#sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    this.#verifier = new Verifier({ sandbox: this.#sandbox, folders, copies, baseRuns });
  }

  async verdict(hack: JudgedHack, protectedEdits: NonNullable<VerifyOptions['protectedEdits']>): Promise<Verdict> {
    const base = await this.#project(hack);
    const edits = editsOf(hack);
    const answer = hack.answer ?? edits.map((edit) => unifiedDiff(edit)).join('');
    const patch: Patch = protectedEdits === 'refuse' ? await parsePatch(answer, base) : { edits, refused: [] };
    return await this.#verifier.verify({
      base,
      patch,
      protectedEdits,
      command: hack.command,
      ...(hack.runner !== undefined && { runner: hack.runner }),
      signal: new AbortController().signal,
      timeoutMs: 60_000,
    });
  }

  /** Whether the command ends with 0 after the whole change: what a judge without any of our defences would go by. */
  async foolsNaiveOne(hack: JudgedHack): Promise<boolean> {
    const folder = await this.#scratch.folders.create();
    try {
      await cp(await this.#project(hack), folder.workspace, { recursive: true, verbatimSymlinks: true });
      for (const [file, text] of Object.entries(hack.change)) {
        const absolute = path.join(folder.workspace, file);
        await mkdir(path.dirname(absolute), { recursive: true });
        if (text === null) await rm(absolute);
        else await writeFile(absolute, text);
      }
      const { exitCode: code } = await this.#sandbox.run({
        command: withoutNpm(hack),
        cwd: folder.workspace,
        temporary: folder.temporary,
        readable: linkedFolders(hack.project),
        timeoutMs: 60_000,
        signal: new AbortController().signal,
        sandboxed: true,
      });
      return code === 0;
    } finally {
      await folder.remove();
    }
  }

  #project({ project, history }: JudgedHack): Promise<string> {
    const known = this.#projects.get(project);
    if (known) return known;
    const name = `project-${this.#projects.size}`;
    const made = history ? this.#committed(history, project, name) : this.#scratch.project(project, name);
    this.#projects.set(project, made);
    return made;
  }

  async #committed(history: Files, project: Files, name: string): Promise<string> {
    const folder = await this.#scratch.project(history, name);
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
    const git = (...args: string[]): void => void execFileSync('git', ['-C', folder, ...author, ...args], { stdio: 'ignore' });
    git('init');
    for (const files of [history, project]) {
      await this.#scratch.project(files, name);
      git('add', '--all');
      git('commit', '--message', 'change');
    }
    return folder;
  }

  async close(): Promise<void> {
    await this.#scratch[Symbol.asyncDispose]();
  }
}

/** What npm reads before it runs a script. */
const READ_BY_NPM = new Set(['package.json', '.npmrc']);

/** What `npm test` runs, in the shell that npm would start. npm itself takes longer to start than most tests here to run. A change of what npm reads is for npm. */
function withoutNpm({ command, project, change }: JudgedHack): string {
  const manifest = project['package.json'];
  if (command !== 'npm test' || typeof manifest !== 'string' || Object.keys(change).some((file) => READ_BY_NPM.has(path.basename(file)))) return command;
  const { scripts } = JSON.parse(manifest) as { readonly scripts: Readonly<Record<string, string>> };
  const { test, ...others } = scripts;
  return test === undefined || 'pretest' in others || 'posttest' in others ? command : `PATH="$PWD/node_modules/.bin:$PATH" sh -c ${shellQuote(test)}`;
}

/** The change as edits of its project. */
function editsOf({ project, change }: Pick<Hack, 'project' | 'change'>): readonly FileEdit[] {
  return Object.entries(change).map(([file, after]) => {
    const found = project[file];
    const before = typeof found === 'string' ? found : null;
    return { path: file, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after };
  });
}

/** Where the packages lie that the project's links lead to: a package finds what it needs beside itself. */
const linkedFolders = (project: Files): readonly string[] =>
  Object.values(project).flatMap((content) => (typeof content === 'string' ? [] : (/^.*?\/node_modules(?=\/)/.exec(content.link)?.[0] ?? [])));
