import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

describe('GET /v1/me', () => {
  it('shows a key its scopes, bindings and expiry, and the limits', async () => {
    const request = {
      name: 'ci',
      scopes: ['chat'],
      agents: ['demo'],
      toolsets: ['a'],
      caller: { team: 'x' },
      expiresAt: '2100-01-01T00:00:00Z',
    };
    const created = await bodyOf(await h.send('POST', '/v1/keys', request));
    const answer = await h.send('GET', '/v1/me', undefined, { authorization: `Bearer ${created.key}` });
    const { id, name, scopes, toolsets, agents, caller, createdAt, expiresAt } = created;
    const shown = { id, name, scopes, toolsets, agents, caller, createdAt, expiresAt };
    expect([answer.status, await bodyOf(answer)]).toEqual([
      200,
      { ...shown, workspace: 'default', limits: expect.objectContaining({ maxBodyBytes: limits.maxBodyBytes }) },
    ]);
  });

  it('shows the root key, which is in no table', async () => {
    const me = await bodyOf(await h.send('GET', '/v1/me'));
    expect(me).toMatchObject({ id: 'root', name: 'root', workspace: 'default', createdAt: null, expiresAt: null });
    expect(me.scopes).toContain('admin');
    expect([me.toolsets, me.agents]).toEqual([undefined, undefined]);
  });

  it('requires a key', async () => {
    expect((await h.send('GET', '/v1/me', undefined, { authorization: undefined })).status).toBe(401);
  });
});
