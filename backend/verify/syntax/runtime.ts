import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as TreeSitter from '@vscode/tree-sitter-wasm';
import type { Language } from './language.ts';

const PACKAGE = '@vscode/tree-sitter-wasm';

/** 64 KiB each. A text of the greatest length that is parsed needs about a tenth of it. */
const PAGES = { initial: 512, maximum: 4_096 };

/** One memory with the parser of tree-sitter and the grammars that were asked for in it. */
export class SyntaxRuntime {
  readonly library: typeof TreeSitter;
  readonly #grammars = new Map<Language, Promise<TreeSitter.Language>>();

  /** The package keeps its memory in variables of its module, so each runtime has a module of its own. */
  static async start(): Promise<SyntaxRuntime> {
    const load = createRequire(import.meta.url);
    Reflect.deleteProperty(load.cache, load.resolve(PACKAGE));
    const library = load(PACKAGE) as typeof TreeSitter;
    const options = {
      locateFile: (name: string) => load.resolve(`${PACKAGE}/wasm/${name}`),
      wasmMemory: new WebAssembly.Memory(PAGES),
      // What it has to say when its memory is full is said by the error, too.
      printErr: () => undefined,
    };
    await library.Parser.init(options);
    return new SyntaxRuntime(library);
  }

  private constructor(library: typeof TreeSitter) {
    this.library = library;
  }

  grammar(language: Language): Promise<TreeSitter.Language> {
    const known = this.#grammars.get(language);
    if (known) return known;
    const file = createRequire(import.meta.url).resolve(`${PACKAGE}/wasm/tree-sitter-${language}.wasm`);
    const loading = readFile(file).then((bytes) => this.library.Language.load(new Uint8Array(bytes)));
    this.#grammars.set(language, loading);
    return loading;
  }
}
