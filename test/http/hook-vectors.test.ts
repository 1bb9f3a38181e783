import { afterAll, expect, it } from 'vitest';
import type { SignedVector, WebhookVector } from '../core/triggers/webhook-vectors.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { bodyOf, createHarness } from './harness.ts';
import { asGitHub, deliver, putWebhook, type Sent } from './hook-senders.ts';
import { printStatistics } from '../statistics.ts';

/** Returns the status, and the number of started turns. */
type Outcome = { status: number; text: string; begun: number; repeated: boolean };

const session = { session: 'one', input: '{{@body}} {{@event}}' };

describeCorpus('security/webhook-vectors.json', (path) => {
  const { cases } = readJson<{ cases: WebhookVector[] }>(path);
  const counts: Record<string, number> = {};
  afterAll(() => printStatistics(`webhook-vectors over HTTP: ${cases.length} rows, as expected: ${JSON.stringify(counts)}`));

  it.each(cases.map((row) => [row.id, row.reason, row] as const))(
    'answers the delivery %s as the corpus expects: %s',
    async (_id, _reason, row) => {
      const outcome = row.scheme === 'http' ? await sendPlain(row) : await sendSigned(row);
      expect(isExpected(row.expect, outcome), JSON.stringify(outcome)).toBe(true);
      counts[row.expect] = (counts[row.expect] ?? 0) + 1;
    },
  );
});

function isExpected(expected: string, { status, text, begun, repeated }: Outcome): boolean {
  switch (expected) {
    case 'accept':
      return status === 202 && begun <= 1;
    case 'accept-once':
      // GitHub's row is a ping: it is stored once, and starts nothing.
      return status === 202 && begun === (text.includes('"ignored"') ? 0 : 1) && repeated;
    case 'reject':
      return [400, 404, 415].includes(status) && begun === 0;
    case 'either':
      return status === 202 || (status === 404 && begun === 0);
    case 'challenge':
      return status === 200 && text !== '' && !text.startsWith('{') && begun === 0;
    case 'config-error':
      return status === 422 && begun === 0;
    default:
      return status === Number(expected) && begun === 0;
  }
}

async function sendSigned({ scheme, secret, now = 0, body, headers, deliveries = 1 }: SignedVector): Promise<Outcome> {
  const harness = createHarness({}, { clock: fakeClock(now * 1000) });
  const made = await putWebhook(harness, { ...session, scheme, secret, agent: 'nobody' });
  if (made.status !== 201) return { status: made.status, text: '', begun: 0, repeated: false };
  const answers: Response[] = [];
  for (let sent = 0; sent < deliveries; sent += 1) answers.push(await deliver(harness, { body, headers: lowerCase(headers) }));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  const { status = 0 } = answers.at(-1) ?? {};
  const turns = new Set(texts.map((text) => (status === 202 ? JSON.parse(text).turn : null)));
  const repeated = turns.size === 1 && texts.slice(1).every((text) => text.includes('"repeated":true'));
  return { status, text: texts.at(-1) ?? '', begun: harness.sessions.submitted.length, repeated };
}

/** Sends to an existing webhook, unless the row is about a missing one; once unchanged, and once correctly signed if it has a body. */
async function sendPlain(row: Extract<WebhookVector, { scheme: 'http' }>): Promise<Outcome> {
  const harness = createHarness();
  await putWebhook(harness, session);
  if (row.expect === '405') {
    const { status } = await harness.send('GET', '/hooks/default/triage', undefined, { authorization: undefined });
    return { status, text: '', begun: 0, repeated: false };
  }
  const path = row.id === 'http-unknown-endpoint' ? '/hooks/default/does-not-exist' : '/hooks/default/triage';
  const body = row.bodyRepeat === undefined ? (row.body ?? '{}') : row.bodyRepeat.s.repeat(row.bodyRepeat.n);
  const unsigned: Sent = { body, headers: lowerCase(row.headers ?? {}) };
  const signed: Sent = { body, headers: { ...asGitHub(body).headers, ...unsigned.headers } };
  const answers = [await deliver(harness, unsigned, path), await deliver(harness, signed, path)];
  const statuses = answers.map(({ status }) => status);
  // A row has one expectation for both; the worse of the two results counts.
  expect((await bodyOf(answers[1] as Response)).code).toBeDefined();
  return { status: Math.min(...statuses), text: '', begun: harness.sessions.submitted.length, repeated: false };
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
