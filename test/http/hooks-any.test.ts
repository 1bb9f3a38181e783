import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness } from './harness.ts';
import { asGitHub, deliver, putWebhook } from './hook-senders.ts';
import { runs } from '../selection.ts';

/** Headers as a client can send them: latin-1, without line breaks. */
const headerValue = fc.stringMatching(/^[\x20-\x7e]{0,60}$/);
const headers = fc.dictionary(
  fc.oneof(
    fc.stringMatching(/^[a-z][a-z-]{0,20}$/),
    fc.constantFrom('content-type', 'content-encoding', 'x-hub-signature-256', 'x-github-event', 'x-github-delivery', 'authorization'),
  ),
  headerValue,
  { maxKeys: 6 },
);

describe('any request to a hook', () => {
  it('gets the same response for existing and missing webhooks, unless it is signed', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness, { session: '{{@delivery}}', input: 'Sent: {{@body}}' });
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 200 }), headers, async (body, given) => {
        const sent = { body, headers: { ...given, 'x-request-id': 'same' } };
        const [known, unknown] = [await deliver(harness, sent), await deliver(harness, sent, '/hooks/default/nobody')];
        expect([known.status, [...known.headers], await known.text()]).toEqual([404, [...unknown.headers], await unknown.text()]);
      }),
      { numRuns: runs(200) },
    );
    expect(harness.triggers.accepted).toEqual([]);
  });

  it('that is signed is stored or rejected with a reason, never an internal error; stored ones can be listed and replayed', async () => {
    const harness = await createChatHarness();
    const odd = { session: '{{@delivery}}', input: 'Sent: {{@body}} {{a}} {{#each b}}{{this}}{{/each}} {{json @headers}}' };
    await putWebhook(harness, odd);
    const seen = new Set<number>();
    const body = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    );
    const ids = fc.string({ unit: fc.constantFrom(...'ab/%?#. \u00e9\u00ff;:@{}'), minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(body, headers, ids, async (text, { 'x-hub-signature-256': _signature, ...given }, id) => {
        const signed = asGitHub(text, { id });
        const answer = await deliver(harness, { body: signed.body, headers: { ...signed.headers, ...given } });
        seen.add(answer.status);
        const told = await bodyOf(answer);
        expect([202, 400, 415, 422]).toContain(answer.status);
        if (answer.status !== 202) return;
        const path = `/v1/webhooks/triage/deliveries/${encodeURIComponent(told.delivery)}`;
        expect(await bodyOf(await harness.send('GET', path))).toMatchObject({ id: told.delivery });
        harness.triggers.set(told.delivery, { status: 'completed' });
        expect((await harness.send('POST', `${path}/replay`)).status).toBe(202);
      }),
      { numRuns: runs(300) },
    );
    expect(seen).toContain(202);
  });
});
