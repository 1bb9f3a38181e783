import * as z from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';

export const currentTime = defineTool({
  name: 'current_time',
  description: 'Returns the current date and time in UTC and in a time zone.',
  input: z.object({
    timezone: z.string().max(64).default('UTC').describe('IANA time zone name, such as Europe/Prague'),
  }),
  annotations: { title: 'Current time', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  usesFiles: false,
  run({ timezone }, { now }) {
    const date = new Date(now());
    return { utc: date.toISOString(), timezone, local: inZone(date, timezone) };
  },
});

function inZone(date: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(date);
  } catch {
    throw new ToolFault(`"${timeZone}" is not a time zone. Use an IANA name such as UTC, Europe/Prague or America/New_York.`);
  }
}
