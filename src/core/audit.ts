/** One row a call or refusal, whatever door it came through (DESIGN §7, §9). Append-only. */
import { z } from 'zod';
import { Via } from './message.ts';
import { ToolResultCode } from './tool.ts';

export const AuditRow = z
  .object({
    at: z.iso.datetime(),
    keyId: z.string(),
    session: z.string().nullable(),
    /** Counts the session's rows from 1; with `session` it names the row. null without a session. */
    sequence: z.int().nullable(),
    turn: z.string().nullable(),
    callId: z.string(),
    requested: z.string(),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    toolset: z.string().nullable(),
    edition: z.string().nullable().meta({ description: '`name@version.revision`.' }),
    argumentsHash: z.string().meta({ description: 'SHA-256 (hex) of the canonical JSON of the arguments.' }),
    verdict: z.enum(['ran', 'refused']),
    code: ToolResultCode.nullable(),
    durationMs: z.number(),
  })
  .meta({ id: 'AuditRow' });
export type AuditRow = z.infer<typeof AuditRow>;
