/**
 * What the configuration tells of a server that is not ours: headers, tools, settings.
 */
import { DEFAULT_TOOLS, type ToolChoice } from '../client/types.ts';
import type { CommandTarget, UrlTarget } from '../config/schema.ts';
import { UsageError, type KnownSettings } from './target.ts';

/** Looks an environment variable up. */
export type Variables = (name: string) => string | undefined;

/**
 * Headers with `${NAME}` replaced by that environment variable.
 * @param where names their place in messages; values are secrets and never stand in one.
 * @throws UsageError when a variable is not set or a header cannot be sent.
 */
export function expandHeaders(
  headers: Readonly<Record<string, string>>,
  where: string,
  variables: Variables = (name) => process.env[name],
): Record<string, string> {
  const expanded = Object.entries(headers).map(([name, template]): [string, string] => {
    const value = template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, variable: string) => {
      const found = variables(variable);
      if (found === undefined) {
        throw new UsageError(
          `The header ${name} of ${where} wants the environment variable ${variable}: set it.`,
        );
      }
      return found;
    });
    return [name, sendable(name, value, where)];
  });
  return Object.fromEntries(expanded);
}

function sendable(name: string, value: string, where: string): string {
  try {
    new Headers([[name, value]]);
    return value;
  } catch {
    throw new UsageError(
      `The header ${JSON.stringify(name)} of ${where} cannot be sent: check its name and value.`,
    );
  }
}

type Declared = Pick<CommandTarget & UrlTarget, 'declared' | 'tools'>;

export function declaredSettings({ declared }: Declared): KnownSettings {
  return {
    ...(declared?.idleTimeout === undefined ? {} : { idleTimeoutSeconds: declared.idleTimeout }),
    ...(declared?.maxSessions === undefined ? {} : { maxSessions: declared.maxSessions }),
  };
}

export function declaredTools({ tools }: Declared): ToolChoice {
  return { call: tools?.call ?? DEFAULT_TOOLS.call, slow: tools?.slow ?? DEFAULT_TOOLS.slow };
}

/** What is declared, as the recording keeps it: names of headers, never their values. */
export function declaredRecord(
  spec: Declared,
  headers: Readonly<Record<string, string>>,
): Record<string, string | number | null> {
  const { idleTimeoutSeconds, maxSessions } = declaredSettings(spec);
  return {
    ...(idleTimeoutSeconds === undefined ? {} : { declaredIdleTimeout: idleTimeoutSeconds }),
    ...(maxSessions === undefined ? {} : { declaredMaxSessions: maxSessions }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: Object.keys(headers).join(', ') }),
  };
}
