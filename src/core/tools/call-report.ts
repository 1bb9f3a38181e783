/**
 * What a server reports during a call: log lines and progress, bounded, for the caller. Texts are unchanged; where they are printed, they
 * are made visible (`core/text/visible-text.ts`).
 */
import { isDeeperThan } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToLength } from '../text/utf8.ts';
import type { ServerNotice, ProgressUpdate } from './mcp-input.ts';

export function boundNotice({ level, logger, data }: ServerNotice): ServerNotice {
  const isTooDeep = isDeeperThan(data, limits.maxJsonDepth);
  const told = isTooDeep ? `[left out: it nests deeper than ${limits.maxJsonDepth} levels]` : data;
  return { level, ...(logger !== undefined && { logger }), data: told };
}

/** Progress updates of one call that become events, and their minimum interval. */
export const maxProgressEvents = 200;
const progressIntervalMs = 250;
export const maxProgressMessageLength = 2_000;

/** Returns null for an update without a usable number. A message that is too long ends with `…`. */
export function boundProgress({ progress, total, message }: ProgressUpdate): ProgressUpdate | null {
  if (!Number.isFinite(progress)) return null;
  const isText = typeof message === 'string' && message !== '';
  return {
    progress,
    ...(Number.isFinite(total) && { total: total as number }),
    ...(isText && { message: cutToLength(message, maxProgressMessageLength) }),
  };
}

/** Returns a gate that passes the progress updates of one call at the rate set above: the first at once, then one per interval. */
export function createProgressGate(now: () => number): () => boolean {
  let passed = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (passed >= maxProgressEvents || now() - lastAt < progressIntervalMs) return false;
    passed += 1;
    lastAt = now();
    return true;
  };
}
