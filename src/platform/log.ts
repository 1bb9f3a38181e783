/** The log: one JSON line per record on the console, which `wrangler tail`, Workers Logs and `npm start` read. */
import type { LogLevel } from '../core/people/settings.ts';
import type { Logger } from '../ports/runtime.ts';

const ranks: Record<LogLevel, number> = { error: 0, info: 1, debug: 2 };

/** JSON escapes control characters, so a record with untrusted values stays on one line. */
export function createLog(level: LogLevel, write: (line: string) => void = console.log): Logger {
  const record =
    (rank: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      if (ranks[rank] <= ranks[level]) write(JSON.stringify({ level: rank, message, at: new Date().toISOString(), ...fields }));
    };
  return { error: record('error'), info: record('info'), debug: record('debug') };
}
