/** The audit log: one row for each call or refusal, each approval decision and each configuration change (contract §7, §9). */
import { z } from 'zod';
import { Via } from './turn/message.ts';
import { ToolResultCode } from './tools/tool.ts';

export const AuditRow = z
  .object({
    at: z.iso.datetime(),
    keyId: z.string().meta({ description: 'Id of the key. For an approval decision also `link`, or `clock` if the approval expired.' }),
    session: z.string().nullable(),
    /** Counts the rows of a session from 1; together with `session` it identifies the row. null without a session. */
    sequence: z.int().nullable(),
    turn: z.string().nullable(),
    callId: z.string(),
    parent: z
      .string()
      .nullable()
      .meta({ description: 'For a nested call (made by code, a script or a made tool): the id of the outer call.' }),
    requested: z.string().meta({ description: 'The name that was called. For an approval decision: the wire name of the toolset entry.' }),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    toolset: z.string().nullable(),
    edition: z.string().nullable().meta({ description: '`name@version.revision`.' }),
    argumentsHash: z.string().meta({ description: 'SHA-256 (hex) of the canonical JSON of the arguments.' }),
    verdict: z.enum(['ran', 'refused', 'outcome_unknown', 'waiting', 'approved', 'denied', 'expired']).meta({
      description:
        'For a call: `ran`, `refused`, `waiting` (it needs an approval or an answer before it can continue) or `outcome_unknown` (it started, and no outcome is recorded: it is still running, or its outcome could not be written). For an approval decision: `approved`, `denied` or `expired`; the call has its own row.',
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
/** The stored row of a tool call or of an approval decision. */
export type AuditRow = z.infer<typeof AuditRow>;

/** A configuration change, written in the transaction of the change. Never contains the value of a secret or key. */
export const AuditChange = z
  .object({
    kind: z.literal('change'),
    at: z.iso.datetime(),
    keyId: z.string().meta({
      description:
        'Id of the key; `link` for a rule that was remembered by an approval link; `system` for a change made by the service itself.',
    }),
    action: z.enum(['create', 'update', 'delete', 'revoke', 'accept', 'refresh', 'sign-in', 'sign-out']),
    resource: z.string().meta({
      description:
        'Type of the resource: `toolset`, `agent`, `provider`, `secret`, `tool-aliases`, `policy`, `server`, `server-tool`, `skill`, `ui-tool`, `made-tool`, `webhook`, `schedule`, `subscription`, `model-alias`, `workspace` or `key`.',
    }),
    name: z.string().meta({ description: 'Name of the resource; for a key its id, for a server tool its canonical name.' }),
    version: z.int().nullable().meta({ description: 'The version that the change created. null if the resource has no versions.' }),
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

/** An entry as listed by `GET /v1/audit`. */
export const AuditEntry = z.discriminatedUnion('kind', [
  AuditRow.extend({ kind: z.literal('call').meta({ description: 'A tool call, or a decision on its approval.' }) }).meta({
    id: 'AuditCall',
  }),
  AuditChange,
]);
export type AuditEntry = z.infer<typeof AuditEntry>;
