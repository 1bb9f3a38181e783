/**
 * Ends programs that their server, its secrets or its workspace no longer want. The service reports changes; the launcher asks it which of its
 * programs are to end: then, after each start of a program, since the request may be older than a change, and regularly, since a notice
 * may be lost while the service restarts.
 */
import type { Program } from '../../core/servers/stdio.ts';
import { backoffMs } from '../../core/limits/backoff.ts';

/** Returns the keys of those that are to end. Rejects if the service does not respond. */
export type FindUnwanted = (programs: readonly Program[]) => Promise<readonly string[]>;

const intervalMs = 15_000;
const firstRetryMs = 1_000;

export type ProgramCheck = {
  /** Checks now, or once more after the check in progress. */
  check(): void;
  close(): void;
};

/** `running`: what runs or starts. While nothing does, nothing is asked. */
export function createProgramCheck(parts: {
  find: FindUnwanted;
  running(): readonly Program[];
  end(key: string): void;
  onLog(line: string): void;
}): ProgramCheck {
  let isChecking = false;
  let isDue = false;
  let isClosed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const checkOnce = async (): Promise<void> => {
    const programs = parts.running();
    if (programs.length === 0) return;
    for (const key of await parts.find(programs)) parts.end(key);
  };
  const run = async (): Promise<void> => {
    try {
      await checkOnce();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1) parts.onLog(`The programs of servers could not be checked; it is retried. ${String(error)}`);
    }
  };
  const check = (): void => {
    isDue = true;
    if (isChecking || isClosed) return;
    clearTimeout(timer);
    isChecking = true;
    isDue = false;
    void run().then(() => {
      isChecking = false;
      if (isDue && failures === 0) check();
      else if (!isClosed && parts.running().length > 0) {
        const waitMs = failures === 0 ? intervalMs : backoffMs({ firstMs: firstRetryMs, maxMs: intervalMs }, failures);
        timer = setTimeout(check, waitMs).unref();
      }
    });
  };
  return {
    check,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
