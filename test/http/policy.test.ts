import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness } from './harness.ts';

const rule = { decision: 'allow', kind: 'network', host: 'api.example' };

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

describe('the policy', () => {
  it('is empty until it is written, and then read back with its ETag', async () => {
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

  it('shows what was remembered', async () => {
    await h.catalog.allow({ decision: 'allow', kind: 'write-outside', tool: 'builtin.bash', path: '/tmp' });
    expect((await bodyOf(await h.send('GET', '/v1/policy'))).rules).toHaveLength(1);
  });

  it('is an administrator’s, of the whole workspace', async () => {
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
    [{ rules: [{ decision: 'deny', tool: 'builtin.bash' }] }, 'rules[0].decision'],
    [{ rules: [{ decision: 'allow', path: '../tmp' }] }, 'rules[0].path'],
  ])('refuses %j, naming %s', async (body, path) => {
    const answer = await h.send('PUT', '/v1/policy', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  });
});
