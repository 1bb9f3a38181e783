/** What the changes of a plan would have done to the calls of the last days, as one row for each toolset, and one for the policy. */
import { z } from 'zod';

const count = z.int().nonnegative();

export const ImpactRow = z
  .object({
    name: z.string().meta({ description: 'As in a project file: `toolsets.work`, `policy`.' }),
    days: count,
    names: count.meta({ description: 'Names that would lead elsewhere, or to no tool.' }),
    examples: z.array(z.string()).meta({ description: 'The most called of these names, at most 5.' }),
    calls: count.meta({
      description: 'Calls that would not do what they did: by `gone`, `moved`, `ambiguous`, `unusable`, `refused` and `denied`.',
    }),
    gone: count.meta({ description: 'Calls of names that are gone. The next ones are counts of calls, too.' }),
    moved: count,
    ambiguous: count,
    unusable: count,
    refused: count.meta({ description: 'For their arguments, of the turns whose logs were read.' }),
    denied: count.meta({ description: 'By the policy.' }),
    asked: count.meta({ description: 'Calls that would require approval.' }),
    eased: count.meta({ description: 'Calls that the policy would no longer deny, or allow without the approval that they required.' }),
    mends: count.meta({ description: 'Deprecated aliases of names and arguments that keep calls working. `mend=true` applies them.' }),
    isWhole: z.boolean().meta({ description: 'false: there are more names, turns or calls than were compared.' }),
    more: z.string().meta({ description: 'The operation that returns all of it for a draft.' }),
  })
  .meta({ id: 'ImpactRow' });
export type ImpactRow = z.infer<typeof ImpactRow>;

/** `unknown`: changed documents that were not compared, with the reason. */
export type PlanImpact = { rows: ImpactRow[]; unknown: { name: string; reason: string }[] };

/** Returns whether the row says anything: a change that breaks no call has none. */
export function hasImpact({ calls, asked, eased }: ImpactRow): boolean {
  return calls + asked + eased > 0;
}
