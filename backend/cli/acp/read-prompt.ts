import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock, EmbeddedResource } from '@agentclientprotocol/sdk';
import type { FileRange } from '../../protocol/run-request.ts';
import { isInside } from '../../verify/files/plain-folders.ts';

/** A prompt as Conductor asks it. */
export interface ReadPrompt {
  /** The words, with what was attached in between by its name, and the texts of attachments that are no files of the project. */
  readonly question: string;
  /** The files of the project that were attached. They go with the question as they are on disk. */
  readonly files: readonly FileRange[];
  /** Pictures that were attached, in base64, unchecked. */
  readonly pictures: readonly { readonly data: string }[];
  /** What was attached and does not go with the question. */
  readonly leftOut: readonly string[];
}

/** @param folder the project, absolute */
export function readPrompt(blocks: readonly ContentBlock[], folder: string): ReadPrompt {
  const words: string[] = [];
  const texts: string[] = [];
  const files: FileRange[] = [];
  const pictures: { data: string }[] = [];
  const leftOut: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'resource_link':
      case 'resource': {
        const uri = block.type === 'resource' ? block.resource.uri : block.uri;
        const picture = block.type === 'resource' ? pictureOf(block) : undefined;
        if (picture !== undefined) {
          pictures.push({ data: picture });
          break;
        }
        const file = fileOf(uri, folder);
        const name = block.type === 'resource_link' ? block.name : uri;
        words.push(file?.path ?? name);
        const text = block.type === 'resource' ? textOf(block) : undefined;
        if (file) files.push(file);
        else if (text === undefined) leftOut.push(name);
        else texts.push(`${uri}:\n\n${text}`);
        break;
      }
      case 'image':
        pictures.push({ data: block.data });
        break;
      case 'audio':
        leftOut.push('a sound');
    }
  }
  return { question: [words.join(' ').trim(), ...texts].join('\n\n').trim(), files, pictures, leftOut };
}

/** A picture that was attached as a file. */
function pictureOf({ resource }: EmbeddedResource): string | undefined {
  return 'blob' in resource && resource.mimeType?.startsWith('image/') ? resource.blob : undefined;
}

function textOf({ resource }: EmbeddedResource): string | undefined {
  return 'text' in resource ? resource.text : undefined;
}

/** Lines in the fragment, as editors write them: `#L10`, `#L10:20`, `#L10-L20`. */
const LINES = /^#L(\d+)(?:[:-]L?(\d+))?$/;

/** The file of a URI if it is in the project. */
function fileOf(uri: string, folder: string): FileRange | undefined {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  if (url.protocol !== 'file:') return undefined;
  let file: string;
  try {
    file = fileURLToPath(url);
  } catch {
    // Another host, or a path that is none.
    return undefined;
  }
  const relative = path.relative(folder, file);
  if (relative === '' || !isInside(folder, file)) return undefined;
  const [, start, end] = LINES.exec(url.hash) ?? [];
  const [startLine, endLine] = [Number(start), Number(end ?? start)];
  return { path: relative.split(path.sep).join('/'), ...(startLine >= 1 && endLine >= startLine && { startLine, endLine }) };
}
