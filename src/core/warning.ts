/** A warning about a document that is stored anyway. Errors, for which a document is refused, are issues (`problem.ts`). */
import { z } from 'zod';
import { limits } from './limits.ts';

/** `path` has the same format as in an issue. */
export const Warning = z.object({ path: z.string(), message: z.string() }).meta({ id: 'Warning' });
export type Warning = z.infer<typeof Warning>;

/** Returns the first warnings and the number of further ones. `what`: the kind of warning, in the plural. */
export function firstWarnings(warnings: readonly Warning[], what: string, most: number = limits.maxReportedWarnings): Warning[] {
  const more = warnings.length - most;
  if (more <= 0) return [...warnings];
  return [...warnings.slice(0, most), { path: 'tools', message: `and ${more} more ${what}` }];
}
