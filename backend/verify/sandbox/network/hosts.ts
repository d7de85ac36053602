/** A host that a command may reach. */
export interface AllowedHost {
  /** In lower case; `*.` in front stands for every name below it. */
  readonly name: string;
  readonly port: number;
  /** A server on this machine. */
  readonly isHere: boolean;
}

/** A host that is written in no form that is known. */
export class HostError extends Error {
  override readonly name = 'HostError';
}

const HTTPS = 443;
const HERE: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);
/** A command has no right to listen below. */
const FIRST_FREE_PORT = 1_024;
const WRITTEN = /^((?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(\d{1,5}))?$/;

/**
 * Reads a host as people write it: `api.example.com`, `*.example.com`, `example.com:8443`, or a server on this machine from port 1024 on, `127.0.0.1:11434`.
 * @returns undefined if it is none
 */
export function allowedHost(written: string): AllowedHost | undefined {
  const [, name, digits] = WRITTEN.exec(written.toLowerCase()) ?? [];
  if (name === undefined) return undefined;
  const isHere = HERE.has(name);
  // Every port of this machine would be far more than one server.
  if (isHere && (digits === undefined || Number(digits) < FIRST_FREE_PORT)) return undefined;
  const port = digits === undefined ? HTTPS : Number(digits);
  return port >= 1 && port <= 65_535 ? { name, port, isHere } : undefined;
}

/** Whether a command may connect to this host. Servers on this machine are reached by ports of their own, never by name. */
export function isAllowed(allowed: readonly AllowedHost[], host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return allowed.some((one) => !one.isHere && one.port === port &&
    (one.name.startsWith('*.') ? name.endsWith(one.name.slice(1)) && name.length > one.name.length - 1 : name === one.name));
}
