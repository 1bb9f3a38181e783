import { beforeEach, describe, expect, it } from 'vitest';
import { toolOf } from '../fakes/known-tools.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

const rule = { decision: 'allow', kind: 'network', host: 'api.example' };

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

describe('the policy', () => {
  it('is empty until it is written, and is then read back with its ETag', async () => {
    const none = await h.send('GET', '/v1/policy');
    expect([none.status, await bodyOf(none), none.headers.get('etag')]).toEqual([200, { rules: [] }, null]);
    const made = await h.send('PUT', '/v1/policy', { rules: [rule] });
    expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([201, '"1"', '/v1/policy']);
    expect(await bodyOf(made)).toEqual({ rules: [rule], version: 1 });
    const read = await h.send('GET', '/v1/policy');
    expect([await bodyOf(read), read.headers.get('etag')]).toEqual([{ rules: [rule] }, '"1"']);
    expect((await h.send('GET', '/v1/policy', undefined, { 'if-none-match': '"1"' })).status).toBe(304);
    expect((await h.send('PUT', '/v1/policy', { rules: [] }, { 'if-match': '"7"' })).status).toBe(412);
    expect((await h.send('DELETE', '/v1/policy')).status).toBe(204);
    expect((await bodyOf(await h.send('GET', '/v1/policy'))).rules).toEqual([]);
    expect((await h.send('DELETE', '/v1/policy')).status).toBe(404);
  });

  it('shows remembered rules', async () => {
    await h.catalog.addRule({ decision: 'allow', kind: 'write-outside', tool: 'builtin.bash', path: '/tmp' });
    expect((await bodyOf(await h.send('GET', '/v1/policy'))).rules).toHaveLength(1);
  });

  it('requires an administrator of the whole workspace', async () => {
    const keys = [
      await h.key({ scopes: ['chat', 'tools', 'toolsets', 'approve'] }),
      await h.key({ scopes: ['admin'], toolsets: ['demo'] }),
      await h.key({ scopes: ['admin'], agents: ['helper'] }),
    ];
    for (const key of keys) {
      expect((await h.send('GET', '/v1/policy', undefined, key)).status).toBe(403);
      expect((await h.send('PUT', '/v1/policy', { rules: [rule] }, key)).status).toBe(403);
      expect((await h.send('DELETE', '/v1/policy', undefined, key)).status).toBe(403);
    }
    expect((await h.send('PUT', '/v1/policy', { rules: [rule] }, await h.key({ scopes: ['admin'] }))).status).toBe(201);
  });

  it.each([
    [{}, 'rules'],
    [{ rules: [{ decision: 'allow' }] }, 'rules[0]'],
    [{ rules: [rule, { ...rule, hots: 'x' }] }, 'rules[1].hots'],
    [{ rules: [{ ...rule, host: 'https://api.example/' }] }, 'rules[0].host'],
    [{ rules: [{ decision: 'permit', tool: 'builtin.bash' }] }, 'rules[0].decision'],
    [{ rules: [{ decision: 'allow', path: '../tmp' }] }, 'rules[0].path'],
  ])('rejects %j, naming %s', async (body, path) => {
    const answer = await h.send('PUT', '/v1/policy', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });
});

describe('a policy test', () => {
  const ask = async (body: object, key: Record<string, string> = {}) => {
    const response = await h.send('POST', '/v1/policy/test', body, key);
    return { status: response.status, ...(await bodyOf(response)) };
  };

  it('explains an effect with the deciding rule and the reason', async () => {
    const effect = { kind: 'network', host: 'API.example', method: 'POST' };
    expect(await ask({ effect })).toMatchObject({ status: 200, canonical: null, verdict: 'ask', kind: 'network', rule: null });
    const deny = { decision: 'deny', host: 'api.example', method: 'POST', note: 'read only' };
    await h.send('PUT', '/v1/policy', { rules: [rule, deny] });
    expect(await ask({ effect })).toEqual({
      status: 200,
      canonical: null,
      verdict: 'deny',
      kind: null,
      reason: "Rule 1 of the workspace's policy forbids POST requests to api.example (read only)",
      rule: { index: 1, rule: deny },
      effects: [expect.objectContaining({ verdict: 'deny', rule: 1, effect: { ...effect, host: 'api.example' } })],
    });
    expect(await ask({ effect: { ...effect, method: 'GET' } })).toMatchObject({ verdict: 'allow', rule: { index: 0 } });
  });

  it('tests rules that are not written, instead of the stored ones', async () => {
    await h.send('PUT', '/v1/policy', { rules: [rule] });
    const policy = { rules: [{ decision: 'deny', tool: 'builtin.bash' }] };
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', name: 'run' }] });
    const call = { tool: 'builtin.bash', arguments: { command: 'ls' } };
    for (const asked of [call, { ...call, tool: 'run', toolset: 'demo' }]) {
      expect(await ask({ ...asked, policy })).toMatchObject({ verdict: 'deny', rule: { index: 0 } });
      expect(await ask(asked)).toMatchObject({ verdict: 'allow' });
    }
    const effect = { kind: 'network', host: 'api.example', method: 'POST' };
    expect(await ask({ effect, policy: { rules: [] } })).toMatchObject({ verdict: 'ask', rule: null });
    expect(await ask({ effect, policy: { rules: [{ decision: 'never' }] } })).toMatchObject({
      status: 422,
      issues: [expect.objectContaining({ path: 'policy.rules[0].decision' })],
    });
    expect(await bodyOf(await h.send('GET', '/v1/policy'))).toMatchObject({ rules: [rule] });
  });

  it('depends on the caller', async () => {
    await h.send('PUT', '/v1/policy', { rules: [{ decision: 'deny', tool: 'builtin.*', agent: 'intern' }] });
    const asked = { tool: 'builtin.bash', arguments: { command: 'ls' } };
    expect(await ask(asked)).toMatchObject({ verdict: 'allow' });
    expect(await ask({ ...asked, agent: 'intern' })).toMatchObject({ verdict: 'deny', rule: { index: 0 } });
  });

  it('finds the tool by any name of a toolset, with the settings of its entry', async () => {
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', name: 'run', approval: 'always' }] });
    expect(await ask({ tool: 'Run', toolset: 'demo', arguments: { command: 'ls' } })).toMatchObject({
      canonical: 'builtin.bash',
      verdict: 'ask',
      kind: 'always',
    });
    expect(await ask({ tool: 'nothing', toolset: 'demo' })).toMatchObject({ status: 404, code: 'unknown_tool' });
    expect(await ask({ tool: 'builtin.nothing' })).toMatchObject({ status: 404 });
    const bound = await h.key({ scopes: ['tools'], toolsets: ['demo'] });
    expect(await ask({ tool: 'run', toolset: 'demo', arguments: { command: 'ls' } }, bound)).toMatchObject({ status: 200 });
    expect(await ask({ tool: 'builtin.bash' }, bound)).toMatchObject({ status: 403 });
    expect(await ask({ tool: 'run', toolset: 'other' }, bound)).toMatchObject({ status: 403 });
    expect(await ask({ tool: 'builtin.bash' }, await h.key({ scopes: ['chat'] }))).toMatchObject({ status: 403 });
  });

  it('names what it cannot know: files, arguments, and calls of code', async () => {
    expect(await ask({ tool: 'builtin.bash', arguments: { command: 'rm -rf /' } })).toMatchObject({
      verdict: 'allow',
      notes: [expect.stringContaining('on an empty file system')],
    });
    const { notes } = await ask({ tool: 'builtin.bash', arguments: { cmd: 'ls' } });
    expect(notes[0]).toContain('command: missing');
    const shout = { description: 'Shouts.', implementation: 'return (await tools.bash({ command: "rm x" })).output' };
    await h.send('PUT', '/v1/tools/made.shout', shout);
    expect((await ask({ tool: 'made.shout' })).notes).toEqual([
      'Each call that its code makes is judged separately when it is made: builtin.bash.',
    ]);
    expect(await ask({ tool: 'local.calculate', arguments: { expression: '1' } })).not.toHaveProperty('notes');
  });

  it('assumes that a deleted file exists, without a session', async () => {
    const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    h = createHarness({}, {}, [toolOf('builtin', 'delete_file', { kind: 'builtin', inputSchema: input })]);
    const deletes = await ask({ tool: 'builtin.delete_file', arguments: { path: 'a.txt' } });
    expect(deletes).toMatchObject({ verdict: 'ask', kind: 'delete-file', reason: expect.stringContaining('/workspace/a.txt') });
    expect(deletes).not.toHaveProperty('notes');
  });

  it('checks a path by its target, and reports an unknown tool', async () => {
    await h.send('PUT', '/v1/policy', { rules: [{ decision: 'deny', path: '/etc' }] });
    const effect = { kind: 'delete-file', path: '/workspace/../etc//passwd' };
    expect(await ask({ effect })).toMatchObject({
      verdict: 'deny',
      effects: [{ tool: null, effect: { path: '/etc/passwd' } }],
    });
    for (const path of ['etc/passwd', '/a\u0000b'])
      expect((await ask({ effect: { kind: 'read-file', path } })).issues).toMatchObject([{ path: 'effect.path' }]);
  });

  it('lists the verdicts for the tools of a made tool, nested, without recording calls', async () => {
    const tool = { name: 'drop', description: 'Drops.', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
    await h.send('PUT', '/v1/servers/far', { kind: 'static', url: 'https://far.example/', tools: [tool] });
    await h.send('PUT', '/v1/tools/made.inner', { description: 'Drops.', implementation: 'return await tools["far.drop"]({})' });
    await h.send('PUT', '/v1/tools/made.outer', { description: 'Drops.', implementation: 'return await tools["made.inner"]({})' });
    await h.send('PUT', '/v1/policy', { rules: [{ decision: 'deny', tool: 'made.outer', kind: 'untrusted' }] });
    const judged = async (name: string) => {
      const { verdict, effects } = await ask({ tool: name });
      return [verdict, effects.map((told: { tool: string; verdict: string }) => [told.tool, told.verdict])];
    };
    expect(await judged('made.inner')).toEqual([
      'allow',
      [
        ['made.inner', 'allow'],
        ['far.drop', 'ask'],
      ],
    ]);
    expect(await judged('made.outer')).toEqual([
      'allow',
      [
        ['made.outer', 'allow'],
        ['made.inner', 'allow'],
        ['far.drop', 'deny'],
      ],
    ]);
  });

  it.each([
    {},
    { effect: { kind: 'network' } },
    { effect: { kind: 'network', host: 'https://a.example/' } },
    { effect: { kind: 'nothing' } },
    { effect: { kind: 'read-file', path: '/a' }, arguments: {} },
    { tool: 'builtin.bash', session: 'x' },
    { tool: 'builtin.bash', extra: 1 },
  ])('requires all fields: %j', async (body) => {
    expect(await ask(body)).toMatchObject({ status: 422 });
  });
});
