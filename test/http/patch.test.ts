/** PATCH of documents (JSON Merge Patch): what is kept, conditions, validation, hostile patches, keys. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness, problemIn } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const provider = {
  kind: 'openai-compatible',
  baseUrl: 'https://models.example/v1',
  apiKey: 'sk-canary-provider',
  models: ['small'],
  prices: { small: { input: 1, output: 2 } },
};
const mergePatch = { 'content-type': 'application/merge-patch+json' };

describe('PATCH of a document', () => {
  it('rotates a provider’s key and keeps its prices', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    const rotated = await h.send('PATCH', '/v1/providers/acme', { apiKey: 'sk-canary-new' }, mergePatch);
    expect([rotated.status, rotated.headers.get('etag')]).toEqual([200, '"2"']);
    const { apiKey: _key, ...shown } = provider;
    expect(await bodyOf(rotated)).toEqual({ name: 'acme', ...shown, hasApiKey: true, source: 'document' });
    const added = await h.send('PATCH', '/v1/providers/acme', { prices: { large: { input: 3, output: 4 } } });
    expect((await bodyOf(added)).prices).toEqual({ small: { input: 1, output: 2 }, large: { input: 3, output: 4 } });
    expect((await bodyOf(await h.send('PATCH', '/v1/providers/acme', { prices: { small: null } }))).prices).toEqual({
      large: { input: 3, output: 4 },
    });
    expect((await bodyOf(await h.send('PATCH', '/v1/providers/acme', { apiKey: null }))).hasApiKey).toBe(false);
    // An unchanged document makes no version.
    expect((await h.send('PATCH', '/v1/providers/acme', {})).headers.get('etag')).toBe('"5"');
  });

  it('keeps the condition that a key stays with its origin', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    const moved = await h.send('PATCH', '/v1/providers/acme', { baseUrl: 'https://elsewhere.example/v1' });
    expect([moved.status, (await bodyOf(moved)).issues[0].path]).toEqual([422, 'apiKey']);
  });

  it.each([
    ['agents/helper', { model: 'rehearsal/default', instructions: 'Help.', limits: { maxSteps: 3 } }, { instructions: 'Other.' }],
    ['suites/daily', { description: 'One.', select: { agent: 'helper' } }, { rules: [{ maxCalls: 3 }] }],
    ['secrets/TOKEN', { value: 'one', hosts: ['a.example.com'] }, { value: 'two' }],
    ['model-aliases/gpt', { model: 'rehearsal/default', description: 'One.' }, { description: null }],
    ['schedules/morning', { agent: 'helper', cron: '0 7 * * *', input: 'Good morning.' }, { paused: true }, { nextRunAt: null }],
    ['toolsets/desk', { description: 'One.', tools: [{ tool: 'builtin.bash', aliases: ['sh'] }] }, { description: 'Two.' }],
  ])('of %s changes what it names', async (path, document, patch, follows?: object) => {
    await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default' });
    expect((await h.send('PUT', `/v1/${path}`, document)).status).toBeLessThan(300);
    const before = await bodyOf(await h.send('GET', `/v1/${path}`));
    const patched = await h.send('PATCH', `/v1/${path}`, patch, mergePatch);
    expect(patched.status).toBe(200);
    const [, name] = Object.entries(patch)[0] as [string, unknown];
    const after = await bodyOf(await h.send('GET', `/v1/${path}`));
    const { updatedAt: _before, ...kept } = before;
    const { updatedAt: _after, ...shown } = after;
    const { value: _value, ...visible } = patch as Record<string, unknown>;
    expect(shown).toEqual({ ...kept, ...visible, ...follows, ...(name === null && { description: undefined }) });
    expect((await h.send('PATCH', `/v1/${path}`, patch, { 'if-match': '"99"' })).status).toBe(412);
    expect((await h.send('PATCH', `/v1/${path}x`, patch)).status).toBe(404);
  });

  it('changes the policy and servers as it changes other documents', async () => {
    expect(await bodyOf(await h.send('PATCH', '/v1/policy', { taint: 'off' }))).toEqual({ rules: [], taint: 'off', version: 1 });
    const rules = [{ decision: 'deny', tool: 'builtin.bash' }];
    expect(await bodyOf(await h.send('PATCH', '/v1/policy', { rules }))).toEqual({ rules, taint: 'off', version: 2 });
    expect(await problemIn(await h.send('PATCH', '/v1/policy', { rules: null }))).toBe('422 invalid_request at rules');
    const tools = [{ name: 'add', inputSchema: { type: 'object', properties: {} } }];
    await h.send('PUT', '/v1/servers/sums', { kind: 'static', url: 'https://sums.example/call', tools });
    const patched = await h.send('PATCH', '/v1/servers/sums', { trusted: true });
    expect([patched.status, (await bodyOf(patched)).trusted]).toEqual([200, true]);
    expect((await bodyOf(await h.send('GET', '/v1/servers/sums'))).tools).toMatchObject([{ name: 'add', state: 'ready' }]);
  });

  it('of the workspace, whose settings begin with their defaults', async () => {
    const at = '/v1/workspaces/default';
    const first = await h.send('PATCH', at, { settings: { retention: { auditDays: 30 } } }, mergePatch);
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"1"']);
    expect(await bodyOf(first)).toMatchObject({ name: 'default', version: 1, settings: { retention: { auditDays: 30, usageDays: 400 } } });
    const second = await bodyOf(await h.send('PATCH', at, { settings: { retention: { usageDays: 9, auditDays: null } } }));
    expect(second.settings.retention).toMatchObject({ auditDays: 90, usageDays: 9 });
    for (const patch of [{ settings: { retention: { auditDays: 0 } } }, { settings: [] }, { name: 'other' }])
      expect((await h.send('PATCH', at, patch)).status, JSON.stringify(patch)).toBe(422);
    expect((await h.send('PATCH', at, {}, { 'if-match': '"1"' })).status).toBe(412);
    expect((await h.send('PATCH', '/v1/workspaces/other', {})).status).toBe(404);
    expect((await h.send('PATCH', at, {}, await h.key({ scopes: ['admin'] }))).status).toBe(403);
    expect((await bodyOf(await h.send('GET', at))).version).toBe(2);
  });

  it('is validated as a PUT of the result', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    await h.send('PUT', '/v1/toolsets/demo', demo);
    for (const [path, patch, at] of [
      ['providers/acme', { kind: null }, 'kind'],
      ['providers/acme', { surprise: 1 }, 'surprise'],
      ['providers/acme', { name: 'other' }, 'name'],
      ['providers/acme', { constructor: { prototype: { x: 1 } } }, 'constructor'],
      ['toolsets/demo', { tools: null }, 'tools'],
      ['toolsets/demo', { name: 'other' }, 'name'],
    ] as const) {
      const answer = await h.send('PATCH', `/v1/${path}`, patch);
      expect([answer.status, (await bodyOf(answer)).issues?.[0].path], JSON.stringify(patch)).toEqual([422, at]);
    }
    for (const body of ['[]', '7', 'null', '"x"', '{"__proto__":{"kind":"openai"}}'])
      expect((await h.send('PATCH', '/v1/providers/acme', body)).status, body).toBe(422);
    const deep = `${'{"profile":'.repeat(70)}1${'}'.repeat(70)}`;
    expect(await problemIn(await h.send('PATCH', '/v1/providers/acme', deep))).toBe('400 invalid_json');
    expect((await h.send('PATCH', '/v1/providers/acme', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await h.send('GET', '/v1/providers/acme')).headers.get('etag')).toBe('"1"');
  });

  it('does not remove secrets that a document needs', async () => {
    await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default' });
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    await h.send('PUT', '/v1/webhooks/orders', { agent: 'helper', scheme: 'standard', secret, input: 'Hello' });
    const removed = await h.send('PATCH', '/v1/webhooks/orders', { secret: null });
    expect([removed.status, (await bodyOf(removed)).issues]).toEqual([
      422,
      [{ path: 'secret', message: 'cannot be removed: send a new value' }],
    ]);
    expect((await bodyOf(await h.send('PATCH', '/v1/webhooks/orders', { input: 'Other' }))).hasSecret).toBe(true);
  });

  it('applies to the newest version when another write comes in between', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    let writes = 2;
    const { catalog } = h;
    const racing = createHarness(
      {},
      {
        catalog: () => ({
          ...catalog,
          get: async (...asked) => {
            const document = await catalog.get(...asked);
            const { hasApiKey: _shown, ...body } = document.body;
            if (writes-- > 0) await catalog.put('provider', 'acme', { ...body, models: [`m${writes}`] });
            return document;
          },
        }),
      },
    );
    const patched = await racing.send('PATCH', '/v1/providers/acme', { prices: null });
    expect([patched.status, await bodyOf(patched)]).toEqual([200, expect.objectContaining({ models: ['m0'] })]);
  });

  it('of fifty writers at once, without a condition, keeps the change of each', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    const names = Array.from({ length: 50 }, (_, index) => `model-${index}`);
    const patches = names.map((name) => h.send('PATCH', '/v1/providers/acme', { prices: { [name]: { input: 1, output: 2 } } }));
    expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(names.map(() => 200));
    const { prices } = await bodyOf(await h.send('GET', '/v1/providers/acme'));
    expect(Object.keys(prices).sort()).toEqual(['small', ...names].sort());
  });

  it('requires the rights of a PUT', async () => {
    await h.send('PUT', '/v1/toolsets/demo', demo);
    await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default' });
    const bound = await h.key({ scopes: ['admin'], toolsets: ['other'] });
    for (const path of ['toolsets/demo', 'agents/helper', 'policy', 'providers/acme'])
      expect((await h.send('PATCH', `/v1/${path}`, {}, bound)).status, path).toBe(403);
    const reader = await h.key({ scopes: ['tools'] });
    expect((await h.send('PATCH', '/v1/toolsets/demo', {}, reader)).status).toBe(403);
    const writer = await h.key({ scopes: ['toolsets'] });
    const never = { tools: [{ tool: 'builtin.bash', approval: 'never' }] };
    expect((await h.send('PATCH', '/v1/toolsets/demo', never, writer)).status).toBe(403);
  });
});
