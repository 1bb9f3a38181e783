/** What the changes of a plan would have done to the calls of the last days, as one row for each toolset, and one for the policy. */
import * as z from 'zod';

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
    text: z.string().meta({ description: 'The row as one sentence.' }),
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

type Counts = Omit<ImpactRow, 'name' | 'text' | 'more'>;

export function impactText({ days, names, examples, calls, refused, denied, asked, eased, mends, isWhole }: Counts): string {
  const of = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
  const lost = calls - refused - denied;
  const parts = [
    ...(lost > 0 ? [`${of(lost, 'call')} of ${of(names, 'name')} (${examples.join(', ')}) would fail or call another tool`] : []),
    ...(refused > 0 ? [`${of(refused, 'call')} would be refused for the arguments`] : []),
    ...(denied > 0 ? [`${of(denied, 'call')} would be denied`] : []),
    ...(asked > 0 ? [`${of(asked, 'call')} would require approval`] : []),
    ...(eased > 0 ? [`${of(eased, 'call')} would no longer be denied or require approval`] : []),
  ];
  const kept = mends > 0 ? ` Kept by ${mends === 1 ? 'one alias' : `${mends} aliases`}, as far as possible.` : '';
  return `Of the last ${days} days, ${parts.join('; ')}.${isWhole ? '' : ' Not all calls were compared.'}${kept}`;
}
