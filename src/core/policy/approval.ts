/**
 * An approval of one tool call, as data. It is bound to the canonical name, the toolset entry, the exact arguments, the effects that
 * the question listed, the session and an expiry, and it is used once (contract §7). `policy/effects/` decides what requires
 * approval; the session stores it.
 */
import * as z from 'zod';

export const Decision = z.enum(['approve', 'deny']).meta({ id: 'Decision' });
export type Decision = z.infer<typeof Decision>;

export const maxDecisionReasonCharacters = 1_000;
/** Why it was decided so, in the words of the person who decides. */
export const DecisionReason = z
  .string()
  .trim()
  .min(1)
  .max(maxDecisionReasonCharacters, { message: `must have at most ${maxDecisionReasonCharacters} characters` })
  .meta({
    description:
      'Why, in your words. The event and the audit row of the decision have it, and after a denial the model reads it. The redaction rules of the workspace apply.',
  });

/** `expire`: no one decided in time, which denies the call. */
export type ApprovalVerdict = Decision | 'expire';

/** An effect that requires approval. `target` is what a remembered rule would apply to. */
export type ApprovalReason = {
  kind: AskKind;
  /** One sentence for the person who decides. */
  reason: string;
  /**
   * For `network`: the host. For `write-outside`, `overwrite-file` and `delete-file`: the path. For `destructive` and `untrusted`:
   * the canonical name. For `registry`: what is changed. For `taint`: the host, or the canonical name of the called tool. For
   * `always` and `rule`: null.
   */
  target: string | null;
};

/**
 * `always`: set by the toolset entry. `destructive`: a trusted server declares the tool destructive. `untrusted`: a tool of an
 * untrusted server that is not read-only. `registry`: the call changes tools or toolsets. `rule`: a policy rule of the workspace
 * requires approval. `taint`: data is sent out after the conversation has seen both private content and content that anyone could
 * have written. `budget`: not a call, but a turn that has used `maxCost` of its agent.
 */
export const AskKind = z
  .enum([
    'always',
    'delete-file',
    'overwrite-file',
    'write-outside',
    'network',
    'destructive',
    'untrusted',
    'registry',
    'rule',
    'taint',
    'budget',
  ])
  .meta({ id: 'AskKind' });
export type AskKind = z.infer<typeof AskKind>;

/** One effect listed in a question. */
export const AskedEffect = z
  .object({
    action: z.enum(['call', 'delete', 'replace', 'write', 'move', 'read', 'send', 'use-secret', 'change-registry']),
    kind: AskKind.meta({ description: 'Why the effect requires approval.' }),
    target: z.string().nullable().meta({ description: 'The path, host, secret, tool or toolset. null: the call itself.' }),
    method: z.string().optional().meta({ description: 'HTTP method, for `send`.' }),
  })
  .meta({ id: 'AskedEffect', example: { action: 'delete', kind: 'delete-file', target: '/workspace/notes.txt' } });
export type AskedEffect = z.infer<typeof AskedEffect>;

/**
 * A question about a call. An approval covers exactly the listed effects, as they were when the question was asked. `effects`: the
 * first of them. `effectCount`: how many there are. `several`: they are more than one operation, so `kind` and `target` are those of
 * the first, and the approval cannot be remembered as a rule. `binding`: hashes of all effects, with the bytes that would be lost and
 * written and the files that were read; one hash for each point at which the call may not continue without approval
 * (`engine/policy/effect-record.ts`).
 */
export type ApprovalQuestion = ApprovalReason & {
  effects: readonly AskedEffect[];
  effectCount: number;
  several?: true;
  binding: readonly string[];
};

/** A given approval: what it is bound to, and the round of the question. */
export type GivenApproval = { binding: readonly string[]; round: number };

const parent = z
  .string()
  .optional()
  .meta({ description: 'For a nested call (made by code, a script or a made tool): the id of the outer call.' });

/** Fields of every view of a question. */
const askedMembers = {
  effects: z.array(AskedEffect).optional().meta({
    description: 'For `approval`: the effects of the call that require approval, at most 100. An approval covers exactly these effects.',
  }),
  effectCount: z.int().optional().meta({ description: 'With `effects`: the total number of effects.' }),
};

type Asked = { effects?: readonly AskedEffect[] | undefined; effectCount?: number | undefined; round?: number | undefined };

/** `round` is shown from the second question of a call on. */
export function toAskedMembers({ effects, effectCount, round }: Asked): Pick<Pending, 'effects' | 'effectCount' | 'round'> {
  return {
    ...(effects !== undefined && { effects: [...effects] }),
    ...(effectCount !== undefined && { effectCount }),
    ...(round !== undefined && round > 1 && { round }),
  };
}

/** Something a turn waits for, as callers see it. `arguments` is complete, so that the person sees what they decide on. */
export const Pending = z
  .object({
    callId: z.string(),
    kind: z.enum(['approval', 'client-tool', 'input']),
    canonical: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    reason: z.string(),
    parent,
    requests: z
      .record(z.string(), z.object({ method: z.string(), params: z.record(z.string(), z.unknown()) }))
      .optional()
      .meta({
        description:
          'For `input`: the MCP requests (`elicitation/create`) of the tool’s server, by key. Send the answers to …/tool-results.',
      }),
    ...askedMembers,
    round: z.int().optional().meta({
      description:
        'Number of the question of this call, from 1. For `approval` it is present from 2 on: the effects of the call have changed since the last question, so send this `round` with the decision to approve the call.',
    }),
  })
  .meta({ id: 'Pending' });
export type Pending = z.infer<typeof Pending>;

/** An approval as shown to the person who decides. Times are ISO 8601. */
export const ApprovalView = z
  .object({
    callId: z.string(),
    session: z.string(),
    turn: z.string().nullable().meta({ description: 'null for a direct call.' }),
    parent,
    canonical: z.string(),
    entry: z.string().meta({ description: 'Wire name of the toolset entry that was called.' }),
    arguments: z.record(z.string(), z.unknown()),
    reason: z.string(),
    ...askedMembers,
    round: z.int().optional().meta({
      description: 'Number of the question, present from the second question of a call on. Send it with the decision to approve the call.',
    }),
    canRemember: z
      .literal(true)
      .optional()
      .meta({ description: 'It can be approved with `remember`. Absent: only this call can be approved.' }),
    state: z.enum(['pending', 'approved', 'denied', 'expired', 'used']),
    decisionReason: DecisionReason.optional().meta({ description: 'Why it was decided so. Absent: not decided, or no reason was given.' }),
    askedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({
    id: 'Approval',
    example: {
      callId: 'call_1',
      session: '0123…',
      turn: 'turn_1',
      canonical: 'builtin.delete_file',
      entry: 'delete_file',
      arguments: { path: 'notes.txt' },
      reason: 'It deletes /workspace/notes.txt, which cannot be undone',
      effects: [{ action: 'delete', kind: 'delete-file', target: '/workspace/notes.txt' }],
      effectCount: 1,
      state: 'pending',
      askedAt: '2026-01-01T08:00:00.000Z',
      expiresAt: '2026-01-08T08:00:00.000Z',
    },
  });
export type ApprovalView = z.infer<typeof ApprovalView>;
