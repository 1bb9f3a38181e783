import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import { bodyOf, createChatHarness, createHarness, type Harness } from './harness.ts';
import { asGitHub, asSlack, deliver, gitHubSecret, opened, putWebhook } from './hook-senders.ts';
import { maxWebhookBodyBytes } from '../../src/http/routes/triggers/hooks.ts';
import { waitFor } from '../wait-for.ts';

async function triage(changes: Record<string, unknown> = {}): Promise<Harness> {
  const harness = await createChatHarness();
  const made = await putWebhook(harness, changes);
  expect(made.status, await made.clone().text()).toBe(201);
  return harness;
}

describe('a delivery that is signed', () => {
  it('is stored, and returns the session and the turn that it starts', async () => {
    const harness = await triage();
    const answer = await deliver(harness, asGitHub(opened));
    const body = await bodyOf(answer);
    expect([answer.status, body]).toEqual([
      202,
      { delivery: 'd-1', status: 'pending', session: 'ses1', turn: expect.any(String), run: 1, reason: null },
    ]);
    expect(answer.headers.get('location')).toBe('/v1/sessions/ses1');
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    const [given] = harness.triggers.accepted;
    expect(given).toMatchObject({ trigger: { kind: 'webhook', name: 'triage' }, id: 'd-1', event: 'issues' });
    expect(given?.verdict).toMatchObject({ become: 'run', agent: 'plain', rendered: { sessionKey: 'acme/shop#7' } });
    expect(harness.sessions.submitted).toHaveLength(1);
  });

  it('that is redelivered starts nothing, and returns the same response', async () => {
    const harness = await triage();
    const first = await bodyOf(await deliver(harness, asGitHub(opened)));
    const again = await deliver(harness, asGitHub(opened));
    const { session, turn } = first;
    expect([again.status, await bodyOf(again)]).toMatchObject([202, { delivery: 'd-1', session, turn, repeated: true }]);
    expect(harness.sessions.submitted).toHaveLength(1);
  });

  it('is stored with its descriptive headers, without signatures and transport headers', async () => {
    const harness = await triage();
    const sent = asGitHub(opened);
    const more = {
      authorization: 'Bearer other',
      cookie: 'a=b',
      'cf-ray': 'x',
      'x-forwarded-for': '192.0.2.1',
      'user-agent': 'GitHub-Hookshot/1',
    };
    await deliver(harness, { ...sent, headers: { ...sent.headers, ...more } });
    expect(harness.triggers.accepted[0]?.payload).toEqual({
      text: sent.body,
      isJson: true,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/1',
        'x-github-delivery': 'd-1',
        'x-github-event': 'issues',
      },
    });
  });

  it('that is a ping, or arrives while the webhook is paused, is stored as ignored', async () => {
    const harness = await triage();
    const ping = await bodyOf(await deliver(harness, asGitHub({ zen: 'Keep it simple.' }, { id: 'p-1', event: 'ping' })));
    expect(ping).toMatchObject({ status: 'ignored', session: null, turn: null, reason: expect.any(String) });
    await putWebhook(harness, { paused: true });
    const paused = await deliver(harness, asGitHub(opened, { id: 'p-2' }));
    expect([paused.status, await bodyOf(paused)]).toMatchObject([202, { status: 'ignored', reason: 'The webhook is paused.' }]);
    expect(paused.headers.has('location')).toBe(false);
    expect(harness.sessions.submitted).toHaveLength(0);
  });

  it('that does not match the filter, or fails in it, is stored as ignored with the reason; a replay skips the filter', async () => {
    const harness = await triage({ filter: 'event == "issues" && payload.action in ["opened"] && headers["x-github-event"] == event' });
    expect(await bodyOf(await deliver(harness, asGitHub(opened)))).toMatchObject({ status: 'pending', reason: null });
    const other = await bodyOf(await deliver(harness, asGitHub({ ...opened, action: 'closed' }, { id: 'd-2' })));
    expect(other).toMatchObject({ status: 'ignored', session: null, reason: 'The filter does not match.' });
    const odd = await bodyOf(await deliver(harness, asGitHub({ issue: {} }, { id: 'd-3' })));
    expect(odd).toMatchObject({ status: 'ignored', session: null });
    expect(harness.sessions.submitted).toHaveLength(1);
    expect(await bodyOf(await harness.send('POST', '/v1/webhooks/triage/deliveries/d-2/replay'))).toMatchObject({
      run: 2,
      session: 'ses1',
    });
  });

  it('with an empty session key is stored as failed, with the path', async () => {
    const harness = await triage();
    const answer = await deliver(harness, asGitHub({ action: 'opened', repository: { full_name: 'acme/shop' } }));
    const body = await bodyOf(answer);
    expect([answer.status, body]).toMatchObject([202, { status: 'failed', session: null }]);
    expect(body.reason).toContain('issue.number');
  });

  it.each([
    ['multipart', 'multipart/form-data; boundary=x', {}, 415, 'unsupported_media_type'],
    ['another charset', 'application/json; charset=iso-8859-1', {}, 415, 'unsupported_media_type'],
    ['a compressed body', 'application/json', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['JSON that breaks off', 'application/json', { body: '{"a":' }, 400, 'invalid_json'],
    ['JSON that nests too deep', 'application/json', { body: `${'['.repeat(200)}${']'.repeat(200)}` }, 400, 'invalid_json'],
  ])('%s is rejected and not stored', async (_, type, { body, ...headers }: Record<string, string>, status, code) => {
    const harness = await triage();
    const sent = asGitHub(body ?? opened);
    const answer = await deliver(harness, { body: sent.body, headers: { ...sent.headers, 'content-type': type, ...headers } });
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([status, code]);
    expect(harness.triggers.accepted).toEqual([]);
  });

  it('gets a retry time if the backlog is full, and if storage fails', async () => {
    for (const [error, status] of [
      [new Problem('rate_limited', 'Too much.', { retryAfterMs: 10_000 }), 429],
      [new Problem('internal', 'The catalog did not respond in time. Try again.'), 504],
      [new Error('overloaded'), 504],
    ] as const) {
      const harness = await triage();
      harness.triggers.acceptDelivery = () => Promise.reject(error);
      const answer = await deliver(harness, asGitHub(opened));
      expect(answer.status).toBe(status);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
});

describe('Slack’s URL check', () => {
  const secret = 'a signing secret of Slack’s';
  const check = JSON.stringify({ type: 'url_verification', token: 't', challenge: '3eZbrw1aB' });

  it('returns its challenge as text, and is not stored', async () => {
    const harness = await triage({ scheme: 'slack', secret });
    const answer = await deliver(harness, asSlack(check, secret, harness.clock.now() / 1000));
    expect([answer.status, await answer.text()]).toEqual([200, '3eZbrw1aB']);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(harness.triggers.accepted).toEqual([]);
  });

  it('is rejected with a wrong signature, or another scheme', async () => {
    const harness = await triage({ scheme: 'slack', secret });
    expect((await deliver(harness, asSlack(check, 'another secret', harness.clock.now() / 1000))).status).toBe(404);
    const other = await triage({ session: '{{type}}', input: '{{type}}' });
    expect((await deliver(other, asGitHub(check))).status).toBe(202);
  });
});

describe('an unsigned delivery', () => {
  const wrong = asGitHub(opened, { secret: 'another secret' });

  it('gets the same bytes as for a missing webhook', async () => {
    const harness = await triage();
    const headers = { ...wrong.headers, 'x-request-id': 'same' };
    const [bad, unknown, none, elsewhere] = await Promise.all([
      deliver(harness, { ...wrong, headers }),
      deliver(harness, { ...wrong, headers }, '/hooks/default/nobody'),
      deliver(harness, { body: wrong.body, headers: { 'x-request-id': 'same' } }),
      deliver(harness, { ...wrong, headers }, '/hooks/elsewhere/triage'),
    ]);
    const seen = await Promise.all(
      [bad, unknown, none, elsewhere].map(async (answer) => [answer.status, [...answer.headers], await answer.text()]),
    );
    expect(seen[0]?.[0]).toBe(404);
    expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(harness.triggers.accepted).toEqual([]);
  });

  it('costs the same signature checks for existing and missing webhooks', async () => {
    const harness = await triage();
    const rounds = vi.spyOn(crypto.subtle, 'sign');
    const work = async (path: string): Promise<number[]> => {
      rounds.mockClear();
      expect((await deliver(harness, wrong, path)).status).toBe(404);
      return rounds.mock.calls.map(([, , data]) => data.byteLength);
    };
    await work('/hooks/default/nobody');
    const bad = await work('/hooks/default/triage');
    expect(bad.length).toBeGreaterThan(0);
    expect(await work('/hooks/default/nobody')).toEqual(bad);
    rounds.mockRestore();
  });

  it('is logged with its reason, and without secret, signature or body', async () => {
    const harness = await triage();
    for (const path of ['/hooks/default/triage', '/hooks/default/nobody']) expect((await deliver(harness, wrong, path)).status).toBe(404);
    const refused = harness.log.lines.filter(({ message }) => message === 'delivery refused');
    expect(refused.map(({ level, fields }) => [level, fields.webhook])).toEqual([
      ['info', 'triage'],
      ['info', 'nobody'],
    ]);
    expect(refused[0]?.fields.reason).toEqual(expect.any(String));
    const all = JSON.stringify(harness.log.lines);
    for (const hidden of [gitHubSecret, 'another secret', wrong.headers['x-hub-signature-256'] ?? '', 'It breaks'])
      expect(all).not.toContain(hidden);
  });

  it('is rejected for its size before anything else is checked', async () => {
    const harness = await triage();
    const signatures = vi.spyOn(crypto.subtle, 'sign');
    for (const name of ['triage', 'nobody']) {
      const answer = await deliver(harness, asGitHub('x'.repeat(maxWebhookBodyBytes + 1)), `/hooks/default/${name}`);
      expect([answer.status, (await bodyOf(answer)).code]).toEqual([413, 'body_too_large']);
    }
    expect(signatures).not.toHaveBeenCalled();
    signatures.mockRestore();
  });
});

describe('the path', () => {
  it('accepts only POST', async () => {
    const harness = await triage();
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
      const answer = await harness.send(method, '/hooks/default/triage', undefined, { authorization: undefined });
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers.get('allow')).toContain('POST');
    }
  });

  it('rejects pages, also of otherwise allowed origins', async () => {
    const harness = createHarness({ MONIKER_ALLOWED_ORIGINS: 'https://app.example' });
    const preflight = await harness.send('OPTIONS', '/hooks/default/triage', undefined, {
      authorization: undefined,
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
    });
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    const sent = await deliver(harness, { body: '{}', headers: { origin: 'https://app.example' } });
    expect(sent.headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('a webhook that responds with the turn', () => {
  it('waits for its end and returns its text', async () => {
    const harness = await triage({ respond: 'sync' });
    const answer = await deliver(harness, asGitHub(opened));
    const body = await bodyOf(answer);
    expect([answer.status, body]).toMatchObject([200, { delivery: 'd-1', status: 'completed', session: 'ses1' }]);
    expect(body.text).toContain('It breaks');
    expect(harness.triggers.waits).toEqual([limits.syncRespondMs]);
    const again = await bodyOf(await deliver(harness, asGitHub(opened)));
    expect(again).toEqual({ ...body, repeated: true });
  });

  it('returns 202 if it waits for approval', async () => {
    const harness = await triage({ respond: 'sync', input: 'ask' });
    const answer = await deliver(harness, asGitHub(opened));
    expect([answer.status, await bodyOf(answer)]).toMatchObject([202, { status: 'waiting', session: 'ses1' }]);
  });

  it('returns 202 if the turn takes longer than senders wait', async () => {
    const harness = await triage({ respond: 'sync' });
    const get = harness.sessions.get;
    harness.sessions.get = (id) => ({ ...get(id), waitForAnswer: () => new Promise(() => undefined) });
    const answer = deliver(harness, asGitHub(opened));
    await waitFor(() => expect(harness.triggers.waits).toHaveLength(1));
    await waitFor(async () => {
      await harness.clock.advance(limits.syncRespondMs);
      expect(await Promise.race([answer, 'not yet'])).not.toBe('not yet');
    });
    expect([(await answer).status, await bodyOf(await answer)]).toMatchObject([202, { status: 'running', session: 'ses1' }]);
  });

  it('returns 202 if no session has accepted it by then', async () => {
    const harness = await triage({ respond: 'sync' });
    harness.triggers.dispatches = false;
    const answer = await deliver(harness, asGitHub(opened));
    expect([answer.status, await bodyOf(answer)]).toMatchObject([202, { status: 'pending' }]);
  });

  it('returns 202 if waiting fails, since it is stored', async () => {
    const harness = await triage({ respond: 'sync' });
    harness.triggers.waitUntilDispatched = () => Promise.reject(new Error('the object was moved'));
    const answer = await deliver(harness, asGitHub(opened));
    expect([answer.status, await bodyOf(answer)]).toMatchObject([202, { delivery: 'd-1', status: 'pending', session: 'ses1' }]);
    expect(harness.log.lines).toContainEqual(expect.objectContaining({ level: 'error', message: 'could not wait for a delivery' }));
  });

  it('responds at once if it was ignored or failed', async () => {
    const harness = await triage({ respond: 'sync', paused: true });
    const answer = await deliver(harness, asGitHub(opened));
    expect([answer.status, await bodyOf(answer)]).toMatchObject([200, { status: 'ignored', text: '', session: null }]);
  });
});
