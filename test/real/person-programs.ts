import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { userPath } from '../../backend/common/user-path.ts';

const PACKAGE_MANAGERS = ['pnpm@10', 'yarn@1'];

/** Projects ask for a newer Maven than systems have. It comes as an artefact, by the Maven that is there. */
const MAVEN = '3.9.9';

/**
 * Puts package managers that scripts of projects call on the person's PATH, for the bare command and for the judge alike, and uv, with which
 * Python projects are installed. A newer Maven comes first on PATH, if there is one at all. They are installed in `folder` (absolute), once. Throws what npm or pip say.
 */
export function addPersonPrograms(folder: string): void {
  const python = path.join(folder, 'python');
  const bins = [path.join(folder, 'node_modules', '.bin'), path.join(python, 'bin')];
  if (!existsSync(folder)) run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, ...PACKAGE_MANAGERS]);
  if (!existsSync(python)) run('python3', ['-m', 'pip', 'install', '--quiet', '--root-user-action', 'ignore', '--target', python, 'uv']);
  const maven = path.join(folder, 'maven');
  const hasMaven = spawnSync('mvn', ['--version']).status === 0;
  if (hasMaven && !existsSync(maven)) {
    const unpack = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack';
    run('mvn', ['--batch-mode', '--quiet', unpack, `-Dartifact=org.apache.maven:apache-maven:${MAVEN}:zip:bin`, `-DoutputDirectory=${maven}`], folder);
  }
  const first = hasMaven ? [path.join(maven, `apache-maven-${MAVEN}`, 'bin')] : [];
  process.env['CONDUCTOR_USER_PATH'] = [...first, userPath(process.env), ...bins].join(path.delimiter);
  // pnpm would fetch the version that the project names; its scripts run in any.
  process.env['npm_config_manage_package_manager_versions'] = 'false';
}

/** @param cwd for a program that leaves files where it runs */
function run(program: string, args: readonly string[], cwd?: string): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', cwd });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
