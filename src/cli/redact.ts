/** The command line for the recording, without header values and what else may be a secret. */
import { redactArguments } from '../targets/secrets.ts';

export const redactedCommand = (args: readonly string[]): string => redactArguments(args).join(' ');
