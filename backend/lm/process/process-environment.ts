import { ACCELERATORS } from '../device/accelerators.ts';

/**
 * What the model's process is told of the backend's environment. Keys of providers stand in environments, too, and are none of
 * its business: so variables are named, not excluded.
 */
const PASSED_ON = [
  'PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR',
  // Where libraries are, and which GPUs may be used, as far as the machine's owner has said so.
  'LD_LIBRARY_PATH', ...Object.values(ACCELERATORS).flatMap(({ variables }) => variables),
  // Windows: without these, libraries and temporary files are not found.
  'Path', 'SystemRoot', 'SystemDrive', 'windir', 'TEMP', 'TMP', 'USERPROFILE', 'LOCALAPPDATA', 'PROCESSOR_ARCHITECTURE',
];

export function processEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(passedOn),
    // onnxruntime reports its use to its maker unless it is told not to (docs/gpu.md).
    ORT_DISABLE_TELEMETRY: '1',
    // The Node at hand may be VS Code's, which would open a window. Any other ignores this.
    ELECTRON_RUN_AS_NODE: '1',
  };
}
