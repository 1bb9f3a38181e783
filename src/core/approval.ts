/**
 * An approval of one tool call, as data. Bound to the canonical name, the toolset entry, the exact arguments, the effects that the question
 * listed, the session and an expiry, and used once (DESIGN §7). `policy/questions.ts` decides what requires approval; the session stores it.
 */
import { z } from 'zod';

export const Decision = z.enum(['approve', 'deny']).meta({ id: 'Decision' });
export type Decision = z.infer<typeof Decision>;

/** `expire`: nobody decided in time, which is a no. */
export type ApprovalVerdict = Decision | 'expire';

/** What would happen that needs a person's word. `target` is what a remembered rule would be about. */
export type Ask = {
  kind: AskKind;
  /** One sentence for the person who decides. */
  reason: string;
  /**
   * Of `network`: the host. Of `write-outside`, `overwrite-file` and `delete-file`: the path. Of `destructive` and `untrusted`: the canonical
   * name. Of `registry`: what is changed. Of `taint`: the host, or the canonical name of the tool that is called. Of `always` and `rule`: null.
   */
  target: string | null;
};

/**
 * `always`: the toolset entry says so. `destructive`: a trusted server says that of its tool. `untrusted`: a tool of a server that is
 * not trusted, and that does more than read. `registry`: tools or toolsets are changed. `rule`: a rule of the workspace asks.
 * `taint`: something is sent out after the conversation has seen both what is private and what anybody could have written.
 */
export const AskKind = z
  .enum(['always', 'delete-file', 'overwrite-file', 'write-outside', 'network', 'destructive', 'untrusted', 'registry', 'rule', 'taint'])
  .meta({ id: 'AskKind' });
export type AskKind = z.infer<typeof AskKind>;

/** One effect that a question lists. */
export const AskedEffect = z
  .object({
    action: z.enum(['call', 'delete', 'replace', 'write', 'move', 'read', 'send', 'use-secret', 'change-registry']),
    kind: AskKind.meta({ description: 'Why it requires approval.' }),
    target: z.string().nullable().meta({ description: 'The path, host, secret, tool or toolset; null: the call itself.' }),
    method: z.string().optional().meta({ description: 'Of `send`.' }),
  })
  .meta({ id: 'AskedEffect', example: { action: 'delete', kind: 'delete-file', target: '/workspace/notes.txt' } });
export type AskedEffect = z.infer<typeof AskedEffect>;

/**
 * A question about a call. A yes is for the effects that it lists, as they were when it was asked, and for nothing else. `effects`: the first of
 * them. `effectCount`: how many there are. `several`: they are no single operation, so `kind` and `target` are those of the first, and no rule is
 * made of the yes. `binding`: hashes of all of them, with the bytes that would be lost and written and the files that
 * were read; one for each point at which the call may not continue without a yes (`engine/policy/effect-record.ts`).
 */
export type Question = Ask & { effects: readonly AskedEffect[]; effectCount: number; several?: true; binding: readonly string[] };

/** A yes: what it is bound to, and how often the call has asked. */
export type Approved = { binding: readonly string[]; round: number };

/** Members of everything that shows a question. */
const askedMembers = {
  effects: z.array(AskedEffect).optional().meta({
    description: 'Of `approval`: what the call would do that requires approval, at most 100. A yes is for exactly these effects.',
  }),
  effectCount: z.int().optional().meta({ description: 'With `effects`: how many there are in all.' }),
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

/** Something a turn waits for, as callers see it: `arguments` in full, so that a person knows what is decided. */
export const Pending = z
  .object({
    callId: z.string(),
    kind: z.enum(['approval', 'client-tool', 'input']),
    canonical: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    reason: z.string(),
    parent: z
      .string()
      .optional()
      .meta({ description: 'Of a call that a tool makes (code, a script, a made tool): the call that makes it.' }),
    requests: z
      .record(z.string(), z.object({ method: z.string(), params: z.record(z.string(), z.unknown()) }))
      .optional()
      .meta({
        description:
          'Of `input`: what the server of the tool asks, each under its key, as MCP has it (`elicitation/create`). Answered at …/tool-results.',
      }),
    ...askedMembers,
    round: z.int().optional().meta({
      description:
        'Counts the questions of one call from 1. Of `approval` it is shown from 2 on: the call would now do something else than before, so to approve it, send this `round` with the decision.',
    }),
  })
  .meta({ id: 'Pending' });
export type Pending = z.infer<typeof Pending>;

/** An approval as the one who decides sees it. Times are ISO 8601. */
export const ApprovalView = z
  .object({
    callId: z.string(),
    session: z.string(),
    turn: z.string().nullable().meta({ description: 'null: of a direct call.' }),
    parent: z
      .string()
      .optional()
      .meta({ description: 'Of a call that a tool makes (code, a script, a made tool): the call that makes it.' }),
    canonical: z.string(),
    entry: z.string().meta({ description: 'Wire name of the toolset entry that was called.' }),
    arguments: z.record(z.string(), z.unknown()),
    reason: z.string(),
    ...askedMembers,
    round: z
      .int()
      .optional()
      .meta({ description: 'From the second question of the call on: which one this is. To approve it, send it with the decision.' }),
    state: z.enum(['pending', 'approved', 'denied', 'expired', 'used']),
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
