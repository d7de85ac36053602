/** What Node, Python, Go, Rust and Java say where there is no network. */
const SAYS_NO_NETWORK = /\b(?:EAI_AGAIN|ENETUNREACH|UnknownHostException|gaierror)\b|temporary failure in name resolution|network is unreachable|dial tcp: lookup \S+/i;
/** And where a Unix socket may not be opened. */
const SAYS_NO_UNIX_SOCKET = /\b(?:listen|dial) unix(?:gram|packet)? \S+ socket: operation not permitted|\blisten EPERM: operation not permitted/i;

/** A sentence on tests that fail for want of what the sandbox holds back, by the messages of those that failed; empty if none says so. */
export function heldBack(messages: readonly string[]): string {
  const lacks = (pattern: RegExp): boolean => messages.some((message) => pattern.test(message));
  const what = [...(lacks(SAYS_NO_NETWORK) ? ['network'] : []), ...(lacks(SAYS_NO_UNIX_SOCKET) ? ['Unix sockets'] : [])];
  return what.length === 0 ? '' : ` In the sandbox, tests have no ${what.join(' and no ')}, and some of these say that they miss that.`;
}
