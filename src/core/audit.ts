/** One row a call or refusal, whatever door it came through, and one a word on an approval (DESIGN §7, §9). Append-only. */
import { z } from 'zod';
import { Via } from './message.ts';
import { ToolResultCode } from './tool.ts';

export const AuditRow = z
  .object({
    at: z.iso.datetime(),
    keyId: z.string().meta({ description: 'Who: id of the key; of a word on an approval also `link`, or `clock` when it expired.' }),
    session: z.string().nullable(),
    /** Counts the session's rows from 1; with `session` it names the row. null without a session. */
    sequence: z.int().nullable(),
    turn: z.string().nullable(),
    callId: z.string(),
    parent: z.string().nullable().meta({ description: 'Of a call that a tool made (code, a script, a made tool): the call that made it.' }),
    requested: z.string().meta({ description: 'As it was called; of a word on an approval the wire name of its toolset entry.' }),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    toolset: z.string().nullable(),
    edition: z.string().nullable().meta({ description: '`name@version.revision`.' }),
    argumentsHash: z.string().meta({ description: 'SHA-256 (hex) of the canonical JSON of the arguments.' }),
    verdict: z.enum(['ran', 'refused', 'approved', 'denied', 'expired']).meta({
      description:
        'Of a call: `ran` or `refused`. Of what waited for a word: `approved`, `denied` or `expired`; the call itself has its own row.',
    }),
    code: ToolResultCode.nullable(),
    durationMs: z.number(),
  })
  .meta({
    id: 'AuditRow',
    example: {
      at: '2026-01-01T08:00:00.000Z',
      keyId: 'root',
      session: '0123…',
      sequence: 7,
      turn: 'turn_1',
      callId: 'call_1.2',
      parent: 'call_1',
      requested: 'write_file',
      canonical: 'builtin.write_file',
      via: 'own',
      toolset: 'demo',
      edition: 'demo@1.1',
      argumentsHash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      verdict: 'ran',
      code: null,
      durationMs: 3,
    },
  });
export type AuditRow = z.infer<typeof AuditRow>;
