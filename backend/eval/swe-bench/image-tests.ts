import { lstat, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ContainerEngineError } from '../../verify/sandbox/container/container-engine.ts';
import { MAILBOX, NotLeftError, type Containers } from '../../verify/sandbox/container/containers.ts';
import { defaultLimits } from '../../verify/sandbox/limits/limits.ts';
import { GraderInfrastructureError } from '../../verify/graders/grader.ts';
import { MARKS, PROJECT, type SweBenchRow } from './rows.ts';

/** As long as SWE-bench's own harness waits. */
const TIMEOUT_MS = 30 * 60_000;

/** More than any suite prints. */
const MAX_LOG_BYTES = 64 * 2 ** 20;

/** The exit codes of our own script. */
const EXIT = { noProject: 90, doesNotFit: 91 } as const;

export interface TestsOfImage {
  /** What the tests printed. */
  readonly log: string;
  /** Of the tests' command; undefined if it did not end. */
  readonly exitCode: number | undefined;
  /** Why the script was ended before its end, if it was. */
  readonly exceeded: string | undefined;
}

const NOTHING_SAID = { log: '', exitCode: undefined } as const;

/**
 * Runs a row's own script on its image with a change, without a network. @param change a diff
 * @throws GraderInfrastructureError, the signal's reason
 */
export async function testsOfImage(
  { image, evalScript }: Pick<SweBenchRow, 'evalScript'> & { readonly image: string }, { change, containers, signal }: { readonly change: string; readonly containers: Containers; readonly signal: AbortSignal },
): Promise<TestsOfImage> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-tests-'));
  try {
    const [log, code] = [path.join(folder, 'log'), path.join(folder, 'code')];
    const { exitCode, exceeded, stderr } = await containers.runImage({
      image, signal, timeoutMs: TIMEOUT_MS, limits: defaultLimits(TIMEOUT_MS),
      given: { 'change.diff': change, 'eval.sh': withExitCode(evalScript) },
      taken: { log, code },
      script: [
        `: > ${MAILBOX}/log`, `: > ${MAILBOX}/code`,
        `cd ${PROJECT} || exit ${EXIT.noProject}`,
        `git -c safe.directory='*' apply ${MAILBOX}/change.diff || exit ${EXIT.doesNotFit}`,
        `exec bash ${MAILBOX}/eval.sh > ${MAILBOX}/log 2>&1`,
      ].join('\n'),
    });
    if (exitCode === EXIT.noProject) throw new GraderInfrastructureError(`The image ${image} has no folder ${PROJECT}.`);
    if (exitCode === EXIT.doesNotFit) throw new GraderInfrastructureError(`The change does not fit the project in the image ${image}: ${stderr.trim().slice(-300)}`);
    if (exceeded === 'disk') return { ...NOTHING_SAID, exceeded };
    const found = await Promise.all([log, code].map((file) => lstat(file)));
    if (found.some((file) => !file.isFile())) return { ...NOTHING_SAID, exceeded };
    if (found.some(({ size }) => size > MAX_LOG_BYTES)) return { ...NOTHING_SAID, exceeded: exceeded ?? 'output' };
    const status = (await readFile(code, 'utf8')).trim();
    return { log: betweenMarks(await readFile(log, 'utf8')), exitCode: status === '' ? undefined : Number(status), exceeded };
  } catch (error) {
    // The change runs as root in there, and may have removed it.
    if (error instanceof NotLeftError) return { ...NOTHING_SAID, exceeded: undefined };
    if (error instanceof ContainerEngineError) throw new GraderInfrastructureError(error.message, { cause: error });
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A script ends with the code of what it does after its tests, so theirs is noted right behind them. */
function withExitCode(script: string): string {
  const lines = script.split('\n');
  const end = lines.findIndex((line) => line.includes(MARKS.end));
  return (end < 0 ? lines : lines.toSpliced(end, 0, `echo $? > ${MAILBOX}/code`)).join('\n');
}

function betweenMarks(log: string): string {
  const begin = log.indexOf(MARKS.begin);
  const end = log.indexOf(MARKS.end, begin);
  return begin < 0 ? log : log.slice(begin, end < 0 ? undefined : end);
}
