/** The audit log: one row for each call or refusal, each approval decision and each configuration change (contract §7, §9). */
import * as z from 'zod';
import { DecisionReason } from '../policy/approval.ts';
import { GuardVerdict } from '../policy/guard.ts';
import { Via } from '../model/message.ts';
import { ServedBy, ToolResultCode } from '../tools/tool.ts';

export const AuditRow = z
  .object({
    at: z.iso.datetime(),
    keyId: z.string().meta({ description: 'Id of the key. For an approval decision also `link`, or `clock` if the approval expired.' }),
    session: z.string().nullable(),
    /** Counts the rows of a session from 1; together with `session` it identifies the row. null without a session. */
    sequence: z.int().nullable(),
    turn: z.string().nullable(),
    agent: z.string().nullable().meta({ description: 'The agent of the turn.' }),
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
    cost: z.number().optional().meta({
      description:
        'USD; with `outcome_unknown` what the call may have cost, which no usage has. Absent: the tool has no price, or was not called.',
    }),
    served: ServedBy.optional().meta({
      description: 'For an entry with several targets, or a stored result: what ran, which `canonical` names, too.',
    }),
    reason: DecisionReason.optional().meta({
      description: 'Of an approval decision: why, in the words of the person who decided. Absent: no reason was given.',
    }),
    guard: GuardVerdict.optional().meta({
      description: 'How the guard of the workspace decided, before the call or after it, whichever is stricter. Absent: it was not asked.',
    }),
  })
  .meta({
    id: 'AuditRow',
    example: {
      at: '2026-01-01T08:00:00.000Z',
      keyId: 'root',
      session: '0123…',
      sequence: 7,
      turn: 'turn_1',
      agent: 'helper',
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
export const DroppedWork = z.object({ deliveries: z.int(), callbacks: z.int() }).meta({
  description:
    'How much accepted work ended with the deletion: deliveries that had not begun, and callbacks that were not delivered. Absent: none.',
});
export type DroppedWork = z.infer<typeof DroppedWork>;

export const AuditChange = z
  .object({
    kind: z.literal('change'),
    at: z.iso.datetime(),
    keyId: z.string().meta({
      description:
        'Id of the key; `link` for a rule that was remembered by an approval link; `system` for a change made by the service itself.',
    }),
    action: z.enum([
      'create',
      'update',
      'delete',
      'revoke',
      'rotate',
      'accept',
      'reject',
      'undo',
      'retire',
      'refresh',
      'sign-in',
      'sign-out',
      'backup',
      'restore',
      'erase',
    ]),
    resource: z.string().meta({
      description:
        'Type of the resource: `toolset`, `agent`, `provider`, `secret`, `tool-aliases`, `policy`, `known-host`, `server`, `server-tool`, `server-prompt`, `server-resource`, `server-template`, `skill`, `ui-tool`, `made-tool`, `webhook`, `schedule`, `subscription`, `model-alias`, `suite`, `member`, `workspace`, `session` and `replay` (only `delete`), `cache` (only `erase`), `key`, `grant` or `master-key`.',
    }),
    name: z.string().meta({
      description:
        'Name of the resource; for a key or session its id, for the cache `all`, `key/<id>` or `toolset/<name>`, for the master key its fingerprint, for a server tool its canonical name.',
    }),
    dropped: DroppedWork.optional(),
    version: z.int().nullable().meta({
      description:
        'The version that the change created, or that was retired or is no longer retired (`undo`). null if the resource has no versions.',
    }),
  })
  .meta({
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

const entryId = z.string().meta({
  description: 'Id of the entry: the log that stores it and its number there, `<log>.<number>`. Stable.',
  example: '3.1042',
});

/** An entry as listed by `GET /v1/audit`. */
export const AuditEntry = z.discriminatedUnion('kind', [
  AuditRow.extend({ id: entryId, kind: z.literal('call').meta({ description: 'A tool call, or a decision on its approval.' }) }).meta({
    id: 'AuditCall',
  }),
  AuditChange.extend({ id: entryId }).meta({ id: 'AuditChange' }),
]);
export type AuditEntry = z.infer<typeof AuditEntry>;

const name = z.string().min(1).max(200).optional();
const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
  .optional();

/** Times with milliseconds, in UTC. */
export const AuditFilter = z.strictObject({
  from: time.meta({ description: 'Only entries of this time and later (ISO 8601).', example: '2026-01-01T00:00:00Z' }),
  to: time.meta({ description: 'Only entries up to this time, inclusive.', example: '2026-02-01T00:00:00Z' }),
  kind: z.enum(['call', 'change']).optional().meta({
    description:
      '`call`: calls and approval decisions; `change`: changes of keys, secrets, policy, servers, toolsets and so on. Default: both.',
  }),
  session: name,
  tool: name.meta({ description: 'Canonical name, or the called name if it matched no tool.', example: 'builtin.bash' }),
  verdict: AuditRow.shape.verdict.optional(),
  code: AuditRow.shape.code.unwrap().optional(),
  key: name.meta({ description: 'Id of the key.', example: 'root' }),
  agent: name.meta({ description: 'Name of the agent.', example: 'helper' }),
});
export type AuditFilter = z.infer<typeof AuditFilter>;

/** A log that a list lacks. */
export const UnreadableLog = z
  .object({
    log: z.string().meta({ description: '`changes`, or the number of a shard.' }),
    reason: z.string().meta({ description: 'Why it cannot be read, and what to do.' }),
  })
  .meta({ id: 'UnreadableLog' });
export type UnreadableLog = z.infer<typeof UnreadableLog>;

/** Why a log cannot be trusted from a row on. */
export const AuditFault = z
  .object({
    id: entryId,
    log: z.string(),
    number: z.int().meta({ description: 'Number of the first broken row.' }),
    through: z.int().meta({
      description: 'The fault is in the rows `number` to `through`. Greater than `number` if only a signed head shows it.',
    }),
    detail: z.string().optional().meta({ description: 'With `unreadable`: why the log cannot be read, and what to do.' }),
    reason: z.enum(['altered', 'missing', 'rewritten', 'signature', 'unreadable']).meta({
      description:
        '`altered`: the row does not match its hash. `missing`: the row was removed. `rewritten`: the rows match their hashes, but not the signed head of the log. `signature`: the signature of a head is invalid. `unreadable`: the log cannot be read, because its database is damaged or the shard does not respond.',
    }),
  })
  .meta({ id: 'AuditFault' });
export type AuditFault = z.infer<typeof AuditFault>;

export const AuditVerification = z
  .object({
    ok: z.boolean().meta({ description: 'Whether all rows that this request checked are as they were written.' }),
    checked: z.int().meta({ description: 'The number of rows that this request checked.' }),
    logs: z.array(
      z.object({
        log: z.string().meta({ description: '`changes`, or the number of a shard.' }),
        from: z.int().meta({ description: 'Number of the first row checked. Earlier ones were deleted by retention or checked before.' }),
        through: z.int().meta({ description: 'Number of the last row checked; less than `from` if the log has none.' }),
        signed: z
          .int()
          .meta({ description: 'The newest row that a signed head covers; 0 if none. Later rows are signed within a minute.' }),
        retentionFault: z.string().nullable().meta({
          description:
            'Why the retention is not followed: old rows that are broken or cannot be exported are kept, and a log that is full loses its oldest rows early. null: it is followed.',
        }),
        fault: AuditFault.nullable().meta({
          description: 'Why the log cannot be trusted; later rows of it prove nothing, and are not checked.',
        }),
      }),
    ),
    broken: AuditFault.nullable().meta({ description: 'The first `fault` of this request; null if `ok`.' }),
    nextCursor: z.string().nullable().meta({ description: 'Continue with this cursor; null when everything was checked.' }),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof AuditVerification>;
