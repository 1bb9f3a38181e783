/**
 * `/hooks/{workspace}/{webhook}`: receives webhook events. No key: the signature over the raw bytes authenticates, and nothing of the body
 * is parsed before it is verified. A delivery is stored before the response; its turn starts after it. Requests of web pages are not
 * supported.
 */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { Attempt } from '../../../engine/attempt-limit.ts';
import { awaitDelivery, type AwaitedDelivery } from '../../../engine/triggers/await-delivery.ts';
import { receiveDelivery } from '../../../engine/triggers/receive-delivery.ts';
import type { AcceptedDelivery } from '../../../ports/triggers.ts';
import { Accepted, acceptedAnswer, acceptedHeaders, toAcceptedBody } from './accepted-delivery.ts';
import { clientAddress } from '../../client-address.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { readStrangersBody } from '../../request-body.ts';
import { definePublicRoute } from '../../route.ts';
import { MB } from '../../../core/limits/units.ts';

/** Real payloads are smaller: GitHub cuts at 25 MB but usually sends kilobytes, Slack and Stripe stay below 256 kB. */
export const maxWebhookBodyBytes = 1 * MB;

/** Shared by all deliveries to one webhook of one workspace. */
const maxTargetLength = 128;

const Answered = Accepted.extend({ text: z.string().meta({ description: 'Text of the turn’s last step.' }) }).meta({
  id: 'AnsweredDelivery',
});

export const hookRoutes = [
  definePublicRoute(
    {
      method: 'post',
      path: '/hooks/{workspace}/{webhook}',
      operationId: 'receiveDelivery',
      tag: 'Webhooks',
      summary: 'Send an event',
      description:
        'Signed according to the webhook’s scheme. An unknown name and an invalid signature both return 404. Events that do not match the filter are accepted and stored as `ignored`. 600 requests without a valid signature from one address, or 3,000 to one webhook, are followed by 429 until their minute is over.',
      params: z.object({ workspace: z.string().meta({ example: 'default' }), webhook: z.string().meta({ example: 'triage' }) }),
      rawBody: { description: `JSON, a form or text in UTF-8, at most ${maxWebhookBodyBytes} bytes, exactly as signed.` },
      answers: {
        200: {
          description: 'With `respond: "sync"`: the result of the turn. Also the response to Slack’s URL verification.',
          schema: Answered,
          also: 'text/plain',
          headers: { location: 'URL of the session, if any.' },
        },
        202: acceptedAnswer,
      },
      problems: [
        'invalid_json',
        'not_found',
        'body_too_large',
        'unsupported_media_type',
        'invalid_request',
        'rate_limited',
        'upstream_timeout',
      ],
    },
    async ({ c, services, answer }) => {
      const [workspace, name] = [c.req.param('workspace') ?? '', c.req.param('webhook') ?? ''];
      // If it is unknown, only the webhook counts.
      const [address, target] = [clientAddress(c), `${workspace}/${name}`.slice(0, maxTargetLength)];
      services.hookAttempts.require(address, target);
      let attempt: Attempt | undefined;
      const body = await readStrangersBody(c, maxWebhookBodyBytes, () => {
        attempt = services.hookAttempts.begin(address, target);
      });
      const requestId = c.get('requestId');
      const request = { workspace, name, headers: c.req.raw.headers, body, requestId };
      const received = receiveDelivery(services, request).catch((error: unknown) => {
        if (!(error instanceof Problem && error.code === 'not_found')) attempt?.forget();
        throw error;
      });
      const taken = await orAskToRetry(c, received);
      attempt?.succeed();
      if ('challenge' in taken) return c.text(taken.challenge, 200);
      const { accepted, trigger, hook } = taken;
      const headers = acceptedHeaders(accepted);
      if (hook.webhook.respond === 'async') return answer(202, toAcceptedBody(accepted), headers);
      const ended = await orNullAfterTimeout(c, awaitDelivery(services, { workspace, trigger, agent: hook.webhook.agent }, accepted));
      if (ended?.ended !== true) return answer(202, toAcceptedBody({ ...accepted, status: ended?.status ?? accepted.status }), headers);
      return answer(200, toDeliveryResult(accepted, ended), headers);
    },
  ),
];

function toDeliveryResult(accepted: AcceptedDelivery, { status, text, reason }: AwaitedDelivery): z.infer<typeof Answered> {
  return { ...toAcceptedBody(accepted), status, reason, text };
}

/** Senders retry on certain responses: an internal failure before the delivery was stored is reported with a retry time. */
async function orAskToRetry<T>(c: AppContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem && error.code !== 'internal') throw error;
    c.get('services').log.error('could not store a delivery', { requestId: c.get('requestId'), cause: causeOf(error) });
    const full = await c.get('services').host.explain();
    if (full !== null) throw full;
    throw new Problem('upstream_timeout', 'The delivery could not be stored. Send it again.', { retryAfterMs: limits.defaultRetryAfterMs });
  }
}

/** The delivery is stored, so a failure to wait for its turn is not reported to the sender: returns null. */
async function orNullAfterTimeout(c: AppContext, waiting: Promise<AwaitedDelivery>): Promise<AwaitedDelivery | null> {
  try {
    return await waiting;
  } catch (error) {
    c.get('services').log.error('could not wait for a delivery', { requestId: c.get('requestId'), cause: causeOf(error) });
    return null;
  }
}

/** Problems of the store contain their own cause. */
function causeOf(error: unknown): string {
  return error instanceof Problem && error.cause !== undefined ? `${error.message}: ${String(error.cause)}` : String(error);
}
