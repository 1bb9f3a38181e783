/** The audit: one row for each call or refusal, each approval decision and each change of the configuration (DESIGN §7, §9). */
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
    verdict: z.enum(['ran', 'refused', 'outcome_unknown', 'waiting', 'approved', 'denied', 'expired']).meta({
      description:
        'Of a call: `ran`, `refused`, `waiting` (it asked for something before it could continue) or `outcome_unknown` (it began, and no outcome is recorded: it still runs, or its outcome could not be written). Of an approval decision: `approved`, `denied` or `expired`; the call itself has its own row.',
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
/** A tool call or a decision on its approval, as it is written. */
export type AuditRow = z.infer<typeof AuditRow>;

/** A change of what an administrator configures: written in the transaction of the change. Never holds a value of a secret or a key. */
export const AuditChange = z
  .object({
    kind: z.literal('change'),
    at: z.iso.datetime(),
    keyId: z.string().meta({
      description:
        'Who: id of the key; `link` for a rule that was remembered by an approval link; `system` for what the service did itself.',
    }),
    action: z.enum(['create', 'update', 'delete', 'revoke', 'accept', 'refresh', 'sign-in', 'sign-out']),
    resource: z.string().meta({
      description:
        'Kind of the resource: `toolset`, `agent`, `provider`, `secret`, `tool-aliases`, `policy`, `server`, `server-tool`, `skill`, `ui-tool`, `made-tool`, `webhook`, `schedule`, `subscription` or `key`.',
    }),
    name: z.string().meta({ description: 'Its name; of a key its id, of a tool of a server its canonical name.' }),
    version: z.int().nullable().meta({ description: 'The version that the change made. null where the resource has no versions.' }),
  })
  .meta({
    id: 'AuditChange',
    example: {
      kind: 'change',
      at: '2026-01-01T08:00:00.000Z',
      keyId: 'root',
      action: 'update',
      resource: 'toolset',
      name: 'demo',
      version: 2,
    },
  });
export type AuditChange = z.infer<typeof AuditChange>;

/** As `GET /v1/audit` lists it. */
export const AuditEntry = z.discriminatedUnion('kind', [
  AuditRow.extend({ kind: z.literal('call').meta({ description: 'A tool call, or a decision on its approval.' }) }).meta({
    id: 'AuditCall',
  }),
  AuditChange,
]);
export type AuditEntry = z.infer<typeof AuditEntry>;
