/**
 * `/hooks/{workspace}/{webhook}`: where events are sent to. No key: the signature decides, over the bytes as they came, and before it
 * holds nothing of them is read. Stored before it is answered; the turn begins behind the answer. Pages have no business here.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { awaitDelivery, type AwaitedDelivery } from '../../engine/triggers/await-delivery.ts';
import { receiveDelivery } from '../../engine/triggers/receive-delivery.ts';
import type { AcceptedDelivery } from '../../ports/triggers.ts';
import { Accepted, acceptedResponse, acceptedHeaders, toAcceptedBody } from '../accepted-delivery.ts';
import type { AppContext } from '../context.ts';
import { readBytes } from '../json-body.ts';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';
import { MB } from '../../core/limits/units.ts';

/** Real payloads are smaller: GitHub cuts at 25 MB but usually sends kilobytes, Slack and Stripe stay below 256 kB. */
export const maxWebhookBodyBytes = 1 * MB;

const Answered = Accepted.extend({ text: z.string().meta({ description: 'Of the turn’s last step.' }) }).meta({ id: 'AnsweredDelivery' });

export function mountHooks(app: App): void {
  mountPublic(
    app,
    {
      method: 'post',
      path: '/hooks/{workspace}/{webhook}',
      operationId: 'takeDelivery',
      tag: 'Webhooks',
      summary: 'Send an event',
      description:
        'Signed as the webhook’s scheme says. A name that there is not and a signature that is not right are answered alike (404). What the filter leaves out is taken as well, and kept as `ignored`.',
      params: z.object({ workspace: z.string().meta({ example: 'default' }), webhook: z.string().meta({ example: 'triage' }) }),
      rawBody: { description: `JSON, a form or text in UTF-8, at most ${maxWebhookBodyBytes} bytes, as it was signed.` },
      answers: {
        200: {
          description: 'With `respond: "sync"`: the turn’s end. Also the answer to Slack’s URL check.',
          schema: Answered,
          also: 'text/plain',
        },
        202: {
          description: 'Stored; the turn begins, and is begun again whatever dies meanwhile.',
          schema: Accepted,
          headers: { location: 'Of the session, where there is one.' },
        },
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
    async (c) => {
      const body = await readBytes(c.req.raw, maxWebhookBodyBytes);
      const services = c.get('services');
      const workspace = c.req.param('workspace') ?? '';
      const requestId = c.get('requestId');
      const request = { workspace, name: c.req.param('webhook') ?? '', headers: c.req.raw.headers, body, requestId };
      const taken = await orComeAgain(c, receiveDelivery(services, request));
      if ('challenge' in taken) return c.text(taken.challenge, 200);
      const { accepted, trigger, hook } = taken;
      if (hook.webhook.respond === 'async') return acceptedResponse(c, accepted);
      const ended = await orStored(c, awaitDelivery(services, { workspace, trigger, agent: hook.webhook.agent }, accepted));
      if (ended?.ended !== true) return acceptedResponse(c, { ...accepted, status: ended?.status ?? accepted.status });
      return c.json(answered(accepted, ended), 200, acceptedHeaders(accepted));
    },
  );
}

function answered(accepted: AcceptedDelivery, { status, text, reason }: AwaitedDelivery): z.infer<typeof Answered> {
  return { ...toAcceptedBody(accepted), status, reason, text };
}

/** Senders come again where they are told to: what failed on our side before it was stored is said so, with a time. */
async function orComeAgain<T>(c: AppContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem && error.code !== 'internal') throw error;
    c.get('services').log.error('a delivery was not stored', { requestId: c.get('requestId'), cause: causeOf(error) });
    throw new Problem('upstream_timeout', 'This could not be stored. Send it again.', { retryAfterMs: limits.defaultRetryAfterMs });
  }
}

/** It is stored, so whoever sent it is told that, and no fault, when it cannot be waited for: null. */
async function orStored(c: AppContext, waiting: Promise<AwaitedDelivery>): Promise<AwaitedDelivery | null> {
  try {
    return await waiting;
  } catch (error) {
    c.get('services').log.error('a delivery could not be waited for', { requestId: c.get('requestId'), cause: causeOf(error) });
    return null;
  }
}

/** Problems of the store name their own cause. */
function causeOf(error: unknown): string {
  return error instanceof Problem && error.cause !== undefined ? `${error.message}: ${String(error.cause)}` : String(error);
}
