/**
 * The web configuration file: TLS and users, with the names that Prometheus' own exporters use for them. Other keys
 * of theirs are refused rather than ignored.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { ConfigError, parseYaml } from '../src/config/load.ts';
import { CLIENT_AUTH_TYPES, tlsSettings, type TlsSettings } from './tls.ts';

const BCRYPT = /^\$2[aby]\$(0[4-9]|1\d|2\d|3[01])\$[./A-Za-z0-9]{53}$/;

const webConfigSchema = z.strictObject({
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
    .default({}),
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
 * @throws ConfigError
 */
export function loadWebConfig(file: string): WebConfig {
  const parsed = parseYaml(readText(file, 'the web configuration'), file, webConfigSchema);
  const tls = parsed.tls_server_config;
  const named = (name: string): string => resolve(dirname(file), name);
  return {
    users: new Map(Object.entries(parsed.basic_auth_users)),
    tls:
      tls === undefined
        ? null
        : checked(
            file,
            tlsSettings(
              {
                cert: readText(named(tls.cert_file), 'cert_file'),
                key: readText(named(tls.key_file), 'key_file'),
                ...(tls.client_ca_file !== undefined && {
                  ca: readText(named(tls.client_ca_file), 'client_ca_file'),
                }),
              },
              tls.client_auth_type,
            ),
          ),
  };
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${what} ${path} (${(error as NodeJS.ErrnoException).code ?? '?'}).`);
  }
}

/** A certificate that is none, or another key's, is refused before anything listens. */
function checked(file: string, tls: TlsSettings): TlsSettings {
  try {
    createSecureContext(tls.options);
  } catch (error) {
    throw new ConfigError(
      `${file}: tls_server_config: certificate and key cannot be used (${(error as Error).message}).`,
    );
  }
  return tls;
}
