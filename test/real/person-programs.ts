import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { userPath } from '../../backend/common/user-path.ts';

const PACKAGE_MANAGERS = ['pnpm@10', 'yarn@1'];

/**
 * Puts package managers that scripts of projects call on the person's PATH, for the bare command and for the judge alike, and uv, with which
 * Python projects are installed. They are installed in `folder` (absolute), once. Throws what npm or pip say.
 */
export function addPersonPrograms(folder: string): void {
  const python = path.join(folder, 'python');
  const bins = [path.join(folder, 'node_modules', '.bin'), path.join(python, 'bin')];
  if (!existsSync(folder)) run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, ...PACKAGE_MANAGERS]);
  if (!existsSync(python)) run('python3', ['-m', 'pip', 'install', '--quiet', '--root-user-action', 'ignore', '--target', python, 'uv']);
  process.env['CONDUCTOR_USER_PATH'] = [userPath(process.env), ...bins].join(path.delimiter);
  // pnpm would fetch the version that the project names; its scripts run in any.
  process.env['npm_config_manage_package_manager_versions'] = 'false';
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
