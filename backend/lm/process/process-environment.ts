import { ACCELERATORS } from '../device/accelerators.ts';

/**
 * The variables that the model's process gets from the backend's environment. This is an allowlist, because environments also contain
 * provider keys, which the process must not get.
 */
const PASSED_ON = [
  'PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR',
  // The paths of libraries and the user's configuration of devices.
  'LD_LIBRARY_PATH', ...Object.values(ACCELERATORS).flatMap(({ variables }) => variables),
  // Windows needs these to find libraries and temporary files.
  'Path', 'SystemRoot', 'SystemDrive', 'windir', 'TEMP', 'TMP', 'USERPROFILE', 'LOCALAPPDATA', 'PROCESSOR_ARCHITECTURE',
];

export function processEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(passedOn),
    // Turns off onnxruntime's telemetry (docs/gpu.md).
    ORT_DISABLE_TELEMETRY: '1',
    // Makes VS Code's Electron behave as Node instead of opening a window. Node ignores the variable.
    ELECTRON_RUN_AS_NODE: '1',
  };
}
