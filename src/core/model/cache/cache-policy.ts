/** Whether replies of models are stored and answered again: set for an alias, for a key, or by the header of a request. Used by `engine/proxy/reply-cache.ts`. */
import * as z from 'zod';

/** KV deletes nothing earlier than the first one. */
export const cacheSeconds = { min: 60, max: 30 * 86_400 } as const;

export const cacheTimeMessage = `must be ${cacheSeconds.min} to ${cacheSeconds.max} seconds`;

export const CachePolicy = z
  .union([
    z.literal(false),
    z.strictObject({
      ttl: z
        .int()
        .min(cacheSeconds.min, { message: cacheTimeMessage })
        .max(cacheSeconds.max, { message: cacheTimeMessage })
        .meta({ description: 'Seconds.' }),
      scope: z.enum(['key', 'workspace']).optional().meta({
        description: 'Who gets a reply: the key that got it first (default), or all keys.',
      }),
    }),
  ])
  .meta({
    id: 'CachePolicy',
    description: 'Answers equal requests with stored replies. false: never. Absent: if a request asks.',
    example: { ttl: 3600 },
  });
export type CachePolicy = z.infer<typeof CachePolicy>;
