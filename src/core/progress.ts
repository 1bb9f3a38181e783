/** What a tool tells of a call under way, as others may be told: numbers that are some, and a short text that can be seen. */
import { limits } from './limits.ts';
import { cleanOutput } from './listing/listing-text.ts';
import type { ProgressUpdate } from './mcp-input.ts';

/** null: it says nothing. */
export function toldProgress({ progress, total, message }: ProgressUpdate): ProgressUpdate | null {
  if (!Number.isFinite(progress)) return null;
  const isText = typeof message === 'string' && message !== '';
  // Cut before it is cleaned: it may be as long as its server likes.
  const text = isText ? cleanOutput(message.slice(0, limits.maxProgressMessageLength).toWellFormed()) : '';
  return { progress, ...(Number.isFinite(total) && { total: total as number }), ...(text !== '' && { message: text }) };
}

/** Lets progress through as often as `limits` say, for one call: the first at once, then with some time between. */
export function createProgressGate(now: () => number): () => boolean {
  let passed = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (passed >= limits.maxProgressEvents || now() - lastAt < limits.progressIntervalMs) return false;
    passed += 1;
    lastAt = now();
    return true;
  };
}
