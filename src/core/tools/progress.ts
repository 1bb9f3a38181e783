/** Sanitizes the progress updates of a running tool before they are passed on: finite numbers and a short visible text. */
import { cleanOutput } from '../listing/listing-text.ts';
import type { ProgressUpdate } from './mcp-input.ts';

/** Progress updates of one call that become events, and their minimum interval. */
export const maxProgressEvents = 200;
const progressIntervalMs = 250;
export const maxProgressMessageLength = 500;

/** Returns null for an update without a usable number. */
export function sanitizeProgress({ progress, total, message }: ProgressUpdate): ProgressUpdate | null {
  if (!Number.isFinite(progress)) return null;
  const isText = typeof message === 'string' && message !== '';
  // Cut before it is cleaned, since the server may send any length.
  const text = isText ? cleanOutput(message.slice(0, maxProgressMessageLength).toWellFormed()) : '';
  return { progress, ...(Number.isFinite(total) && { total: total as number }), ...(text !== '' && { message: text }) };
}

/**
 * Returns a gate that passes the progress updates of one call at the rate set in `limits`: the first at once, then one per interval.
 */
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
