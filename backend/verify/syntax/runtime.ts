import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as TreeSitter from '@vscode/tree-sitter-wasm';
import { AsyncMemo } from '../../common/async-memo.ts';
import type { Language } from './language.ts';

const PACKAGE = '@vscode/tree-sitter-wasm';

/** Of 64 KiB. The longest text that is parsed needs about a tenth of the maximum. */
const PAGES = { initial: 512, maximum: 4_096 };

/** One WebAssembly memory with tree-sitter's parser and the grammars that were loaded into it. */
export class SyntaxRuntime {
  readonly library: typeof TreeSitter;
  readonly #grammars = new AsyncMemo<Language, TreeSitter.Language>();

  /** The package keeps its memory in module variables, so each runtime has its own instance of the module. */
  static async start(): Promise<SyntaxRuntime> {
    const load = createRequire(import.meta.url);
    Reflect.deleteProperty(load.cache, load.resolve(PACKAGE));
    const library = load(PACKAGE) as typeof TreeSitter;
    const options = {
      locateFile: (name: string) => load.resolve(`${PACKAGE}/wasm/${name}`),
      wasmMemory: new WebAssembly.Memory(PAGES),
      // When the memory is full, the thrown error says so as well.
      printErr: () => undefined,
    };
    await library.Parser.init(options);
    return new SyntaxRuntime(library);
  }

  private constructor(library: typeof TreeSitter) {
    this.library = library;
  }

  grammar(language: Language): Promise<TreeSitter.Language> {
    return this.#grammars.get(language, async () => {
      const file = createRequire(import.meta.url).resolve(`${PACKAGE}/wasm/tree-sitter-${language}.wasm`);
      return await this.library.Language.load(new Uint8Array(await readFile(file)));
    });
  }
}
