/** A schedule as an administrator writes it (contract §8): when an agent receives an input, repeatedly or once. */
import * as z from 'zod';
import { ResourceName } from '../../turn/agent.ts';
import { limits } from '../../limits/limits.ts';
import { CallbackShape, TriggerShape } from '../callbacks/callback.ts';

const wrongInterval = 'must be a time such as 90s, 15m, 1h30m or 7d';

export const Schedule = z
  .strictObject({
    ...TriggerShape,
    agent: ResourceName.meta({ description: 'The agent that runs the turns.' }),
    cron: z.string().max(200).optional().meta({
      description:
        'Five fields, as in `0 9 * * 1-5`: minute, hour, day, month, weekday; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough; `+MON` requires both. `L` is the last day, `MON#2` the second Monday.',
    }),
    timeZone: z.string().max(100).optional().meta({ description: 'The time zone of `cron`, such as `Europe/Berlin`. Absent: UTC.' }),
    interval: z
      .string({ error: wrongInterval })
      .max(20)
      .regex(/^(?:\d{1,9}d)?(?:\d{1,9}h)?(?:\d{1,9}m)?(?:\d{1,9}s)?$/, { message: wrongInterval })
      .min(2)
      .optional()
      .meta({ description: 'The time between runs, such as `15m`. The first run is one interval after the write.' }),
    at: z.iso
      .datetime({ offset: true, message: 'must be a date with its time and offset, such as 2026-12-24T18:00:00+01:00' })
      .optional()
      .meta({ description: 'The time of a single run, with its offset, as in `2026-12-24T18:00:00+01:00`.' }),
    session: z.string().min(1).max(limits.maxSessionTemplateLength).default('{{@delivery}}').meta({
      description: 'Template of the session’s key; `{{@schedule}}` is one session for all runs. Absent: a new session for each run.',
    }),
    input: z.string().min(1).max(limits.maxInputTemplateLength).meta({
      description:
        'Template of the agent’s input. `{{@time}}` is when the run was due, in UTC; `{{@schedule}}` is the name, and `{{@delivery}}` the id of the run.',
    }),
    overlap: z.enum(['skip', 'queue']).default('skip').meta({
      description:
        'What happens to a run that is due before the previous one has ended: it is skipped, or runs afterwards. A run that waits for an approval has not ended.',
    }),
    paused: z.boolean().optional().meta({
      description:
        'Stops all runs. Runs that are due meanwhile are not made up for, queued runs are skipped, and an interval restarts when the schedule is resumed.',
    }),
    ...CallbackShape,
  })
  .refine(({ cron, interval, at }) => [cron, interval, at].filter((when) => when !== undefined).length === 1, {
    path: ['cron'],
    message: 'give exactly one of cron, interval and at',
  })
  .refine(({ cron, timeZone }) => timeZone === undefined || cron !== undefined, { path: ['timeZone'], message: 'is only valid with cron' })
  .meta({ id: 'Schedule', example: { agent: 'demo', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', input: '/shell echo good morning' } });
export type Schedule = z.infer<typeof Schedule>;

/** The stored document; `callback` is stored separately and encrypted (JSON: `{callback: string | null}`). */
export type ScheduleDocument = Omit<Schedule, 'callbackSecret'>;
