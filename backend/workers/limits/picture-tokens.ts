import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { baseUrlOf } from '../servers/server-of.ts';

/*
 * The input tokens of a picture, at most, by what providers publish. A provider may count fewer: which rule applies depends on the model and
 * its version, so that the dearest one of a provider is taken. The usage that the provider reports replaces it.
 */

interface Size {
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

type Rule = (size: Size, model: string) => number;

/** @param worker at a server */
export function pictureTokens(worker: WorkerConfig, size: Size): number {
  const { host } = new URL(baseUrlOf(worker));
  const rule = worker.provider === 'anthropic' ? anthropic
    : host === 'api.openai.com' ? openAi
    : host === 'generativelanguage.googleapis.com' ? gemini
    : unknown;
  return Math.ceil(rule(size, worker.model));
}

/** A token for 750 pixels, after scaling to at most 4,784 tokens (https://platform.claude.com/docs/en/build-with-claude/vision). */
const anthropic: Rule = ({ width, height }) => Math.min(width * height / 750, 4_784);

/** Older models count tiles of 512 pixels, newer ones patches of 32 (https://platform.openai.com/docs/guides/images-vision). */
const openAi: Rule = (size, model) => Math.max(tiles(size, model), patches(size));

function tiles({ width, height }: Size, model: string): number {
  const fitted = Math.min(1, 2_048 / Math.max(width, height));
  const scale = Math.min(fitted, 768 / Math.min(width, height));
  const count = Math.ceil(width * scale / 512) * Math.ceil(height * scale / 512);
  const [base, each] = model.startsWith('gpt-4o-mini') ? [2_833, 5_667] : [85, 170];
  return base + each * count;
}

/** At most 1,536 patches, of which a small model counts each as 2.46 tokens. */
function patches({ width, height }: Size): number {
  return Math.min(Math.ceil(width / 32) * Math.ceil(height / 32), 1_536) * 2.46;
}

/** 258 tokens for each tile, whose side is two thirds of the shorter side; newer models 1,120 at most (https://ai.google.dev/gemini-api/docs/image-understanding). */
const gemini: Rule = ({ width, height }) => {
  const side = Math.max(256, Math.min(768, Math.floor(Math.min(width, height) / 1.5)));
  return Math.max(1_120, 258 * Math.ceil(width / side) * Math.ceil(height / side));
};

/** Whatever the worker. */
export function mostPictureTokens(size: Size): number {
  return Math.ceil(Math.max(anthropic(size, ''), gemini(size, ''), unknown(size, 'gpt-4o-mini')));
}

/** A token for 28 x 28 pixels, up to 16,384, as Qwen's models for pictures count (https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct); others count fewer. */
const unknown: Rule = (size, model) => Math.max(openAi(size, model), Math.min(size.width * size.height / 784, 16_384));
