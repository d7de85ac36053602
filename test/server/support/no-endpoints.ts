import type { EndpointService } from '../../../backend/server/handlers/serve-handlers.ts';

/** A backend that serves no other programs. */
export const NO_ENDPOINTS: EndpointService = { open: () => Promise.reject(new Error('not needed here')) };
