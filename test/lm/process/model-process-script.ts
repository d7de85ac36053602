import { fileURLToPath } from 'node:url';

/** The model's process as the backend starts it, from its source. */
export const MODEL_PROCESS = fileURLToPath(new URL('../../../backend/model-process.ts', import.meta.url));
