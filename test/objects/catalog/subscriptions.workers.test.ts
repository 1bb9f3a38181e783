/** Subscriptions and callbacks over HTTP and the real Catalog: valid documents, output, and access. */
import { describe, expect, it } from 'vitest';
import { send } from './real-service.ts';
import { maxSubscriptions } from '../../../src/objects/catalog/triggers/callbacks/subscription-writer.ts';

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const url = 'https://receiver.example.net/moniker';
const json = async (answer: Promise<Response>): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await answer;
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
};

describe('/v1/subscriptions', () => {
  it('never shows the secret, and accepts its own output', async () => {
    const made = await json(send('PUT', '/v1/subscriptions/mine', { url, secret, events: ['turn.failed'], agents: ['doer'] }));
    expect(made).toMatchObject({ status: 201, body: { name: 'mine', url, hasSecret: true, events: ['turn.failed'] } });
    const shown = await json(send('GET', '/v1/subscriptions/mine'));
    expect(JSON.stringify([made, shown])).not.toContain('whsec_');
    expect(await json(send('PUT', '/v1/subscriptions/mine', { ...shown.body, paused: true }))).toMatchObject({
      status: 200,
      body: { paused: true, hasSecret: true },
    });
    expect(await json(send('GET', '/v1/subscriptions'))).toMatchObject({ body: { items: [{ name: 'mine', paused: true }] } });
    expect((await send('DELETE', '/v1/subscriptions/mine')).status).toBe(204);
    expect((await send('GET', '/v1/subscriptions/mine')).status).toBe(404);
  });

  it.each([
    ['no secret', { url }, 'secret'],
    ['an empty one', { url, secret: '' }, 'secret'],
    ['no url', { secret }, 'url'],
    ['another scheme', { url: 'ftp://receiver.example.net/', secret }, 'url'],
    ['a password in it', { url: 'https://me:secret@receiver.example.net/', secret }, 'url'],
    ['an unknown event', { url, secret, events: ['turn.started'] }, 'events[0]'],
    ['no event at all', { url, secret, events: [] }, 'events'],
    ['an unknown field', { url, secret, retries: 5 }, 'retries'],
    ['another name', { url, secret, name: 'other' }, 'name'],
  ])('refuses %s', async (_what, body, path) => {
    const { status, body: problem } = await json(send('PUT', '/v1/subscriptions/bad', body));
    expect([status, problem.issues]).toMatchObject([422, [{ path }]]);
  });

  it('warns about missing agents', async () => {
    await send('PUT', '/v1/agents/known', { model: 'rehearsal/default' });
    const { body } = await json(send('PUT', '/v1/subscriptions/misspelt', { url, secret, agents: ['known', 'knwon'] }));
    expect(body.warnings).toEqual([{ path: 'agents[1]', message: expect.stringContaining('"knwon"') }]);
  });

  it('warns about a URL that cannot be reached', async () => {
    const { status, body } = await json(send('PUT', '/v1/subscriptions/inside', { url: 'http://169.254.169.254/latest', secret }));
    expect([status, body.warnings]).toMatchObject([201, [{ path: 'url', message: expect.stringContaining('not a public address') }]]);
    expect(await json(send('GET', '/v1/subscriptions/inside'))).toMatchObject({ body: { warnings: [{ path: 'url' }] } });
    const test = await json(send('POST', '/v1/subscriptions/inside/test'));
    expect(test).toMatchObject({
      status: 200,
      body: { delivered: false, status: null, error: expect.stringContaining('not a public address') },
    });
  });

  it(`takes ${maxSubscriptions}, and no more`, async () => {
    const earlier = ((await (await send('GET', '/v1/subscriptions')).json()) as { items: unknown[] }).items.length;
    for (let count = 0; count < maxSubscriptions - earlier; count += 1)
      expect((await send('PUT', `/v1/subscriptions/s-${count}`, { url, secret })).status).toBe(201);
    expect(await json(send('PUT', '/v1/subscriptions/one-more', { url, secret }))).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect((await send('PUT', '/v1/subscriptions/s-0', { url })).status).toBe(200);
  });
});

describe('/v1/callbacks', () => {
  it('requires an unbound administrator', async () => {
    for (const [scopes, bound] of [
      [['chat', 'tools', 'toolsets', 'approve'], {}],
      [['admin'], { agents: ['doer'] }],
    ]) {
      const { body } = await json(send('POST', '/v1/keys', { name: 'k', scopes, ...bound }));
      const headers = { authorization: `Bearer ${String(body.key)}` };
      for (const path of ['/v1/callbacks', '/v1/callbacks/msg_1', '/v1/subscriptions/mine'])
        expect((await send('GET', path, undefined, headers)).status, `${path} ${JSON.stringify(scopes)}`).toBe(403);
      expect((await send('POST', '/v1/callbacks/msg_1/retry', undefined, headers)).status).toBe(403);
      expect((await send('POST', '/v1/subscriptions/mine/test', undefined, headers)).status).toBe(403);
    }
  });

  it.each(['status=lost', 'kind=agent', 'name=x', 'limit=0', 'cursor=!', 'more=1'])('refuses %s', async (query) => {
    expect((await send('GET', `/v1/callbacks?${query}`)).status).toBe(422);
  });

  it('returns 404 for an unknown callback', async () => {
    expect(await json(send('GET', '/v1/callbacks?kind=webhook&name=none&status=dead&delivery=d'))).toMatchObject({
      body: { items: [], nextCursor: null },
    });
    expect((await send('GET', '/v1/callbacks/msg_none')).status).toBe(404);
    expect((await send('POST', '/v1/callbacks/msg_none/retry')).status).toBe(404);
  });
});
