import { describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, createHarness } from './harness.ts';
import { asGitHub, deliver, gitHubSecret, opened, putWebhook } from './hook-senders.ts';

describe('/v1/webhooks', () => {
  it('never shows a secret, only that one exists', async () => {
    const harness = await createChatHarness();
    const made = await putWebhook(harness, { secret: [gitHubSecret, 'an older secret of theirs'], callbackSecret: 'whsec_callbacks' });
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/webhooks/triage']);
    const read = await harness.send('GET', '/v1/webhooks/triage');
    const text = await read.clone().text();
    const list = await harness.send('GET', '/v1/webhooks');
    const shown = { hasSecret: true, secrets: 2, hasCallbackSecret: true, url: '/hooks/default/triage' };
    expect(await bodyOf(made)).toMatchObject(shown);
    expect(JSON.parse(text)).toMatchObject({ name: 'triage', scheme: 'github', respond: 'async', ...shown });
    for (const answer of [text, await list.text()])
      for (const hidden of [gitHubSecret, 'older secret', 'whsec_']) expect(answer).not.toContain(hidden);
  });

  it('has one secret as a text or as a list, and a session template of one character', async () => {
    const harness = await createChatHarness();
    const made = await putWebhook(harness, { secret: ['the only secret of theirs'], session: 's' });
    expect([made.status, await bodyOf(made)]).toMatchObject([201, { secrets: 1, session: 's' }]);
    const refused = await putWebhook(harness, { secret: [] });
    expect([refused.status, (await bodyOf(refused)).issues[0].path]).toEqual([422, 'secret']);
  });

  it('shows the URL for the sender if the public URL is set', async () => {
    const harness = createHarness({ MONIKER_PUBLIC_URL: 'https://moniker.example/api/' });
    expect(await bodyOf(await putWebhook(harness))).toMatchObject({ url: 'https://moniker.example/api/hooks/default/triage' });
  });

  it('accepts its own output, and keeps the secrets', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness);
    const shown = await bodyOf(await harness.send('GET', '/v1/webhooks/triage'));
    const again = await harness.send('PUT', '/v1/webhooks/triage', shown, { 'if-match': '"1"' });
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"']);
    expect((await deliver(harness, asGitHub(opened))).status).toBe(202);
  });

  it('is written conditionally, and removed', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness);
    const lost = await harness.send('DELETE', '/v1/webhooks/triage', undefined, { 'if-match': '"9"' });
    expect(lost.status).toBe(412);
    expect((await harness.send('DELETE', '/v1/webhooks/triage', undefined, { 'if-match': '"1"' })).status).toBe(204);
    expect((await harness.send('GET', '/v1/webhooks/triage')).status).toBe(404);
    expect((await deliver(harness, asGitHub(opened))).status).toBe(404);
  });

  it('requires an unbound key with scope admin', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness);
    const lesser = await harness.key({ scopes: ['chat', 'tools', 'toolsets', 'approve'] });
    const bound = await harness.key({ scopes: ['admin'], agents: ['plain'] });
    const asked: [method: string, path: string, body?: unknown][] = [
      ['GET', '/v1/webhooks/triage'],
      ['PUT', '/v1/webhooks/triage', { agent: 'plain', scheme: 'github', secret: 's', input: 'i' }],
      ['DELETE', '/v1/webhooks/triage'],
      ['POST', '/v1/webhooks/triage/test', { payload: {} }],
      ['GET', '/v1/webhooks/triage/deliveries'],
      ['GET', '/v1/webhooks/triage/deliveries/d-1'],
      ['POST', '/v1/webhooks/triage/deliveries/d-1/replay'],
    ];
    expect((await harness.send('GET', '/v1/webhooks', undefined, lesser)).status).toBe(403);
    expect((await harness.send('GET', '/v1/webhooks', undefined, bound)).status).toBe(403);
    for (const [method, path, body] of asked)
      for (const key of [lesser, bound])
        expect([method, path, (await harness.send(method, path, body, key)).status]).toEqual([method, path, 403]);
  });

  it.each([
    ['a template that does not close', { input: '{{#if a}}' }, 'input'],
    ['an unknown scheme', { scheme: 'sha' }, 'scheme'],
    ['an unknown field', { secretName: 'x' }, 'secretName'],
    ['another name than the path has', { name: 'other' }, 'name'],
    ['settings of another scheme', { bearer: { header: 'x-token' } }, 'bearer'],
    ['a callback to a file', { callbackUrl: 'file:///etc/passwd' }, 'callbackUrl'],
  ])('rejects %s with its path', async (_, changes, path) => {
    const answer = await putWebhook(await createChatHarness(), changes);
    const body = await bodyOf(answer);
    expect([answer.status, body.issues?.map((issue: { path: string }) => issue.path)]).toEqual([422, [path]]);
  });

  it.each([
    ['signatures that it cannot know', { scheme: 'hmac' }, 'hmac', /^is required.*"header"/],
    ['how another scheme is signed', { hmac: { header: 'x-signature' } }, 'hmac', /^is only valid with the scheme `hmac`$/],
    ['a secret that is neither one nor several', { secret: { secret: 'NAME' } }, 'secret', /a string or a list/],
    ['several secrets under the name of their number', { secrets: ['a', 'b'] }, 'secrets', /set them in `secret`/],
    ['a callback to nothing that is an address', { callbackUrl: 'example.com/x' }, 'callbackUrl', /begins with https/],
  ])('rejects %s with what to do', async (_, changes, path, message) => {
    const { issues } = await bodyOf(await putWebhook(await createChatHarness(), changes));
    expect(issues).toEqual([{ path, message: expect.stringMatching(message) }]);
  });
});

describe('/v1/webhooks/{webhook}/test', () => {
  it('reports what an event would start, and runs nothing', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness, { input: '{{@event}} of {{issue.title}}{{issue.nothing}} from {{@headers.x-from}}' });
    const answer = await harness.send('POST', '/v1/webhooks/triage/test', {
      payload: opened,
      event: 'issues',
      headers: { 'X-From': 'me' },
    });
    const body = await bodyOf(answer);
    expect([answer.status, body]).toMatchObject([200, { matches: true, reason: null, sessionKey: 'acme/shop#7' }]);
    expect(body.input).toContain('It breaks');
    expect(body.input).toContain('from me');
    expect(body.warnings.join()).toContain('issue.nothing');
    expect([harness.triggers.accepted, harness.sessions.submitted]).toEqual([[], []]);
  });

  it('tests a draft instead of the stored webhook, and says what is wrong with it', async () => {
    const harness = await createChatHarness();
    const draft = { agent: 'demo', scheme: 'github', filter: 'event == "push"', session: '{{ref}}', input: 'Pushed {{ref}}' };
    const test = (changes: object, event = 'push') =>
      harness.send('POST', '/v1/webhooks/unsaved/test', { payload: { ref: 'main' }, event, draft: { ...draft, ...changes } });
    expect(await bodyOf(await test({}))).toMatchObject({ matches: true, sessionKey: 'main', input: 'Pushed main' });
    expect(await bodyOf(await test({}, 'issues'))).toMatchObject({ matches: false });
    const issuesOf = async (changes: object) => (await bodyOf(await test(changes))).issues.map(({ path }: { path: string }) => path);
    expect(await issuesOf({ filter: 'event ==' })).toEqual(['filter']);
    expect(await issuesOf({ scheme: 'hmac' })).toEqual(['draft.hmac']);
    expect(await issuesOf({ input: '{{#if}}' })).toEqual(['input']);
    expect((await harness.send('GET', '/v1/webhooks/unsaved')).status).toBe(404);
  });

  it('reports why an event would start nothing', async () => {
    const harness = await createChatHarness();
    await putWebhook(harness);
    const { sessionKey, input, reason } = await bodyOf(
      await harness.send('POST', '/v1/webhooks/triage/test', { payload: { action: 'opened' } }),
    );
    expect({ sessionKey, input }).toEqual({ sessionKey: null, input: null });
    expect(reason).toContain('repository.full_name');
    expect((await harness.send('POST', '/v1/webhooks/nobody/test', { payload: {} })).status).toBe(404);
  });

  it('says whether a signed delivery would be accepted and get its turn now', async () => {
    const harness = await createChatHarness();
    const deliveryOf = async (changes: Record<string, unknown>) => {
      expect((await putWebhook(harness, changes)).status).toBeLessThan(300);
      return (await bodyOf(await harness.send('POST', '/v1/webhooks/triage/test', { payload: {} }))).delivery;
    };
    expect(await deliveryOf({})).toEqual({ accepted: true, reason: null });
    expect(await deliveryOf({ scheme: 'bearer', secret: 'sent in a header' })).toEqual({ accepted: true, reason: null });
    expect(await deliveryOf({ agent: 'gone' })).toEqual({ accepted: false, reason: expect.stringContaining('gone') });
    const draft = { agent: 'plain', scheme: 'github', input: 'x' };
    const tested = await bodyOf(await harness.send('POST', '/v1/webhooks/triage/test', { payload: {}, draft }));
    expect(tested).not.toHaveProperty('delivery');
    expect([harness.triggers.accepted, harness.sessions.submitted]).toEqual([[], []]);
  });
});
