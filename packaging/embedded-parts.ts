/** A third-party library inside a binary, which no package.json lists. */
export interface EmbeddedPart {
  readonly name: string;
  /** Matches the paths of VSIX files, or the folders of packages, that contain it. */
  readonly isIn: RegExp;
  /** An SPDX expression. */
  readonly license: string;
  /** A file of packaging/texts. */
  readonly text: string;
  /** Why it may ship although its licence is not permissive. */
  readonly accepted?: string;
}

const RIPGREP = /\/bin\/rg(\.exe)?$/;
/** In file names, a + replaces the /. */
const RIPGREP_FOR_LINUX = /@vscode[/+]ripgrep-linux-[^/]*$/;

/** Determined from the binaries' strings and their projects' build files. Check again after each update of a binary. */
export const EMBEDDED_PARTS: readonly EmbeddedPart[] = [
  { name: 'ripgrep', isIn: RIPGREP, license: 'MIT OR Unlicense', text: 'ripgrep.txt' },
  { name: 'Rust crates and standard library', isIn: RIPGREP, license: 'MIT AND BSD-3-Clause', text: 'rust.txt' },
  { name: 'PCRE2', isIn: RIPGREP, license: 'BSD-3-Clause', text: 'pcre2.txt' },
  { name: 'jemalloc', isIn: RIPGREP_FOR_LINUX, license: 'BSD-2-Clause', text: 'jemalloc.txt' },
  { name: 'musl', isIn: RIPGREP_FOR_LINUX, license: 'MIT', text: 'musl.txt' },
  { name: 'tree-sitter and its grammars', isIn: /\/tree-sitter[\w-]*\.wasm$/, license: 'MIT', text: 'tree-sitter.txt' },
  {
    name: 'Third parties of ONNX Runtime',
    isIn: /\/(libonnxruntime\.[\w.]+|onnxruntime\.dll)$/,
    license: 'LicenseRef-onnxruntime-ThirdPartyNotices',
    text: 'onnxruntime-third-parties.txt',
    accepted: 'ONNX Runtime\'s own notices, as Microsoft publishes them with it. What of it is under the Mozilla Public License ' +
      '2.0 (Eigen) is used unchanged; its source is at https://gitlab.com/libeigen/eigen.',
  },
  {
    name: 'GNU C Library',
    isIn: /\/apply-seccomp$/,
    license: 'LGPL-2.1-or-later',
    text: 'glibc.txt',
    accepted: 'Inside one helper program that others publish with its source, and that anyone can build anew and replace.',
  },
];
