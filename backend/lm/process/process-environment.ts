import { ACCELERATORS } from '../device/accelerators.ts';

/**
 * The variables that the model's process gets from the backend's environment. Environments also contain keys of providers, which it must
 * not get, so this is a list of what is passed on, not of what is excluded.
 */
const PASSED_ON = [
  'PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR',
  // Where libraries are, and how the owner of the machine configured its devices.
  'LD_LIBRARY_PATH', ...Object.values(ACCELERATORS).flatMap(({ variables }) => variables),
  // Windows: without these, libraries and temporary files are not found.
  'Path', 'SystemRoot', 'SystemDrive', 'windir', 'TEMP', 'TMP', 'USERPROFILE', 'LOCALAPPDATA', 'PROCESSOR_ARCHITECTURE',
];

export function processEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(passedOn),
    // Turns off onnxruntime's telemetry (docs/gpu.md).
    ORT_DISABLE_TELEMETRY: '1',
    // This Node may be VS Code's, which would open a window. Any other Node ignores the variable.
    ELECTRON_RUN_AS_NODE: '1',
  };
}
