/** Limits of shell scripts. Part of `limits` (`core/limits.ts`). */
import { MB } from './units.ts';

export const shellLimits = {
  maxShellCommands: 10_000,
  /** Input of one command, in files and on stdin: no command yields before it has processed all of it. */
  maxShellCommandBytes: 6 * MB,
} as const;
