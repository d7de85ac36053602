/**
 * The protocol's version. MAJOR changes when an older peer would misread a message, MINOR when an older peer may ignore what was added.
 */
export const PROTOCOL_VERSION = { major: 3, minor: 6 } as const;

export interface ProtocolVersion {
  readonly major: number;
  readonly minor: number;
}

export type Compatibility =
  | { readonly compatible: true }
  | { readonly compatible: false; readonly reason: string };

/** Checks that client and backend are compatible. If not, says which of the two to update. */
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
