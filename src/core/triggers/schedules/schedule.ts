/** A schedule as its administrator writes it (DESIGN §8): when an agent is told something, again and again or once. */
import { z } from 'zod';
import { ResourceName } from '../../agent.ts';
import { limits } from '../../limits.ts';
import { CallbackShape } from '../callbacks/callback-settings.ts';

const wrongInterval = 'must be a time such as 90s, 15m, 1h30m or 7d';

export const Schedule = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: z.string().max(limits.maxDescriptionBytes).optional(),
    agent: ResourceName.meta({ description: 'Takes the turns.' }),
    cron: z.string().max(200).optional().meta({
      description:
        'Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Where day and weekday are both given, either is enough; `+MON` asks for both. `L` is the last day, `MON#2` the second Monday.',
    }),
    timeZone: z.string().max(100).optional().meta({ description: 'Of `cron`, such as `Europe/Berlin`. Absent: UTC.' }),
    interval: z
      .string({ error: wrongInterval })
      .max(20)
      .regex(/^(?:\d{1,9}d)?(?:\d{1,9}h)?(?:\d{1,9}m)?(?:\d{1,9}s)?$/, { message: wrongInterval })
      .min(2)
      .optional()
      .meta({ description: 'The time from one run to the next, such as `15m`; the first comes after one such time.' }),
    at: z.iso
      .datetime({ offset: true, message: 'must be a date with its time and offset, such as 2026-12-24T18:00:00+01:00' })
      .optional()
      .meta({ description: 'One date, for one run: with its offset, as in `2026-12-24T18:00:00+01:00`.' }),
    session: z.string().min(1).max(limits.maxSessionTemplateLength).default('{{@delivery}}').meta({
      description: 'Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: each run in one of its own.',
    }),
    input: z.string().min(1).max(limits.maxInputTemplateLength).meta({
      description:
        'Template of what the agent is told; `{{@time}}` is when the run was due, in UTC; beside it there are `{{@schedule}}` and `{{@delivery}}`, the id of the run.',
    }),
    overlap: z.enum(['skip', 'queue']).default('skip').meta({
      description:
        'A run that is due while the one before it has not ended: left out, or run after it. One that waits for somebody’s word has not ended.',
    }),
    paused: z.boolean().optional().meta({
      description:
        'Nothing runs. What was due meanwhile is not made up for, what waits for the run before it is left out, and an interval begins anew.',
    }),
    ...CallbackShape,
  })
  .refine(({ cron, interval, at }) => [cron, interval, at].filter((when) => when !== undefined).length === 1, {
    path: ['cron'],
    message: 'give one of cron, interval and at',
  })
  .refine(({ cron, timeZone }) => timeZone === undefined || cron !== undefined, { path: ['timeZone'], message: 'belongs to cron' })
  .meta({ id: 'Schedule', example: { agent: 'demo', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', input: '/shell echo good morning' } });
export type Schedule = z.infer<typeof Schedule>;

/** As it is stored; `callback` is sealed beside it (JSON: `{callback: string | null}`). */
export type ScheduleDocument = Omit<Schedule, 'callbackSecret'>;
