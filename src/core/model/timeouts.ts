/** How long a model may take before its request fails, so that a fallback is asked: of a provider, and of an agent. */
import { z } from 'zod';
import { limits } from '../limits/limits.ts';

const timeout = z.int().min(100).max(limits.providerWholeTimeoutMs);

export const ModelTimeouts = z
  .strictObject({
    firstByteMs: timeout.optional().meta({
      description: `Of a streamed reply: until its first output. Default ${limits.providerFirstByteTimeoutMs}.`,
    }),
    betweenBytesMs: timeout.optional().meta({
      description: `Of a streamed reply: the longest pause in it. Default ${limits.providerIdleTimeoutMs}.`,
    }),
    wholeMs: timeout.optional().meta({
      description: `Of a reply that is not streamed, which arrives when it is complete. Default ${limits.providerWholeTimeoutMs}.`,
    }),
  })
  .meta({ id: 'ModelTimeouts', example: { firstByteMs: 10_000 } });
export type ModelTimeouts = z.infer<typeof ModelTimeouts>;

/** Returns the timeouts of a request; those of the agent take precedence. */
export function timeoutsOf(provider: ModelTimeouts | undefined, agent: ModelTimeouts | undefined): Required<ModelTimeouts> {
  return {
    firstByteMs: agent?.firstByteMs ?? provider?.firstByteMs ?? limits.providerFirstByteTimeoutMs,
    betweenBytesMs: agent?.betweenBytesMs ?? provider?.betweenBytesMs ?? limits.providerIdleTimeoutMs,
    wholeMs: agent?.wholeMs ?? provider?.wholeMs ?? limits.providerWholeTimeoutMs,
  };
}
