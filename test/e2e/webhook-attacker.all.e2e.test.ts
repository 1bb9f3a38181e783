import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from './callback-receiver.ts';
import { eventually } from './eventually.ts';
import { type RawAnswer, rawPost } from './raw-post.ts';
import { makeDataDir, removeDataDir, type RunningService, startService } from './service.ts';
import { inputOf, scriptedModel, startTriggeredModel, type TriggeredModel } from './triggered-model.ts';

/** Distinct secrets, so that a leak can be attributed. */
const secret = 'canary-of-the-webhook-0123456789';
const others = {
  rotated: 'canary-of-the-rotation-0123456789',
  callback: `whsec_${Buffer.from('canary-of-the-callback-01234567').toString('base64')}`,
  subscription: `whsec_${Buffer.from('canary-of-the-subscription-0123').toString('base64')}`,
  schedule: `whsec_${Buffer.from('canary-of-the-schedule-01234567').toString('base64')}`,
};
const payloadCanary = 'canary-of-the-payload';

function sign(body: string, id: string, key = secret): Record<string, string> {
  const signature = createHmac('sha256', key).update(body).digest('hex');
  return {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  };
}

describe('an attacker', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let model: TriggeredModel;
  const signatures: string[] = [];
  const answers: string[] = [];

  const put = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBeLessThan(300);
    answers.push(text);
  };
  const post = async (name: string, body: string, headers: Record<string, string>): Promise<RawAnswer> => {
    signatures.push((headers['x-hub-signature-256'] ?? '').slice('sha256='.length));
    return await rawPost(service.url, `/hooks/default/${name}`, { body, headers });
  };
  const ended = (name: string, id: string) =>
    eventually(`the delivery ${id} ends`, async () => {
      const { json } = await service.call('GET', `/v1/webhooks/${name}/deliveries/${id}`);
      return ['completed', 'failed', 'ignored'].includes(json?.status) ? json : undefined;
    });

  beforeAll(async () => {
    service = await startService(dataDir, {
      MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*',
      MONIKER_PUBLIC_URL: 'https://moniker.example',
      MONIKER_LOG: 'debug',
    });
    model = await startTriggeredModel(service, (heard) => ({ text: inputOf(heard) ?? 'done' }));
    await put('/v1/agents/parrot', { model: scriptedModel, toolset: 'demo', instructions: 'Repeat what you are told.' });
    const hook = { agent: 'parrot', scheme: 'github', session: '{{title}}', input: '{{title}}' };
    await put('/v1/webhooks/triage', { ...hook, secret: [secret, others.rotated], callbackSecret: others.callback });
  });

  afterAll(async () => {
    model.close();
    await service.stop();
    removeDataDir(dataDir);
  });

  it('with a chat key sees no trigger, no delivery, no message about one, and no session of one', async () => {
    const body = `{"title":"${payloadCanary}"}`;
    const { json: taken } = await post('triage', body, sign(body, 'seen'));
    await ended('triage', 'seen');
    const made = await service.call('POST', '/v1/keys', { name: 'guest', scopes: ['chat', 'tools', 'toolsets'] });
    expect(made.status, made.text).toBe(201);
    const as = { authorization: `Bearer ${made.json.key}` };
    const ask = async (method: string, path: string, sent?: unknown): Promise<number> =>
      (await service.call(method, path, sent, as)).status;
    const admins = [
      ...['webhooks', 'webhooks/triage', 'webhooks/triage/deliveries', 'webhooks/triage/deliveries/seen', 'subscriptions', 'schedules'],
      'callbacks',
    ];
    for (const path of admins) expect([path, await ask('GET', `/v1/${path}`)]).toEqual([path, 403]);
    expect(await ask('POST', '/v1/webhooks/triage/deliveries/seen/replay')).toBe(403);
    const session = `/v1/sessions/${taken.session}`;
    for (const path of ['', '/messages', '/events', '/approvals', '/files', `/turns/${taken.turn}`])
      expect([path, await ask('GET', `${session}${path}`)]).toEqual([path, 404]);
    expect(await ask('POST', `${session}/turns`, { input: 'What have you seen?' })).toBe(404);
    expect(await ask('DELETE', session)).toBe(404);
    const { json: own } = await service.call('GET', '/v1/sessions', undefined, as);
    expect(own.items).toEqual([]);
  });

  it('cannot make Moniker trigger itself: a callback to a Moniker webhook is not sent', async () => {
    const standard = others.callback;
    const url = `${service.url}/hooks/default/echo`;
    const changes = { agent: 'parrot', scheme: 'standard', secret: standard, session: 'one', input: 'Again: {{type}}', callbackUrl: url };
    await put('/v1/webhooks/echo', changes);
    const [id, at, body] = ['first', String(Math.floor(Date.now() / 1000)), '{"type":"first"}'];
    const key = Buffer.from(standard.slice('whsec_'.length), 'base64');
    const signature = `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
    const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature };
    expect((await rawPost(service.url, '/hooks/default/echo', { body, headers })).status).toBe(202);
    await ended('echo', id);
    const attempt = await eventually('the callback attempt', async () => {
      const { json } = await service.call('GET', '/v1/callbacks?kind=webhook&name=echo');
      return json.items[0]?.attempts[0];
    });
    expect(attempt).toMatchObject({ status: null, error: expect.stringContaining('it does not call itself') });
    expect((await service.call('GET', '/v1/webhooks/echo/deliveries')).json.items).toMatchObject([{ id }]);
  });

  it('finds no secret, signature or payload in logs, responses or files', async () => {
    const receiver = await startCallbackReceiver(others.subscription);
    await put('/v1/subscriptions/ears', { url: receiver.url, secret: others.subscription });
    await put('/v1/schedules/nightly', {
      agent: 'parrot',
      cron: '0 3 * * *',
      input: 'Tidy up.',
      callbackUrl: receiver.url,
      callbackSecret: others.schedule,
    });
    const bad = [`{"title": "${payloadCanary}`, `${payloadCanary}`, `{"__proto__": "${payloadCanary}"}`, '{}', `"${payloadCanary}"`];
    for (const [index, body] of bad.entries()) {
      const right = sign(body, `bad-${index}`);
      for (const headers of [right, { ...right, 'x-hub-signature-256': `sha256=${'ca'.repeat(32)}` }, sign(body, 'x', others.rotated)])
        answers.push((await post('triage', body, headers)).text);
    }
    const body = `{"title":"told"}`;
    await post('triage', body, sign(body, 'told'));
    await eventually('the callback', async () => receiver.received.find(({ data }) => data.text.includes('told')));
    const paths = ['webhooks', 'webhooks/triage', 'schedules/nightly', 'subscriptions', 'callbacks', 'audit', 'webhooks/triage/deliveries'];
    for (const path of paths) {
      const { status, text } = await service.call('GET', `/v1/${path}`);
      expect([path, status]).toEqual([path, 200]);
      if (path !== 'webhooks/triage/deliveries') answers.push(text);
      else expect(text).not.toContain('x-hub-signature');
    }
    for (const [path, changes] of [
      ['webhooks/triage', { secret: `${secret}${'x'.repeat(1_000)}` }],
      ['webhooks/triage', { secret, callbackSecret: 7, scheme: 'standard' }],
      ['subscriptions/ears', { secret: others.subscription.repeat(40) }],
    ] as const) {
      const { status, text } = await service.call('PUT', `/v1/${path}`, changes);
      expect(status, text).toBeGreaterThanOrEqual(400);
      answers.push(text);
    }
    answers.push((await service.call('GET', '/openapi.json')).text);
    receiver.close();
    const keys = Object.values(others).map((text) => Buffer.from(text.replace('whsec_', ''), 'base64').toString('latin1'));
    const hidden = [secret, ...Object.values(others), ...keys.filter((text) => text.startsWith('canary')), ...signatures].filter(Boolean);
    const log = service.printed();
    expect(log).toContain('delivery refused');
    for (const text of [...hidden, payloadCanary]) expect(log.includes(text), text).toBe(false);
    // For invalid JSON, the error shows the position and a few characters to a sender with a valid signature.
    for (const text of hidden) expect(answers.find((answer) => answer.includes(text))).toBeUndefined();
    // Its databases have temporary files while it runs.
    await service.stop();
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const entry of files) {
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      for (const text of hidden) expect([entry.name, bytes.includes(text), text]).toEqual([entry.name, false, text]);
    }
  });
});
