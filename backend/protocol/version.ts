/**
 * The contract's version. MAJOR changes when an older peer would misread a message; MINOR when something was added that an older
 * peer may ignore.
 */
export const PROTOCOL_VERSION = { major: 3, minor: 0 } as const;

export interface ProtocolVersion {
  readonly major: number;
  readonly minor: number;
}

export type Compatibility =
  | { readonly compatible: true }
  | { readonly compatible: false; readonly reason: string };

/** Whether a client that speaks `client` can talk to a backend that speaks `backend`, and if not, which of the two to update. */
export function compatibility(client: ProtocolVersion, backend: ProtocolVersion = PROTOCOL_VERSION): Compatibility {
  if (client.major === backend.major) return { compatible: true };
  const older = client.major < backend.major ? 'the extension or command line' : 'the running backend';
  return {
    compatible: false,
    reason:
      `The client speaks protocol ${client.major}.${client.minor}, the backend ${backend.major}.${backend.minor}: ` +
      `update ${older}, or end the running backend with "conductor backend stop".`,
  };
}
