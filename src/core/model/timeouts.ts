/** How long a model may take before its request fails, so that a fallback is asked: of a provider, and of an agent. */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';

export const modelTimeout = z.int().min(100).max(limits.providerWholeTimeoutMs);

export const ModelTimeouts = z
  .strictObject({
    firstByteMs: modelTimeout.optional().meta({
      description: `Of a streamed reply: until its first output. Default ${limits.providerFirstByteTimeoutMs}.`,
    }),
    betweenBytesMs: modelTimeout.optional().meta({
      description: `Of a streamed reply: the longest pause in it. Default ${limits.providerIdleTimeoutMs}.`,
    }),
    wholeMs: modelTimeout.optional().meta({
      description: `Of a reply that is not streamed, which arrives when it is complete. Default ${limits.providerWholeTimeoutMs}.`,
    }),
  })
  .meta({ id: 'ModelTimeouts', example: { firstByteMs: 10_000 } });
export type ModelTimeouts = z.infer<typeof ModelTimeouts>;

/**
 * How long, and how often, one model of a request may be asked. `leftMs`: of the total time of a route. `retries`: absent: the built-in number;
 * `mayRetry` is asked before each.
 */
export type AttemptLimits = ModelTimeouts & { leftMs?: number; retries?: number; mayRetry?(): boolean };

/** Returns the timeouts of a request; those of the agent or route take precedence. */
export function timeoutsOf(provider: ModelTimeouts | undefined, given: AttemptLimits | undefined): Required<ModelTimeouts> {
  const leftMs = given?.leftMs ?? Number.POSITIVE_INFINITY;
  return {
    firstByteMs: Math.min(given?.firstByteMs ?? provider?.firstByteMs ?? limits.providerFirstByteTimeoutMs, leftMs),
    betweenBytesMs: given?.betweenBytesMs ?? provider?.betweenBytesMs ?? limits.providerIdleTimeoutMs,
    wholeMs: Math.min(given?.wholeMs ?? provider?.wholeMs ?? limits.providerWholeTimeoutMs, leftMs),
  };
}
