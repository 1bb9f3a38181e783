import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/core/hash.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { type EventHead, deliveryEventOf, slackChallenge } from '../../../src/core/triggers/delivery-event.ts';
import { HmacSettings, type WebhookDocument, WebhookScheme } from '../../../src/core/triggers/webhook.ts';
import { maxChallengeLength } from '../../../src/core/triggers/delivery-event.ts';

type Hook = Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>;

async function headOf(
  hook: Hook,
  payload: unknown,
  headers: Record<string, string> = {},
  body = JSON.stringify(payload),
): Promise<EventHead> {
  return await deliveryEventOf(hook, { header: (name) => headers[name] ?? null, payload, body: new TextEncoder().encode(body) });
}

describe('standard', () => {
  it('reads the delivery from a header and the event from the payload', async () => {
    expect(await headOf({ scheme: 'standard' }, { type: 'invoice.paid' }, { 'webhook-id': 'msg_1' })).toEqual({
      id: 'msg_1',
      event: 'invoice.paid',
      isPing: false,
    });
  });
});

describe('github', () => {
  it('reads both from headers', async () => {
    const headers = { 'x-github-event': 'issues', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' };
    expect(await headOf({ scheme: 'github' }, { action: 'opened' }, headers)).toEqual({
      id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      event: 'issues',
      isPing: false,
    });
  });

  it('recognizes a ping', async () => {
    expect(
      await headOf({ scheme: 'github' }, { zen: 'Keep it simple.' }, { 'x-github-event': 'ping', 'x-github-delivery': 'a' }),
    ).toMatchObject({ event: 'ping', isPing: true });
    expect(await headOf({ scheme: 'standard' }, { type: 'ping' }, { 'x-github-event': 'ping', 'webhook-id': 'a' })).toMatchObject({
      isPing: false,
    });
  });

  it('without a delivery id is identified by its body', async () => {
    expect((await headOf({ scheme: 'github' }, {}, { 'x-github-event': 'push' }, 'the body')).id).toBe(await sha256Hex('the body'));
  });
});

describe('stripe', () => {
  it('reads both from the payload, and a repeat has another time but the same id', async () => {
    const event = { id: 'evt_1', object: 'event', type: 'charge.succeeded', data: { object: {} } };
    const first = await headOf({ scheme: 'stripe' }, event, { 'stripe-signature': 't=1,v1=a' });
    expect(first).toEqual({ id: 'evt_1', event: 'charge.succeeded', isPing: false });
    expect(await headOf({ scheme: 'stripe' }, event, { 'stripe-signature': 't=2,v1=b' })).toEqual(first);
  });

  it('without an id is identified by the signed content', async () => {
    const { id } = await headOf({ scheme: 'stripe' }, {}, { 'stripe-signature': 't=7,v1=a' }, '{}');
    expect(id).toBe(await sha256Hex('7.{}'));
  });
});

describe('slack', () => {
  const hook: Hook = { scheme: 'slack' };
  const at = (time: string) => ({ 'x-slack-request-timestamp': time });

  it('identifies an event by its id, which is equal in a repeat, and names its type', async () => {
    const payload = { type: 'event_callback', event_id: 'Ev0PV52K21', event: { type: 'app_mention', text: 'hello' } };
    expect(await headOf(hook, payload, at('1'))).toEqual({ id: 'Ev0PV52K21', event: 'app_mention', isPing: false });
    expect((await headOf(hook, payload, { ...at('60'), 'x-slack-retry-num': '1' })).id).toBe('Ev0PV52K21');
  });

  it('identifies a command by its trigger id, and names its type', async () => {
    expect(await headOf(hook, { command: '/weather', text: 'Prague', trigger_id: '398738663015.47445629121' }, at('1'))).toEqual({
      id: '398738663015.47445629121',
      event: 'slash_command',
      isPing: false,
    });
  });

  it('identifies an interaction by its trigger id, and names its type', async () => {
    expect(await headOf(hook, { type: 'block_actions', trigger_id: '1.2', actions: [] }, at('1'))).toEqual({
      id: '1.2',
      event: 'block_actions',
      isPing: false,
    });
  });

  it('identifies anything else by the signed content with its time', async () => {
    const payload = { type: 'app_rate_limited' };
    const { id } = await headOf(hook, payload, at('5'), 'the body');
    expect(id).toBe(await sha256Hex('v0:5:the body'));
    expect((await headOf(hook, payload, at('6'), 'the body')).id).not.toBe(id);
  });

  it('tries a command’s address with `ssl_check`', async () => {
    expect(await headOf(hook, { ssl_check: '1', token: 'x' }, at('1'))).toMatchObject({ event: null, isPing: true });
  });

  it('checks a URL with a challenge, which is text of bounded length', () => {
    expect(slackChallenge({ type: 'url_verification', token: 'x', challenge: '3eZbrw1aBm2r' })).toBe('3eZbrw1aBm2r');
    for (const payload of [
      null,
      'url_verification',
      [],
      { type: 'url_verification' },
      { type: 'event_callback', challenge: 'x' },
      { type: 'url_verification', challenge: 7 },
    ])
      expect(slackChallenge(payload)).toBe(null);
    expect(slackChallenge({ type: 'url_verification', challenge: 'x'.repeat(maxChallengeLength + 1) })).toBe(null);
  });
});

describe('hmac and bearer', () => {
  const hmac = HmacSettings.parse({ header: 'x-signature', signed: '{timestamp}.{body}', timestampHeader: 'x-time', idHeader: 'x-id' });
  const { idHeader: _idHeader, ...withoutId } = hmac;

  it('name the delivery in the header that the document says, and the event as `type` or `event`', async () => {
    expect(await headOf({ scheme: 'hmac', hmac }, { type: 'a', event: 'b', id: 'c' }, { 'x-id': 'd' })).toEqual({
      id: 'd',
      event: 'a',
      isPing: false,
    });
    const bearer = { header: 'x-gitlab-token', idHeader: 'x-gitlab-event-uuid' };
    expect(await headOf({ scheme: 'bearer', bearer }, { event: 'push' }, { 'x-gitlab-event-uuid': 'e' })).toEqual({
      id: 'e',
      event: 'push',
      isPing: false,
    });
  });

  it('are otherwise identified by the signed content', async () => {
    const headers = { 'x-time': '5' };
    expect((await headOf({ scheme: 'hmac', hmac: withoutId }, { id: 'c' }, headers, 'body')).id).toBe(await sha256Hex('5.body'));
    expect((await headOf({ scheme: 'hmac', hmac }, {}, headers, 'body')).id).toBe(await sha256Hex('5.body'));
    expect((await headOf({ scheme: 'bearer' }, {}, headers, 'body')).id).toBe(await sha256Hex('body'));
  });

  it('have no event if the payload names none', async () => {
    for (const payload of ['text', null, [], {}, { type: 5 }, { type: '' }, { event: {} }])
      expect(await headOf({ scheme: 'bearer' }, payload)).toMatchObject({ event: null });
  });
});

describe('an external id', () => {
  const bearer = { header: 'x-token', idHeader: 'x-id' };
  const idOf = async (given: string) => (await headOf({ scheme: 'bearer', bearer }, {}, { 'x-id': given })).id;

  it('that is plain and short is unchanged', async () => {
    for (const id of ['a', 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'a/b?c#d', '%2e%2e', 'x'.repeat(limits.maxDeliveryIdLength)])
      expect(await idOf(id)).toBe(id);
  });

  it('that is long, blank, not visible ASCII, or a relative path segment is hashed', async () => {
    for (const id of ['x'.repeat(limits.maxDeliveryIdLength + 1), ' ', 'a b', 'ž', 'a\u202eb', 'a\0', '.', '..'])
      expect(await idOf(id)).toBe(await sha256Hex(id));
  });

  it('is always one bounded word, the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...WebhookScheme.options), fc.string({ unit: 'binary', maxLength: 400 }), async (scheme, id) => {
        const headers = { 'webhook-id': id, 'x-github-delivery': id, 'x-id': id, 'x-github-event': id };
        const payload = { id, event_id: id, type: id };
        const hook: Hook = { scheme, hmac: scheme === 'hmac' ? HmacSettings.parse({ header: 'x', idHeader: 'x-id' }) : undefined, bearer };
        const head = await headOf(hook, payload, headers);
        expect(head.id).toMatch(/^[!-~]{1,256}$/);
        expect((head.event ?? '').length).toBeLessThanOrEqual(limits.maxEventLength);
        expect(await headOf(hook, payload, headers)).toEqual(head);
      }),
    );
  });

  it('is not read from built-in object members', async () => {
    expect(
      (await headOf({ scheme: 'stripe' }, Object.create({ id: 'inherited', type: 'x' }), { 'stripe-signature': 't=1' }, '{}')).id,
    ).toBe(await sha256Hex('1.{}'));
  });
});
