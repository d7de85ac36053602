import type { HubFile } from './hub-client.ts';

/** The files, other than weights, that are downloaded. Other files of a repository, such as other formats and pictures, are not. */
const NEEDED = [
  /^config\.json$/,
  /^generation_config\.json$/,
  /^tokenizer[\w.-]*\.(json|jinja)$/,
  /^chat_template[\w.-]*\.(json|jinja)$/,
  /^LICEN[CS]E(\.\w+)?$/i,
];
const WEIGHTS = /^[\w][\w.-]*\.safetensors(\.index\.json)?$/;

/**
 * The files of a repository that a model needs to run; none if it has no configuration or no safetensors.
 * Some repositories have the same weights twice, as `model-….safetensors` and under a name for another program. Only the former
 * are taken.
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
