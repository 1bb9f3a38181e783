/** One attempt at a callback: the request, the handling of responses, and blocked addresses. */
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { Subscription } from '../../../src/core/triggers/callbacks/callback.ts';
import { createSendCallback } from '../../../src/engine/triggers/send-callback.ts';
import { createOutbound } from '../../../src/net/outbound.ts';
import { describeCorpus, readJsonLines } from '../../fixtures.ts';
import { maxForwardedRetryAfterMs } from '../../../src/core/model/retry-after.ts';
import { maxCallbackResponseLength } from '../../../src/engine/triggers/send-callback.ts';
import { runs } from '../../selection.ts';

const now = Date.now();
const message = {
  id: 'msg_1',
  url: 'https://receiver.example.net/hook',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  body: '{"type":"test"}',
};

/** The guarded outbound client for a network where every host responds with `answer`; `requests`: what was really sent. */
function sender(answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 204 })) {
  const requests: Request[] = [];
  const outbound = createOutbound({ allowPrivateHosts: [], publicUrl: 'https://moniker.example.com' }, async (request) => {
    requests.push(request.clone());
    return answer(request);
  });
  return { requests, send: createSendCallback({ outbound, now: () => now }) };
}

const headersOf = (request: Request | undefined) => Object.fromEntries(request?.headers ?? []);

describe('a callback', () => {
  it('is one POST with the headers of Standard Webhooks and the unchanged body', async () => {
    const { requests, send } = sender();
    expect(await send(message)).toEqual({ delivered: true, isFinal: false, status: 204, error: null, durationMs: 0, retryAfterMs: null });
    expect(requests.map(({ method, url }) => [method, url])).toEqual([['POST', message.url]]);
    expect(headersOf(requests[0])).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now / 1000)),
    });
    expect(await requests[0]?.text()).toBe(message.body);
  });

  it('has a signature that the reference library accepts, for any body and a secret of any scheme', async () => {
    const base64 = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
    const text = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }).filter((secret) => !secret.startsWith('whsec_'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(base64, text), fc.jsonValue(), async (secret, value) => {
        const { requests, send } = sender();
        const body = JSON.stringify(value);
        await send({ ...message, secret, body });
        const key = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(new TextEncoder().encode(secret), { format: 'raw' });
        expect(key.verify((await requests[0]?.text()) ?? '', headersOf(requests[0]))).toEqual(JSON.parse(body));
      }),
      { numRuns: runs(60) },
    );
  });

  it('uses the bytes of a secret that only looks like base64', async () => {
    for (const secret of ['whsec_', 'whsec_!', 'whsec_abcde', 'whsec_ab cd']) {
      const { requests, send } = sender();
      await send({ ...message, secret });
      const key = new Webhook(new TextEncoder().encode(secret), { format: 'raw' });
      expect(key.verify(message.body, headersOf(requests[0])), secret).toEqual({ type: 'test' });
    }
  });

  it('signed with an undeclared base64 secret is accepted by receivers that decode it and by those that do not', async () => {
    for (const secret of ['C2FVsBQIhrscChlQIMV+b5sSYspob7oD', '0123456789abcdef0123456789abcdef', 'YWJjZA==']) {
      const { requests, send } = sender();
      await send({ ...message, secret });
      for (const key of [new Webhook(secret), new Webhook(new TextEncoder().encode(secret), { format: 'raw' })])
        expect(key.verify(message.body, headersOf(requests[0])), secret).toEqual({ type: 'test' });
    }
  });

  it.each([
    [200, true],
    [201, true],
    [204, true],
    [299, true],
    [304, false],
    [400, false],
    [404, false],
    [429, false],
    [500, false],
    [503, false],
  ])('with a response of %i is delivered: %s', async (status, delivered) => {
    const { send } = sender(() => new Response(null, { status }));
    expect(await send(message)).toMatchObject({ delivered, status, isFinal: false, error: delivered ? null : `Responded with ${status}.` });
  });

  it.each(['http://[', 'ht\ttps://x', `/${'x'.repeat(10_000)}`, '//'])(
    'is retried if it is redirected without an address: %s',
    async (location) => {
      const { requests, send } = sender(() => new Response(null, { status: 302, headers: { location } }));
      expect(await send(message)).toMatchObject({
        delivered: false,
        isFinal: false,
        error: expect.stringContaining('redirects to an invalid URL'),
      });
      expect(requests.length).toBe(1);
    },
  );

  it('is not retried after a 410', async () => {
    const { send } = sender(() => new Response('never again', { status: 410 }));
    expect(await send(message)).toMatchObject({ delivered: false, isFinal: true, status: 410, error: 'Responded with 410: never again' });
  });

  it.each([
    ['120', 120_000],
    ['1.5', 1_500],
    [new Date(Math.floor(now / 1000) * 1000 + 90_000).toUTCString(), 90_000 - (now % 1000)],
    ['soon', null],
    ['-5', null],
    ['99999999999', maxForwardedRetryAfterMs],
  ])('reads a Retry-After of %s', async (header, retryAfterMs) => {
    const { send } = sender(() => new Response(null, { status: 503, headers: { 'retry-after': header } }));
    expect(await send(message)).toMatchObject({ retryAfterMs });
  });

  it('shows the beginning of the response, with invisible characters made visible', async () => {
    const { send } = sender(() => new Response(`\u202e\u200b${'é'.repeat(10_000)}`, { status: 500 }));
    const { error } = await send(message);
    expect(error?.startsWith('Responded with 500: <U+202E><U+200B>éé')).toBe(true);
    expect(error?.length).toBeLessThanOrEqual(maxCallbackResponseLength + 20);
  });

  it('reports that no receiver could be reached, and is retried', async () => {
    const { send } = sender(() => Promise.reject(new Error('connection refused')));
    expect(await send(message)).toMatchObject({
      delivered: false,
      isFinal: false,
      status: null,
      error: 'receiver.example.net could not be reached, or the connection broke.',
    });
  });

  it('fails without an exception if the response breaks off', async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('half of '));
        controller.error(new Error('cut'));
      },
    });
    const { send } = sender(() => new Response(broken, { status: 502 }));
    expect(await send(message)).toMatchObject({ delivered: false, isFinal: false, status: 502 });
  });

  it('closes what it has not read', async () => {
    const closed: string[] = [];
    const body = (name: string) =>
      new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000)), cancel: () => void closed.push(name) });
    await sender(() => new Response(body('taken'), { status: 200 })).send(message);
    await sender(() => new Response(body('refused'), { status: 500 })).send(message);
    expect(closed).toEqual(['taken', 'refused']);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i), not even to the same origin', async (status) => {
    for (const location of ['/elsewhere', 'https://other.example.net/', 'http://127.0.0.1/']) {
      const { requests, send } = sender(() => new Response(null, { status, headers: { location } }));
      const outcome = await send(message);
      expect(outcome).toMatchObject({ delivered: false, isFinal: false });
      expect(outcome.error).toMatch(/redirects to .*; the redirect was not followed/);
      expect(outcome.error).not.toContain('MONIKER_ALLOW_PRIVATE_HOSTS');
      expect(requests.length).toBe(1);
    }
  });

  it('is not sent to Moniker itself', async () => {
    const { requests, send } = sender();
    expect(await send({ ...message, url: 'https://moniker.example.com/hooks/default/x' })).toMatchObject({ isFinal: true, status: null });
    expect(requests).toEqual([]);
  });
});

type Row = { id: string; url: string; expect: 'block' | 'allow' | 'invalid' | 'block-after-dns' };

describeCorpus('security/ssrf-urls.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const isOpen = (row: Row): boolean => row.expect === 'allow' || row.expect === 'block-after-dns';

  it.each(rows)('$id as the address of a receiver is rejected when written or before sending, unless it is public', async (row) => {
    const { requests, send } = sender();
    const written = Subscription.safeParse({ url: row.url, secret: 'x' });
    const outcome = await send({ ...message, url: row.url }).catch((error: unknown) => error);
    if (isOpen(row)) {
      expect(written.success).toBe(true);
      expect(outcome).toMatchObject({ delivered: true });
      expect(requests.length).toBe(1);
      return;
    }
    expect(requests).toEqual([]);
    if (written.success) expect(outcome).toMatchObject({ delivered: false, isFinal: true, error: expect.stringMatching(/.{20}/) });
  });

  it.each(rows)('$id is not reached by a redirect', async (row) => {
    const { requests, send } = sender(() => new Response(null, { status: 307, headers: { location: row.url } }));
    expect(await send(message)).toMatchObject({ delivered: false });
    expect(requests.length).toBe(1);
  });
});
