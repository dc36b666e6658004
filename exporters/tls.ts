/** What is asked of clients' certificates, by the names that Go's TLS library has for it. */
import type { Server } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';

export const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  /** The exporters' own older name for RequireAnyClientCert. */
  'RequireClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];

export interface TlsSettings {
  readonly options: ServerOptions;
  /** What Node.js does not check by itself: a certificate that must be there, or be right where it is. */
  readonly demands: 'nothing' | 'any' | 'verified-if-given';
}

/** PEM texts. */
interface Files {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

export function tlsSettings(files: Files, type: ClientAuthType): TlsSettings {
  const requestCert = type !== 'NoClientCert';
  const rejectUnauthorized = type === 'RequireAndVerifyClientCert';
  return {
    options: { ...files, minVersion: 'TLSv1.2', requestCert, rejectUnauthorized },
    demands:
      type === 'RequireAnyClientCert' || type === 'RequireClientCert'
        ? 'any'
        : type === 'VerifyClientCertIfGiven'
          ? 'verified-if-given'
          : 'nothing',
  };
}

/** Hangs up on clients that lack what is demanded of them. */
export function enforceClientCertificates(server: Server, { demands }: TlsSettings): void {
  if (demands === 'nothing') return;
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const given = socket.getPeerX509Certificate() !== undefined;
    if (demands === 'any' ? !given : given && !socket.authorized) socket.destroy();
  });
}
