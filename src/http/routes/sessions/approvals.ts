/** `/v1/approvals` and `/v1/sessions/{id}/approvals`: list approvals, of the workspace and of a session, and decide them. `approve-page.ts` has the page behind a link. */
import * as z from 'zod';
import { ApprovalView, Decision, DecisionReason } from '../../../core/policy/approval.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { decidableSessions, requireAllowed } from '../../../core/people/authority.ts';
import { originOf } from '../../../core/people/principal.ts';
import { parentOf } from '../../../core/toolset/composite-tool.ts';
import { triggerOfKey } from '../../../core/triggers/trigger-principal.ts';
import { type ListedWait, WaitKind, WaitState } from '../../../core/turn/session-summary.ts';
import { DecisionOutcome, StartedBy } from '../../../ports/session.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { requirePublicBase } from '../../own-origin.ts';
import { defineRoute } from '../../route.ts';
import { sessionParams } from './sessions.ts';

const params = sessionParams.extend({ callId: z.string().min(1).max(200).meta({ description: 'Id of the waiting call.' }) });

const DecisionRequest = z
  .strictObject({
    decision: Decision,
    reason: DecisionReason.optional(),
    remember: z
      .union([z.boolean(), z.literal('session')])
      .optional()
      .meta({
        description:
          'With `approve`. `session`: the same effect needs no approval in this session from then on. `true`: nor anywhere, by a rule of the policy; only for unbound keys with scope `admin`. Both are for an approval of one effect or folder, or of requests to new hosts. Default: hosts that such an `admin` key approves are known to the workspace from then on (`/v1/policy/hosts`); `false`: only this call is approved.',
      }),
    round: z.int().min(1).optional().meta({
      description:
        'The `round` of the approval that is decided. Default: the first. Required to approve a later round, so that a repeated request never approves something else.',
    }),
  })
  .refine(({ decision, remember }) => decision === 'approve' || remember === undefined || remember === false, {
    path: ['remember'],
    message: 'is allowed only with `approve`',
  })
  .meta({ id: 'DecisionRequest', example: { decision: 'approve' } });

const ApprovalLink = z
  .object({ url: z.url(), expiresAt: z.iso.datetime() })
  .meta({ id: 'ApprovalLink', example: { url: 'https://moniker.example/approve/bXAx…', expiresAt: '2026-01-02T08:00:00.000Z' } });

const InboxQuery = z.strictObject({
  ...pageFields,
  state: z.enum(['pending', 'decided']).default('pending'),
  kind: WaitKind.optional(),
  agent: ResourceName.optional(),
  session: z.string().min(1).max(200).optional(),
});

const InboxItem = z
  .object({
    session: z.string(),
    turn: z.string().nullable().meta({ description: 'null for a direct call.' }),
    callId: z.string(),
    parent: z.string().optional().meta({ description: 'For a nested call: its outer call.' }),
    kind: WaitKind,
    canonical: z.string().nullable(),
    reason: z.string().meta({ description: 'The question, shortened. The approval of the session has its arguments and effects.' }),
    round: z.int(),
    state: WaitState.meta({ description: '`expired`: it ended without a decision.' }),
    agent: z.string().optional(),
    trigger: StartedBy,
    askedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    decidedAt: z.iso.datetime().nullable(),
    decidedBy: z.string().nullable().meta({ description: 'Id of the key that decided, `link`, or `clock` when it expired.' }),
  })
  .meta({
    id: 'InboxItem',
    example: {
      session: '0123…',
      turn: 'turn_1',
      callId: 'call_1',
      kind: 'approval',
      canonical: 'builtin.delete_file',
      reason: 'It deletes /workspace/notes.txt, which cannot be undone',
      round: 1,
      state: 'pending',
      agent: 'demo',
      askedAt: '2026-01-01T08:00:00.000Z',
      expiresAt: '2026-01-08T08:00:00.000Z',
      decidedAt: null,
      decidedBy: null,
    },
  });

const tag = 'Approvals';

export const approvalRoutes = [
  defineRoute(
    {
      tag,
      method: 'get',
      path: '/v1/approvals',
      operationId: 'listInbox',
      summary: 'List what calls of all sessions wait for',
      description:
        'Approvals, requests for input and calls of clients: pending, newest question first, or decided, newest decision first. Only of sessions in which the key can decide. A copy that is a few seconds old at most. All pending ones are listed. Of the decided ones 10,000 are kept; beyond that, the oldest ones of the key that has the most are removed.',
      scopes: ['approve', 'chat'],
      query: InboxQuery,
      answers: { 200: { description: 'A page of questions.', schema: pageOf(InboxItem) } },
    },
    async ({ answer, services, principal, query: { cursor, limit, ...filter } }) => {
      const whose = decidableSessions(principal);
      const of = whose === 'all' ? null : { ...whose, keyId: principal.keyId };
      const { items, nextCursor } = await services.catalog(principal).waits({ ...filter, of }, { limit, cursor });
      return answer(200, { items: items.map(toInboxItem), nextCursor });
    },
  ),

  defineRoute(
    {
      tag,
      method: 'get',
      path: '/v1/sessions/{id}/approvals',
      operationId: 'listApprovals',
      summary: 'List pending approvals',
      description: 'Includes direct calls. Oldest first, on a single page.',
      scopes: ['approve', 'chat'],
      params: sessionParams,
      answers: { 200: { description: 'The pending approvals.', schema: pageOf(ApprovalView) } },
    },
    async ({ answer, services, principal, params }) =>
      answer(200, { items: await services.sessions.get(params.id).approvals(principal), nextCursor: null }),
  ),

  defineRoute(
    {
      tag,
      method: 'get',
      path: '/v1/sessions/{id}/approvals/{callId}',
      operationId: 'getApproval',
      summary: 'Read an approval',
      scopes: ['approve', 'chat'],
      params,
      answers: { 200: { description: 'The approval with all arguments and its state.', schema: ApprovalView } },
    },
    async ({ answer, services, principal, params }) =>
      answer(200, await services.sessions.get(params.id).approval(principal, params.callId)),
  ),

  defineRoute(
    {
      tag,
      method: 'post',
      path: '/v1/sessions/{id}/approvals/{callId}',
      operationId: 'decideApproval',
      summary: 'Approve or deny a call',
      description:
        'Applies once, to exactly this tool, these arguments and the listed effects. A call that would have other effects when it runs does nothing and requires approval again, with `round` increased. Repeating a decision has no effect; a different decision returns `conflict`. A waiting turn continues; a direct call has to be sent again.',
      scopes: ['approve'],
      params,
      body: DecisionRequest,
      answers: { 200: { description: 'Stored.', schema: DecisionOutcome } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params, body: { decision, round, ...options } }) => {
      if (options.remember === true)
        requireAllowed(principal, { act: 'waive', what: '`remember`, which writes a rule for the whole workspace,' });
      return answer(
        200,
        await services.sessions.get(params.id).decide(principal, params.callId, decision, { ...options, round: round ?? null }),
      );
    },
  ),

  defineRoute(
    {
      tag,
      method: 'post',
      path: '/v1/sessions/{id}/approvals/{callId}/link',
      operationId: 'mintApprovalLink',
      summary: 'Create an approval link',
      description:
        'The link allows one decision on this call, without an API key, until it expires. Send it to one person only. It is returned only once, and starts with MONIKER_PUBLIC_URL.',
      scopes: ['approve'],
      params,
      answers: { 201: { description: 'Made.', schema: ApprovalLink } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params }) => {
      const base = requirePublicBase(services.settings.publicUrl, 'Links');
      const now = services.clock.now();
      const { nonce, expiresAt } = await services.sessions.get(params.id).mintLink(principal, params.callId);
      const token = await services.approvalLinks.mint({ session: params.id, nonce, expiresAt, origin: originOf(principal, now) });
      return answer(201, { url: `${base}/approve/${token}`, expiresAt: new Date(expiresAt).toISOString() });
    },
  ),
];

/** The id of the owning key is not shown, as in the list of sessions. */
function toInboxItem({ keyId, askedAt, expiresAt, decidedAt, ...wait }: ListedWait): z.infer<typeof InboxItem> {
  const trigger = triggerOfKey(keyId);
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    ...wait,
    ...parentOf(wait.callId),
    ...(trigger !== null && { trigger }),
    askedAt: new Date(askedAt).toISOString(),
    expiresAt: wait.kind === 'client-tool' ? null : time(expiresAt),
    decidedAt: time(decidedAt),
  };
}
