/**
 * An approval: a person's word on one tool call, as data. Bound to the canonical name, the toolset entry, the exact arguments,
 * the session and an expiry, and used once (DESIGN §7). What has to be asked for is said by `policy/questions.ts`; who stores it is
 * the session.
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

/** The host that the question named, which is what a yes is good for; null: it was about something else. */
export function askedHost({ kind, target }: Pick<Ask, 'kind' | 'target'>): string | null {
  return kind === 'network' || kind === 'taint' ? target : null;
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
    round: z.int().optional().meta({ description: 'Of `input`: counts the questions of one call from 1.' }),
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
      state: 'pending',
      askedAt: '2026-01-01T08:00:00.000Z',
      expiresAt: '2026-01-08T08:00:00.000Z',
    },
  });
export type ApprovalView = z.infer<typeof ApprovalView>;
