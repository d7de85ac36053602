import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* `npm run bench -- NAME [OPTION]...` runs NAME/bench.ts. */

const [name = '', ...options] = process.argv.slice(2);
const script = fileURLToPath(new URL(`${name}/bench.ts`, import.meta.url));
if (!/^\w+$/.test(name) || !existsSync(script)) {
  console.error(`There is no benchmark "${name}"; try: npm run bench -- webgpu`);
  process.exit(2);
}
process.argv = [process.argv[0] as string, script, ...options];
await import(script);
