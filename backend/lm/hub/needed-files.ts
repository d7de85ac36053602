import type { HubFile } from './hub-client.ts';

/** What the runtime reads besides the weights. Everything else in a repository (other formats, pictures) stays there. */
const NEEDED = [
  /^config\.json$/,
  /^generation_config\.json$/,
  /^tokenizer[\w.-]*\.(json|jinja)$/,
  /^chat_template[\w.-]*\.(json|jinja)$/,
  /^LICEN[CS]E(\.\w+)?$/i,
];
const WEIGHTS = /^[\w][\w.-]*\.safetensors(\.index\.json)?$/;

/**
 * The files of a repository that a model is run from: none where it has no configuration or no safetensors.
 * Some repositories hold the same weights twice, as `model-….safetensors` and under the name of another program; then only the
 * first is taken.
 */
export function neededFiles(files: readonly HubFile[]): HubFile[] {
  const weights = files.filter(({ name }) => WEIGHTS.test(name));
  const ofModel = weights.filter(({ name }) => name.startsWith('model'));
  const taken = ofModel.length > 0 ? ofModel : weights;
  const hasWeights = taken.some(({ name }) => name.endsWith('.safetensors'));
  const hasConfig = files.some(({ name }) => name === 'config.json');
  if (!hasWeights || !hasConfig) return [];
  return [...files.filter(({ name }) => NEEDED.some((pattern) => pattern.test(name))), ...taken];
}
