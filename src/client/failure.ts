/** Why a request got no answer that could be read. Notes never repeat what was sent or received. */

export interface Failure {
  /**
   * unsent: proved not to have reached the server. broken: what the server did is uncertain. cancelled: given up
   * by us.
   */
  readonly kind: 'unsent' | 'broken' | 'cancelled';
  readonly note: string;
}

const UNTRUSTED =
  "the server's certificate is not trusted (name its authority's file in NODE_EXTRA_CA_CERTS)";

const NOTES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EMFILE: 'this process has no file descriptors left',
  EADDRNOTAVAIL: 'this machine has no local ports left',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not accepted in time',
  UND_ERR_INVALID_ARG: 'a header or the URL cannot be sent',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another host",
  UND_ERR_DESTROYED: 'the client was closed',
  UND_ERR_CLOSED: 'the client was closed',
  ECONNRESET: 'the connection was reset before the answer was complete',
  EPIPE: 'the connection was reset before the answer was complete',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer's body is not as long as announced",
};

/**
 * @param error what undici reported
 * @param started the request had been given to a connection: it cannot be proved unsent
 */
export function failureOf(error: Error & { code?: unknown }, started: boolean): Failure {
  const code = typeof error.code === 'string' ? error.code : 'no code';
  const parsing = error.name === 'HTTPParserError' ? 'the answer is not HTTP' : undefined;
  const known = NOTES[code] ?? parsing ?? `the request failed (${code})`;
  return started ? { kind: 'broken', note: known } : { kind: 'unsent', note: `${known}: nothing was sent` };
}
