/**
 * Counts webhook requests whose signature was refused, in the memory of this isolate, and reports the counts rarely: anyone can send such
 * requests, and they must not cause a write each. Counts of an isolate that ends before it reports are lost.
 */
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { RefusalCount } from '../../ports/triggers.ts';
import { createDelayedFlush } from '../delayed-flush.ts';

/** The first refusal is reported after this, with those that came meanwhile. */
const gatherMs = 2_000;
/** The next report of this isolate is sent no earlier. */
const reportIntervalMs = 60_000;
/** Only existing webhooks are counted; this is more than an isolate usually has. */
const maxCountedWebhooks = 1_000;

type Deps = {
  clock: Clock;
  log: Logger;
  background(work: Promise<unknown>): void;
  report(workspace: string, counts: readonly RefusalCount[]): Promise<void>;
};

export type RefusalCounter = ReturnType<typeof createRefusalCounter>;

export function createRefusalCounter({ clock, log, background, report }: Deps) {
  let counts = new Map<string, { workspace: string; webhook: string; count: number }>();

  const flush = async (): Promise<void> => {
    const taken = [...counts.values()];
    counts = new Map();
    for (const [workspace, rows] of Map.groupBy(taken, (row) => row.workspace)) {
      const reported = rows.map(({ webhook, count }) => ({ webhook, count }));
      await report(workspace, reported).catch((error: unknown) =>
        log.error('refused deliveries could not be counted', { workspace, webhooks: rows.length, cause: String(error) }),
      );
    }
  };

  const failed = (error: unknown): void => log.error('refused deliveries could not be counted', { cause: String(error) });
  const wake = createDelayedFlush({ clock, background, delayMs: gatherMs, takeOverMs: reportIntervalMs, next: 'later', flush, failed });

  /** Reports what an earlier report left, if it is time. */
  const reportDue = (): void => {
    if (counts.size > 0) wake();
  };

  return {
    /** `webhook`: one that exists. */
    count(workspace: string, webhook: string): void {
      const key = JSON.stringify([workspace, webhook]);
      const known = counts.get(key);
      if (known !== undefined) known.count += 1;
      else if (counts.size < maxCountedWebhooks) counts.set(key, { workspace, webhook, count: 1 });
      reportDue();
    },
    reportDue,
  };
}
