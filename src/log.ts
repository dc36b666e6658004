/** Logs for operators: JSON lines on stderr, results never among them. */
import { pino, type Logger } from 'pino';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type { Logger };

const STDERR = 2;

export function createLogger(level: LogLevel): Logger {
  // Written at once: a line must not be lost when the process exits.
  const destination = pino.destination({ dest: STDERR, sync: true });
  // Nobody reads stderr any more: that is no reason to end what is being measured.
  destination.on('error', () => undefined);
  return pino({ level, base: null }, destination);
}

export const silentLogger = (): Logger => pino({ level: 'silent' });
