import { describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, problemIn } from './harness.ts';
import { asGitHub, deliver, opened, putWebhook } from './hook-senders.ts';

const base = '/v1/webhooks/triage/deliveries';

async function withOne(id = 'd-1') {
  const harness = await createChatHarness();
  await putWebhook(harness);
  await deliver(harness, asGitHub(opened, { id }));
  return harness;
}

describe('/v1/webhooks/{webhook}/deliveries', () => {
  it('lists deliveries with payloads, and filters by status', async () => {
    const harness = await withOne();
    await deliver(harness, asGitHub({}, { id: 'd-2' }));
    const { items, nextCursor } = await bodyOf(await harness.send('GET', base));
    expect(items).toMatchObject([
      { id: 'd-2', status: 'failed', payload: {} },
      { id: 'd-1', event: 'issues', sessionKey: 'acme/shop#7', payload: opened },
    ]);
    expect(nextCursor).toBeNull();
    expect((await bodyOf(await harness.send('GET', `${base}?status=failed`))).items).toMatchObject([{ id: 'd-2' }]);
    expect(await problemIn(await harness.send('GET', `${base}?status=gone`))).toBe('422 invalid_request at status');
  });

  it('is empty for a webhook without deliveries, not found for an unknown one, and readable after removal', async () => {
    const harness = await withOne();
    await putWebhook(harness, {}, 'quiet');
    expect((await bodyOf(await harness.send('GET', '/v1/webhooks/quiet/deliveries'))).items).toEqual([]);
    expect((await harness.send('GET', '/v1/webhooks/nobody/deliveries')).status).toBe(404);
    await harness.send('DELETE', '/v1/webhooks/triage');
    expect((await bodyOf(await harness.send('GET', base))).items).toHaveLength(1);
    expect((await harness.send('GET', `${base}/d-1`)).status).toBe(200);
    expect((await harness.send('POST', `${base}/d-1/replay`)).status).toBe(404);
  });

  it.each(['a/b', 'a%2Fb', 'a b?c#d', 'evt:1+2', '%', 'replay', '{{@delivery}}', '"\'<>'])('finds a delivery by the id %s', async (id) => {
    const harness = await withOne(id);
    const stored = harness.triggers.accepted[0]?.id ?? '';
    const path = `${base}/${encodeURIComponent(stored)}`;
    expect(await bodyOf(await harness.send('GET', path))).toMatchObject({ id: stored, status: 'running' });
    harness.triggers.set(stored, { status: 'failed' });
    expect((await harness.send('POST', `${path}/replay`)).status).toBe(202);
  });
});

describe('a replay', () => {
  it('uses the current templates, as another run in the session that they name', async () => {
    const harness = await withOne();
    harness.triggers.set('d-1', { status: 'failed' });
    await putWebhook(harness, { input: 'Again: {{issue.title}} at {{@time}} from {{@headers.x-github-event}}', session: 'other' });
    const answer = await harness.send('POST', `${base}/d-1/replay`);
    expect([answer.status, await bodyOf(answer)]).toMatchObject([202, { delivery: 'd-1', session: 'ses2', run: 2 }]);
    expect(answer.headers.get('location')).toBe('/v1/sessions/ses2');
    const [replayed] = harness.triggers.replayed;
    expect(replayed?.verdict).toMatchObject({ become: 'run', agent: 'plain', rendered: { sessionKey: 'other' } });
    const input = replayed?.verdict.become === 'run' ? replayed.verdict.rendered.input : '';
    for (const part of ['Again:', new Date(harness.clock.now()).toISOString(), 'issues']) expect(input).toContain(part);
  });

  it('ignores the filter and runs a delivery received while the webhook was paused', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness, { paused: true });
    await deliver(harness, asGitHub(opened));
    expect(await bodyOf(await harness.send('POST', `${base}/d-1/replay`))).toMatchObject({ run: 2, session: 'ses1' });
    expect(harness.sessions.submitted).toHaveLength(1);
  });

  it('parses a form as on the first run', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness);
    const body = new URLSearchParams({ payload: JSON.stringify(opened) }).toString();
    const { headers } = asGitHub(body);
    await deliver(harness, { body, headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' } });
    harness.triggers.set('d-1', { status: 'completed' });
    await harness.send('POST', `${base}/d-1/replay`);
    expect(harness.triggers.replayed[0]?.verdict).toMatchObject({ rendered: { sessionKey: 'acme/shop#7' } });
  });

  it('is rejected while the turn is in progress, and not found for an unknown id', async () => {
    const harness = await withOne();
    expect(await problemIn(await harness.send('POST', `${base}/d-1/replay`))).toBe('409 conflict');
    expect((await harness.send('POST', `${base}/d-9/replay`)).status).toBe(404);
  });
});
