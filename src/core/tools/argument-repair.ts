/** A repair of a call's arguments, as callers are told of it. `core/schema/repairs.ts` makes them. */
import * as z from 'zod';

/** One value that did not fit the tool's schema. */
export const Repair = z
  .object({
    path: z.string().meta({ description: 'Such as `filter.tags[0]`.' }),
    from: z.string().meta({ description: 'The value as JSON, shortened.' }),
    to: z.string().meta({ description: 'What the tool received: JSON, shortened; `nothing` for an optional argument that was removed.' }),
  })
  .meta({ id: 'Repair' });
export type Repair = z.infer<typeof Repair>;
