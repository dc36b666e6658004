/**
 * The web configuration file: TLS and users, with the names that Prometheus' own exporters use for them. Other keys
 * of theirs are refused rather than ignored.
 */
import { X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { ConfigError, parseYaml } from '../src/config/load.ts';
import { codeOf, reasonOf } from '../src/errno.ts';
import { bytesOf } from '../src/input.ts';
import { CLIENT_AUTH_TYPES, tlsSettings, type TlsSettings } from './tls.ts';

const BCRYPT = /^\$2[aby]\$(0[4-9]|1\d|2\d|3[01])\$[./A-Za-z0-9]{53}$/;

const NEITHER =
  'asks for neither TLS nor users: name tls_server_config or basic_auth_users, or leave --web-config out';

/** What is commented out protects nothing: a file that says so is refused rather than served without. */
const webConfigSchema = z
  .strictObject(
    {
      tls_server_config: z
        .strictObject({
          cert_file: z.string().min(1),
          key_file: z.string().min(1),
          client_auth_type: z.enum(CLIENT_AUTH_TYPES).default('NoClientCert'),
          client_ca_file: z.string().min(1).optional(),
        })
        .refine((tls) => !tls.client_auth_type.includes('Verify') || tls.client_ca_file !== undefined, {
          error: 'this type verifies client certificates: name the authority in client_ca_file',
          path: ['client_auth_type'],
        })
        .refine((tls) => tls.client_auth_type !== 'NoClientCert' || tls.client_ca_file === undefined, {
          error: 'without a client_auth_type such as RequireAndVerifyClientCert it has no effect',
          path: ['client_ca_file'],
        })
        .optional(),
      basic_auth_users: z
        .record(
          z.string().regex(/^[^:]+$/, 'a name without a colon'),
          // The value may be a password by mistake: zod does not repeat it.
          z.string().regex(BCRYPT, 'not a bcrypt hash: htpasswd -nBC 10 "" writes one'),
        )
        .refine((users) => Object.keys(users).length > 0, { error: 'name a user, or remove it' })
        .optional(),
    },
    { error: ({ input }) => (input === null ? NEITHER : undefined) },
  )
  .refine((web) => web.tls_server_config !== undefined || web.basic_auth_users !== undefined, {
    error: NEITHER,
  });

export interface WebConfig {
  readonly tls: TlsSettings | null;
  /** Bcrypt hashes by user name; empty: nobody is asked who they are. */
  readonly users: ReadonlyMap<string, string>;
}

/** Plain HTTP, for everybody. */
export const OPEN_WEB: WebConfig = { tls: null, users: new Map() };

/**
 * Files that it names are relative to its own folder, and are read now.
 * @param signal ends it, which matters where a path is a pipe that nobody writes to
 * @throws ConfigError; the signal's reason
 */
export async function loadWebConfig(file: string, signal?: AbortSignal): Promise<WebConfig> {
  const text = await textOf(file, 'the web configuration', signal);
  const { basic_auth_users, tls_server_config } = parseYaml(text, file, webConfigSchema);
  const users = new Map(Object.entries(basic_auth_users ?? {}));
  if (tls_server_config === undefined) return { users, tls: null };
  const { cert_file, key_file, client_ca_file, client_auth_type } = tls_server_config;
  const named = (name: string, what: string): Promise<string> =>
    textOf(resolve(dirname(file), name), what, signal);
  const files = {
    cert: await named(cert_file, 'cert_file'),
    key: await named(key_file, 'key_file'),
    ...(client_ca_file !== undefined && { ca: await named(client_ca_file, 'client_ca_file') }),
  };
  return { users, tls: checked(file, tlsSettings(files, client_auth_type)) };
}

async function textOf(path: string, what: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return (await bytesOf(path, signal)).toString('utf8');
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConfigError(`cannot read ${what} ${path} (${codeOf(error) || reasonOf(error)}).`);
  }
}

/** A certificate that is none, or another key's, is refused before anything listens. */
function checked(file: string, tls: TlsSettings): TlsSettings {
  const { ca } = tls.options;
  try {
    // Of an authority that is no certificate, the context says nothing: nobody could connect.
    if (typeof ca === 'string') new X509Certificate(ca);
  } catch {
    throw new ConfigError(`${file}: tls_server_config.client_ca_file holds no certificate: name one in PEM.`);
  }
  try {
    createSecureContext(tls.options);
  } catch (error) {
    throw new ConfigError(
      `${file}: tls_server_config: certificate and key cannot be used (${(error as Error).message}).`,
    );
  }
  return tls;
}
