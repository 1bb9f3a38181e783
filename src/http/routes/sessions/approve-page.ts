/**
 * `/approve/{token}`: a user without a key decides one call by a link. The token grants access. GET shows the call and changes nothing,
 * because mail programs and messengers fetch links for previews; POST decides, once.
 */
import * as z from 'zod';
import { ApprovalView, Decision, DecisionReason } from '../../../core/policy/approval.ts';
import { limits } from '../../../core/limits/limits.ts';
import { KB } from '../../../core/limits/units.ts';
import { Problem, parseInput } from '../../../core/problem.ts';
import { isValidUntil } from '../../../core/people/token-times.ts';
import type { FollowedLink, SessionPort } from '../../../ports/session.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { wantsJson } from '../../accept.ts';
import { readJsonBody } from '../../json-body.ts';
import { approvePage, decidedPage, messagePage } from '../../pages/approve-page.ts';
import { privateHtmlResponse } from '../../pages/html.ts';
import { toProblem } from '../../problems.ts';
import { readStrangersBody } from '../../request-body.ts';
import { limitAttempts } from '../../client-address.ts';
import { isOwnOrigin } from '../../own-origin.ts';
import { definePublicRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

/** An unauthenticated decision by link, with its reason, which may be in percent-encoding. */
const maxLinkBodyBytes = 16 * KB;

const LinkDecision = z
  .strictObject({
    decision: Decision,
    reason: DecisionReason.optional(),
    remember: z.literal('session').optional().meta({
      description: 'With `approve`: the same needs no approval in this session from then on, if the approval has `canRemember`.',
    }),
  })
  .refine(({ decision, remember }) => decision === 'approve' || remember === undefined, {
    path: ['remember'],
    message: 'is allowed only with `approve`',
  })
  .meta({ id: 'LinkDecision', example: { decision: 'deny' } });
const LinkDecided = z.object({ callId: z.string(), decision: Decision }).meta({ id: 'LinkDecided' });

const common = {
  tag: 'Approvals',
  path: '/approve/{token}',
  params: z.object({ token: z.string().meta({ description: 'Token of the link.' }) }),
} as const;

export const approvePageRoutes = [
  definePublicRoute(
    {
      ...common,
      operationId: 'showApproval',
      summary: 'Show the call of an approval link',
      description: 'A page, or JSON with `Accept: application/json`. Does not decide the call or use up the link.',
      answers: { 200: { description: 'The complete call.', schema: ApprovalView, also: 'text/html' } },
      problems: ['rate_limited'],
    },
    ({ c, services }) =>
      answerPage(c, async () => {
        const { session, ...link } = await followLink(c, services);
        const approval = await session.linkedApproval(link);
        return { json: approval, page: () => approvePage(approval) };
      }),
  ),

  definePublicRoute(
    {
      ...common,
      method: 'post',
      operationId: 'decideByLink',
      summary: 'Decide a call by a link',
      description: 'A form or JSON. Works once; afterwards the link is invalid. Pages of other sites are rejected.',
      body: { schema: LinkDecision, also: 'application/x-www-form-urlencoded' },
      answers: { 200: { description: 'Decided.', schema: LinkDecided, also: 'text/html' } },
      problems: ['forbidden', 'conflict', 'not_configured', 'rate_limited'],
    },
    ({ c, services }) =>
      answerPage(c, async () => {
        refuseOtherSites(c);
        const { session, ...link } = await followLink(c, services);
        const { decision, ...options } = await readDecision(c);
        const { callId } = await session.decideByLink(link, decision, options);
        return { json: { callId, decision }, page: () => decidedPage(decision, options.remember) };
      }),
  ),
];

/** Returns the session that the token names. A forged token is rejected before any session is called. */
async function followLink(
  c: AppContext,
  { approvalLinks, sessions, clock }: HttpServices,
): Promise<{ session: SessionPort } & FollowedLink> {
  return await limitAttempts(c, async () => {
    const link = await approvalLinks.read(c.req.param('token') ?? '');
    if (link === null) throw new Problem('not_found', 'The link is invalid. It may be incomplete.');
    if (!isValidUntil(link.expiresAt, clock.now(), limits.approvalLinkTtlMs))
      throw new Problem('not_found', 'This link has expired. Ask for a new one.');
    return { session: sessions.get(link.session), nonce: link.nonce, origin: link.origin };
  });
}

/**
 * The page has the referrer policy `no-referrer`, so browsers send its form with `Origin: null`; then `Sec-Fetch-Site` decides, if the
 * browser sends it. The token authenticates; this check prevents pages of other sites from using a link.
 */
function refuseOtherSites(c: AppContext): void {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  const foreign = origin !== undefined && origin !== 'null' && !isOwnOrigin(c.get('services').settings, origin);
  if (foreign || site === 'cross-site' || site === 'same-site') {
    throw new Problem('forbidden', 'This request was sent by a page of another site. Open the link itself.');
  }
}

async function readDecision(c: AppContext): Promise<z.infer<typeof LinkDecision>> {
  const [type = ''] = (c.req.header('content-type') ?? '').toLowerCase().split(';');
  const read = () => readStrangersBody(c, maxLinkBodyBytes);
  if (type.trim() !== 'application/x-www-form-urlencoded')
    return parseInput(LinkDecision, (await readJsonBody(c.req.raw, maxLinkBodyBytes, undefined, read)).value);
  const form = new URLSearchParams(new TextDecoder().decode(await read()));
  // A field that was left empty.
  if (form.get('reason')?.trim() === '') form.delete('reason');
  // The button that remembers an approval approves.
  return parseInput(LinkDecision, { ...(form.has('remember') && { decision: 'approve' }), ...Object.fromEntries(form) });
}

/** Returns a page to browsers and JSON to programs, also for errors. Nothing of it is cached. */
async function answerPage(c: AppContext, work: () => Promise<{ json: object; page(): string }>): Promise<Response> {
  if (wantsJson(c)) return c.json((await work()).json);
  try {
    return privateHtmlResponse((await work()).page(), 200);
  } catch (error) {
    const problem = toProblem(error, { method: c.req.method, path: c.req.path, requestId: c.get('requestId') }, c.get('services').log);
    return privateHtmlResponse(messagePage(problemTitle(problem), problem.detail), problem.status);
  }
}

function problemTitle({ code }: Problem): string {
  if (code === 'not_found') return 'This link is invalid';
  return code === 'conflict' ? 'This call was already decided' : 'The request failed';
}
