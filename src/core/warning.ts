/** What a document may do and its author should know: it is stored all the same. Faults, for which it is refused, are issues (`problem.ts`). */
import { z } from 'zod';
import { limits } from './limits.ts';

/** `path` as in an issue. */
export const Warning = z.object({ path: z.string(), message: z.string() }).meta({ id: 'Warning' });
export type Warning = z.infer<typeof Warning>;

/** The first of them, and how many more there are. `what`: what the rest of them are. */
export function firstWarnings(warnings: readonly Warning[], what: string, most: number = limits.maxToldAdvice): Warning[] {
  const more = warnings.length - most;
  if (more <= 0) return [...warnings];
  return [...warnings.slice(0, most), { path: 'tools', message: `and ${more} more ${what}` }];
}
