/** The log: one JSON line a record on the console, where `wrangler tail`, Workers Logs and `npm start` pick it up. */
import type { LogLevel } from '../core/settings.ts';
import type { Logger } from '../ports/runtime.ts';

const ranks: Record<LogLevel, number> = { error: 0, info: 1, debug: 2 };

/** JSON keeps a record on one line whatever strangers put into its values: control characters are escaped. */
export function createLog(level: LogLevel, write: (line: string) => void = console.log): Logger {
  const record =
    (rank: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (ranks[rank] <= ranks[level]) write(JSON.stringify({ level: rank, message, at: new Date().toISOString(), ...fields }));
    };
  return { error: record('error'), info: record('info'), debug: record('debug') };
}
