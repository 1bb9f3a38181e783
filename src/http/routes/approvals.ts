/** `/v1/sessions/{id}/approvals`: what waits for a person's word, and the word. The page behind a link is in `approve-page.ts`. */
import { z } from 'zod';
import { ApprovalView, Decision } from '../../core/policy/approval.ts';
import { requireAllowed } from '../../core/authority.ts';
import { pageOf } from '../paging.ts';
import { requirePublicBase } from '../own-origin.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { sessionParams } from './sessions.ts';

const params = sessionParams.extend({ callId: z.string().min(1).max(200).meta({ description: 'Id of the call that waits.' }) });

const DecisionRequest = z
  .strictObject({
    decision: Decision,
    remember: z.boolean().default(false).meta({
      description:
        'With `approve`: adds a rule to the policy, so that the same needs no approval again. Only for a question about one effect or one folder, and for keys with scope `admin` that are not bound.',
    }),
    round: z.int().min(1).optional().meta({
      description:
        'The question that is decided, as `round` of the approval shows it; absent: the first. Required to approve a later one, so that a repeated request never approves what it was not about.',
    }),
  })
  .refine(({ decision, remember }) => decision === 'approve' || !remember, {
    path: ['remember'],
    message: 'goes with `approve` only: what was denied is asked again',
  })
  .meta({ id: 'DecisionRequest', example: { decision: 'approve' } });

const DecisionAnswer = z
  .object({
    callId: z.string(),
    decision: Decision,
    turn: z.string().nullable().meta({ description: 'null: of a direct call, which is to be sent again.' }),
    status: z.string().nullable().meta({ description: 'How the turn stands now.' }),
  })
  .meta({ id: 'DecisionAnswer', example: { callId: 'call_1', decision: 'approve', turn: 'turn_1', status: 'running' } });

const ApprovalLink = z
  .object({ url: z.url(), expiresAt: z.iso.datetime() })
  .meta({ id: 'ApprovalLink', example: { url: 'https://moniker.example/approve/bXAx…', expiresAt: '2026-01-02T08:00:00.000Z' } });

const tag = 'Approvals';

export function mountApprovals(app: App): void {
  mountRoute(
    app,
    {
      tag,
      method: 'get',
      path: '/v1/sessions/{id}/approvals',
      operationId: 'listApprovals',
      summary: 'List what waits for a word',
      description: 'Direct calls included, oldest first; they are few, so there is one page.',
      scopes: ['approve', 'chat'],
      params: sessionParams,
      answers: { 200: { description: 'What is pending.', schema: pageOf(ApprovalView) } },
    },
    async ({ c, services, principal, params }) =>
      c.json({ items: await services.sessions.get(params.id).approvals(principal), nextCursor: null }),
  );

  mountRoute(
    app,
    {
      tag,
      method: 'get',
      path: '/v1/sessions/{id}/approvals/{callId}',
      operationId: 'getApproval',
      summary: 'Read one, also after the word',
      scopes: ['approve', 'chat'],
      params,
      answers: { 200: { description: 'With all arguments, and how it stands.', schema: ApprovalView } },
    },
    async ({ c, services, principal, params }) => c.json(await services.sessions.get(params.id).approval(principal, params.callId)),
  );

  mountRoute(
    app,
    {
      tag,
      method: 'post',
      path: '/v1/sessions/{id}/approvals/{callId}',
      operationId: 'decideApproval',
      summary: 'Approve or deny a call',
      description:
        'For exactly this tool, these arguments and the effects that the question lists, once. A call that would do anything else when it runs does nothing and asks again, with `round` counted up. Repeating a decision has no effect; a different decision is `conflict`. A turn that waited continues; a direct call has to be sent again.',
      scopes: ['approve'],
      params,
      body: { schema: DecisionRequest },
      answers: { 200: { description: 'Stored.', schema: DecisionAnswer } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params, body: { decision, remember, round } }) => {
      if (remember) requireAllowed(principal, { act: 'waive', what: '`remember`, which writes a rule for the whole workspace,' });
      return c.json(await services.sessions.get(params.id).decide(principal, params.callId, decision, { remember, round: round ?? null }));
    },
  );

  mountRoute(
    app,
    {
      tag,
      method: 'post',
      path: '/v1/sessions/{id}/approvals/{callId}/link',
      operationId: 'mintApprovalLink',
      summary: 'Make a link for a person without a key',
      description:
        'Whoever has the link may decide this one call, once, until it expires: send it to one person. It is shown here only. It begins with MONIKER_PUBLIC_URL.',
      scopes: ['approve'],
      params,
      answers: { 201: { description: 'Made.', schema: ApprovalLink } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params }) => {
      const base = requirePublicBase(services.settings.publicUrl, 'Links');
      const { nonce, expiresAt } = await services.sessions.get(params.id).mintLink(principal, params.callId);
      const token = await services.approvalLinks.mint({ session: params.id, nonce, expiresAt });
      return c.json({ url: `${base}/approve/${token}`, expiresAt: new Date(expiresAt).toISOString() }, 201);
    },
  );
}
