import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What vitest can check types with. It looks for them on PATH first. */
const CHECKERS = ['tsc', 'vue-tsc', 'tsgo'];

/**
 * A compiler that vitest starts keeps what it has learned beside vitest's own files. There it may not write, and takes that for an error in
 * the types. Each script in this folder starts the project's compiler, and has it keep that in the temporary folder of the run.
 *
 * Returns the folder (absolute, below `tools`), which has to be searched before all others.
 */
export async function typeCheckers(tools: string): Promise<string> {
  const folder = path.join(tools, 'checkers');
  await mkdir(folder, { recursive: true });
  for (const name of CHECKERS) {
    const file = path.join(folder, name);
    await writeFile(file, script(name));
    await chmod(file, 0o755);
  }
  return folder;
}

const script = (name: string): string => `#!/bin/sh
here=$(dirname "$0")
PATH=$(printf %s "$PATH" | tr : '\\n' | grep -vxF "$here" | tr '\\n' :)
PATH=\${PATH%:}
export PATH
case " $* " in
  *" --tsBuildInfoFile "* | *vitest-temp*) exec ${name} "$@" --tsBuildInfoFile "\${TMPDIR:-/tmp}/types-$$.tsbuildinfo" ;;
  *) exec ${name} "$@" ;;
esac
`;
