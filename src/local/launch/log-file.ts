/**
 * The log of the service in the data folder, which `moniker logs` reads: `log`, and `log.1` with the lines before. Each has at most
 * `maxLogFileBytes`.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const maxLogFileBytes = 4 * 1024 * 1024;
const maxLineLength = 16 * 1024;

/** Returns a function that appends a line. A full disk must not end the service: the line is then lost, from the file only. */
export function openLogFile(dataDir: string, maxBytes = maxLogFileBytes): (line: string) => void {
  const { current, previous } = logFiles(dataDir);
  let size = sizeOf(current);
  return (line) => {
    const text = Buffer.from(`${line.slice(0, maxLineLength)}\n`);
    try {
      if (size > 0 && size + text.length > maxBytes) {
        renameSync(current, previous);
        size = 0;
      }
      appendFileSync(current, text, { mode: 0o600 });
      size += text.length;
    } catch {
      // No space, or a file that another program holds open on Windows.
    }
  };
}

export function logFiles(dataDir: string): { current: string; previous: string } {
  return { current: join(dataDir, 'log'), previous: join(dataDir, 'log.1') };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
