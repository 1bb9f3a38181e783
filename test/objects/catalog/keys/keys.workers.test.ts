import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { CatalogPort } from '../../../../src/ports/catalog.ts';
import { refusal } from '../../../contracts/catalog/workspace.ts';
import { createCatalogClient } from '../../../../src/objects/catalog/client/catalog-client.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const hourMs = 3_600_000;
const settingsOf = (expiryDays: number | null) => ({ settings: { keys: { expiryDays } } });

async function workspaceWithKey(request: Partial<Parameters<CatalogPort['createKey']>[0]> = {}) {
  const workspace = await emptyWorkspace();
  const { key, record } = await workspace.catalog.createKey({ name: 'ci', scopes: ['chat'], ...request });
  /** As an isolate without a cached verdict sees it. */
  const seen = (text: string) => workspace.isolate().principal(text);
  const reasonOf = async (text: string) => (await refusal(seen(text))).extra.reason;
  /** Moves the end of all earlier secrets into the past, as if the overlap were over. */
  const endOverlap = () =>
    runInDurableObject(workspace.object, (_instance, { storage }) => {
      const { previous } = storage.sql.exec<{ previous: string }>('SELECT previous FROM keys WHERE id = ?', record.id).one();
      const ended = (JSON.parse(previous) as object[]).map((secret) => ({ ...secret, expiresAt: Date.now() - 1 }));
      storage.sql.exec('UPDATE keys SET previous = ? WHERE id = ?', JSON.stringify(ended), record.id);
    });
  return { ...workspace, key, record, id: record.id, seen, reasonOf, endOverlap };
}

describe('a rotated key', () => {
  it('has the same id with both secrets during the overlap, and only the new secret after it', async () => {
    const { catalog, key, id, seen, reasonOf, endOverlap } = await workspaceWithKey();
    const rotated = await catalog.rotateKey(id, hourMs);
    expect(rotated.record).toMatchObject({ id, rotatedAt: expect.any(String), previousUsedAt: null });
    expect(Date.parse(rotated.record.previousExpiresAt ?? '') - Date.parse(rotated.record.rotatedAt ?? '')).toBe(hourMs);
    for (const secret of [key, rotated.key]) expect(await seen(secret)).toMatchObject({ keyId: id, scopes: ['chat'] });
    expect((await catalog.key(id)).previousUsedAt).not.toBeNull();
    await endOverlap();
    expect(await reasonOf(key)).toBe('rotated');
    expect(await seen(rotated.key)).toMatchObject({ keyId: id });
    expect(await catalog.key(id)).toMatchObject({ previousExpiresAt: null, previousUsedAt: null });
  });

  it('refuses an earlier secret when the overlap ends, also where it was cached', async () => {
    const { catalog, key, id, directory, clock, endOverlap } = await workspaceWithKey();
    await catalog.rotateKey(id, 5_000);
    expect(await directory.principal(key)).toMatchObject({ keyId: id });
    await endOverlap();
    clock.advance(6_000);
    expect((await refusal(directory.principal(key))).extra).toMatchObject({ reason: 'rotated' });
  });

  it('ends all earlier secrets at once without an overlap', async () => {
    const { catalog, key, id, seen, reasonOf } = await workspaceWithKey();
    const second = await catalog.rotateKey(id, hourMs);
    const third = await catalog.rotateKey(id, 0);
    expect(await Promise.all([key, second.key].map(reasonOf))).toEqual(['rotated', 'rotated']);
    expect(await seen(third.key)).toMatchObject({ keyId: id });
  });

  it('ends no secret early when it is rotated twice at once, and both new ones work', async () => {
    const { catalog, key, id, seen } = await workspaceWithKey();
    const both = await Promise.all([catalog.rotateKey(id, hourMs), catalog.rotateKey(id, hourMs)]);
    for (const secret of [key, ...both.map((rotated) => rotated.key)]) expect(await seen(secret)).toMatchObject({ keyId: id });
  });

  it('shortens the overlap of earlier rotations, and limits the number of secrets', async () => {
    const { catalog, id } = await workspaceWithKey();
    await catalog.rotateKey(id, 30 * 24 * hourMs);
    const { record } = await catalog.rotateKey(id, hourMs);
    expect(Date.parse(record.previousExpiresAt ?? '') - Date.parse(record.rotatedAt ?? '')).toBe(hourMs);
    for (let times = 0; times < 3; times += 1) await catalog.rotateKey(id, hourMs);
    expect(await refusal(catalog.rotateKey(id, hourMs))).toMatchObject({ code: 'conflict' });
    expect((await catalog.rotateKey(id, 0)).record.previousExpiresAt).toBeNull();
  });

  it('cannot be rotated once it is revoked, and its earlier secrets end with it', async () => {
    const { catalog, key, id, reasonOf } = await workspaceWithKey();
    const rotated = await catalog.rotateKey(id, hourMs);
    await catalog.revokeKey(id);
    expect(await Promise.all([key, rotated.key].map(reasonOf))).toEqual(['revoked', 'revoked']);
    expect(await refusal(catalog.rotateKey(id, hourMs))).toMatchObject({ code: 'conflict' });
    expect(await refusal(catalog.patchKey(id, { name: 'again' }))).toMatchObject({ code: 'conflict' });
    expect(await refusal(catalog.rotateKey('root', hourMs))).toMatchObject({ code: 'conflict' });
    expect(await refusal(catalog.patchKey('root', { scopes: ['chat'] }))).toMatchObject({ code: 'conflict' });
    expect(await refusal(catalog.rotateKey('unknown', hourMs))).toMatchObject({ code: 'not_found' });
  });

  it('stores no secret in readable form', async () => {
    const { catalog, object, key, id } = await workspaceWithKey();
    const rotated = await catalog.rotateKey(id, hourMs);
    const dump = await runInDurableObject(object, (_instance, { storage }) =>
      JSON.stringify(storage.sql.exec('SELECT * FROM keys').toArray()),
    );
    for (const secret of [key, rotated.key]) expect(dump).not.toContain(secret.split('_')[3]);
  });
});

describe('a patch of a key', () => {
  it('changes what it names, everywhere within the time that a verdict is trusted', async () => {
    const { catalog, key, id, directory, seen, clock, isolate } = await workspaceWithKey({ agents: ['demo'] });
    const other = isolate();
    expect(await other.principal(key)).toMatchObject({ agents: ['demo'] });
    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const record = await catalog.patchKey(id, { scopes: ['tools'], agents: null, caller: { team: 'x' }, expiresAt });
    expect(record).toMatchObject({ id, name: 'ci', scopes: ['tools'], caller: { team: 'x' }, expiresAt });
    expect(record.agents).toBeUndefined();
    for (const read of [directory.principal(key), seen(key)]) expect(await read).toMatchObject({ scopes: ['tools'] });
    clock.advance(limits.principalTtlMs + 1);
    expect(await other.principal(key)).toMatchObject({ scopes: ['tools'] });
    expect(await catalog.patchKey(id, { expiresAt: null })).toMatchObject({ expiresAt: null });
  });

  it('changes nothing if the result is invalid', async () => {
    const { catalog, id } = await workspaceWithKey();
    const before = await catalog.key(id);
    const wrong = [
      { scopes: [] },
      { scopes: null },
      { name: '' },
      { expiresAt: '2020-01-01T00:00:00Z' },
      { id: 'other' },
      { hash: 'x' },
      { workspace: 'default' },
      { caller: { key: 'root' } },
      { revokedAt: null, agents: 'all' },
    ];
    for (const patch of wrong) expect(await refusal(catalog.patchKey(id, patch))).toMatchObject({ code: 'invalid_request' });
    expect(await catalog.key(id)).toEqual(before);
  });

  it('of parallel patches keeps all', async () => {
    const { catalog, id } = await workspaceWithKey();
    await Promise.all([catalog.patchKey(id, { name: 'renamed' }), catalog.patchKey(id, { agents: ['a'] })]);
    expect(await catalog.key(id)).toMatchObject({ name: 'renamed', agents: ['a'] });
  });
});

describe('a key with `ips`', () => {
  it('has them in its principal, and loses them with null', async () => {
    const { catalog, key, id, record, seen } = await workspaceWithKey({ ips: ['10.0.0.0/8', '2001:db8::1'] });
    expect(record.ips).toEqual(['10.0.0.0/8', '2001:db8::1']);
    expect(await seen(key)).toMatchObject({ ips: ['10.0.0.0/8', '2001:db8::1'] });
    expect(await catalog.patchKey(id, { ips: ['192.0.2.1'] })).toMatchObject({ ips: ['192.0.2.1'] });
    expect((await catalog.patchKey(id, { name: 'x' })).ips).toEqual(['192.0.2.1']);
    expect((await catalog.patchKey(id, { ips: null })).ips).toBeUndefined();
    expect(await seen(key)).not.toHaveProperty('ips');
  });

  it('refuses a malformed list and names the entry', async () => {
    const { catalog, id } = await workspaceWithKey();
    const refused = await refusal(catalog.patchKey(id, { ips: ['192.0.2.1', '10.0.0.1/8'] }));
    expect(refused.extra.issues).toEqual([{ path: 'ips[1]', message: expect.stringContaining('Write 10.0.0.0/8') }]);
    for (const ips of [[], ['x'], Array.from({ length: 101 }, () => '192.0.2.1'), '192.0.2.1'])
      expect(await refusal(catalog.patchKey(id, { ips }))).toMatchObject({ code: 'invalid_request' });
  });

  it('makes, changes and rotates only keys that are no wider', async () => {
    const { catalog, bindings, workspace, id } = await workspaceWithKey({ scopes: ['admin'], ips: ['10.0.0.0/8'] });
    const own = createCatalogClient(bindings, { workspace, keyId: id });
    const narrow = await own.createKey({ name: 'narrow', scopes: ['admin'], ips: ['10.1.0.0/16'] });
    const wide = await catalog.createKey({ name: 'wide', scopes: ['admin'] });
    const attempts = [
      own.createKey({ name: 'all', scopes: ['chat'] }),
      own.createKey({ name: 'more', scopes: ['chat'], ips: ['10.0.0.0/8', '192.0.2.1'] }),
      own.patchKey(id, { ips: null }),
      own.patchKey(id, { ips: ['0.0.0.0/0'] }),
      own.patchKey(narrow.record.id, { ips: null }),
      own.patchKey(wide.record.id, { name: 'mine' }),
      own.patchKey(wide.record.id, { ips: ['10.0.0.1'] }),
      own.rotateKey(wide.record.id, 0),
    ];
    for (const attempt of attempts) expect(await refusal(attempt)).toMatchObject({ code: 'forbidden' });
    expect(await own.patchKey(narrow.record.id, { ips: ['10.1.1.1'] })).toMatchObject({ ips: ['10.1.1.1'] });
    expect((await own.rotateKey(narrow.record.id, 0)).record.id).toBe(narrow.record.id);
    expect(await own.patchKey(id, { ips: ['10.0.0.0/9'] })).toMatchObject({ ips: ['10.0.0.0/9'] });
  });
});

describe('a key with `egressHosts`', () => {
  const request = { scopes: ['admin' as const], egressHosts: ['api.example.com', '*.example.org'] };

  it('has them in its principal and its current rights, and an empty list means none', async () => {
    const { catalog, key, id, seen } = await workspaceWithKey(request);
    expect(await seen(key)).toMatchObject({ egressHosts: request.egressHosts });
    expect(await catalog.keyRights(id)).toMatchObject({ egressHosts: request.egressHosts });
    expect(await catalog.patchKey(id, { egressHosts: [] })).toMatchObject({ egressHosts: [] });
    expect(await catalog.keyRights(id)).toMatchObject({ egressHosts: [] });
    await catalog.patchKey(id, { egressHosts: null });
    expect(await catalog.keyRights(id)).toEqual({ scopes: ['admin'] });
    const refused = await refusal(catalog.patchKey(id, { egressHosts: ['a.example', '*.com'] }));
    expect(refused.extra.issues).toMatchObject([{ path: 'egressHosts[1]' }]);
  });

  it('makes no key that is wider, and nothing that runs with other rights', async () => {
    const { catalog, bindings, workspace, id } = await workspaceWithKey(request);
    const own = createCatalogClient(bindings, { workspace, keyId: id });
    const wide = await catalog.createKey({ name: 'wide', scopes: ['chat'] });
    const attempts = [
      own.createKey({ name: 'all', scopes: ['chat'] }),
      own.createKey({ name: 'more', scopes: ['chat'], egressHosts: ['example.org'] }),
      own.patchKey(id, { egressHosts: null }),
      own.patchKey(id, { egressHosts: [...request.egressHosts, 'evil.example'] }),
      own.rotateKey(wide.record.id, 0),
      own.put('member', 'eve', { email: 'eve@example.com', role: 'owner' }),
      own.put('schedule', 'later', { agent: 'demo', at: '2099-01-01T00:00:00Z', input: 'x' }),
      own.put('webhook', 'in', { agent: 'demo' }),
    ];
    for (const attempt of attempts) expect(await refusal(attempt)).toMatchObject({ code: 'forbidden' });
    const { record } = await own.createKey({ name: 'narrow', scopes: ['chat'], egressHosts: ['a.example.org', 'api.example.com:443'] });
    expect((await own.rotateKey(record.id, 0)).record.id).toBe(record.id);
  });
});

describe('a key with `models`', () => {
  const request = { scopes: ['admin' as const], models: ['openai/gpt-5*', 'acme/small'] };

  it('has them in its principal, and can be given others', async () => {
    const { catalog, key, id, seen } = await workspaceWithKey(request);
    expect(await seen(key)).toMatchObject({ models: request.models });
    expect(await catalog.patchKey(id, { models: ['acme/*'] })).toMatchObject({ models: ['acme/*'] });
    expect(await catalog.patchKey(id, { models: null })).not.toHaveProperty('models');
    expect(await seen(key)).not.toHaveProperty('models');
    for (const models of [[], ['gpt-5'], ['agent/demo'], 'openai/*'])
      expect((await refusal(catalog.patchKey(id, { models }))).extra.issues).toMatchObject([{ path: expect.stringMatching(/^models/) }]);
  });

  it('makes no key that is wider, and nothing that runs with other models', async () => {
    const { catalog, bindings, workspace, id } = await workspaceWithKey(request);
    const own = createCatalogClient(bindings, { workspace, keyId: id });
    const wide = await catalog.createKey({ name: 'wide', scopes: ['chat'] });
    const other = await catalog.createKey({ name: 'other', scopes: ['chat'], models: ['openai/*'] });
    await catalog.put('model-alias', 'smart', { model: 'openai/o3' });
    await catalog.put('model-alias', 'quick', { model: 'openai/gpt-5-mini' });
    await catalog.put('model-alias', 'routed', { targets: [{ model: 'acme/small' }, { model: 'openai/o3' }] });
    await catalog.put('provider', 'goo', { kind: 'gemini', apiKey: 'k' });
    const agent = (body: object) => own.put('agent', 'a', { instructions: '', ...body });
    const attempts = [
      own.createKey({ name: 'all', scopes: ['chat'] }),
      own.createKey({ name: 'more', scopes: ['chat'], models: ['openai/gpt-*'] }),
      own.createKey({ name: 'more', scopes: ['chat'], models: ['openai/gpt-5', 'acme/big'] }),
      own.createKey({ name: 'any', scopes: ['chat'], models: ['*/gpt-5'] }),
      own.patchKey(id, { models: null }),
      own.patchKey(id, { models: [...request.models, 'openai/o3'] }),
      own.patchKey(other.record.id, { models: ['openai/gpt-5'] }),
      own.patchKey(wide.record.id, { name: 'renamed' }),
      own.rotateKey(wide.record.id, 0),
      own.put('member', 'eve', { email: 'eve@example.com', role: 'owner' }),
      own.put('schedule', 'later', { agent: 'demo', at: '2099-01-01T00:00:00Z', input: 'x' }),
      own.put('webhook', 'in', { agent: 'demo' }),
      agent({ model: 'openai/o3' }),
      agent({ model: 'openai/gpt-5,o3' }),
      agent({ model: 'openai/gpt-5', fallbacks: ['acme/big'] }),
      agent({ model: 'smart' }),
      agent({ model: 'acme/small', fallbacks: ['quick', 'smart'] }),
      own.put('model-alias', 'quick', { model: 'openai/o3' }),
      own.put('model-alias', 'new', { model: 'goo/gpt-5/gemini-pro' }),
      own.put('model-alias', 'openai/o3', { model: 'acme/small' }),
      own.put('model-alias', 'openai/*', { model: 'acme/small' }),
      own.put('model-alias', '*/gpt-5', { model: 'acme/small' }),
      own.put('model-alias', 'new', { targets: [{ model: 'acme/small' }, { model: 'acme/big' }] }),
      own.put('model-alias', 'new', { targets: [{ model: 'acme/small' }], fallbacks: ['openai/o3'] }),
      own.put('model-alias', 'new', { targets: [{ model: 'acme/small' }], contextFallback: 'openai/o3' }),
      agent({ model: 'routed' }),
      own.put('provider', 'acme', { kind: 'openai', baseUrl: 'https://api.openai.com/v1' }),
    ];
    for (const [index, attempt] of attempts.entries())
      expect(await refusal(attempt), `attempt ${index}`).toMatchObject({ code: 'forbidden' });
    const { record } = await own.createKey({ name: 'narrow', scopes: ['chat'], models: ['openai/GPT-5-mini', 'acme/small'] });
    expect((await own.rotateKey(record.id, 0)).record).toMatchObject({ id: record.id, models: ['openai/GPT-5-mini', 'acme/small'] });
    expect((await agent({ model: 'quick', fallbacks: ['acme/small', 'openai/gpt-5.1'] })).created).toBe(true);
    await own.put('model-alias', 'mine', { model: 'acme/small' });
    await own.put('model-alias', 'openai/gpt-5-nano', { model: 'acme/small' });
    await own.put('model-alias', 'shared', { targets: [{ model: 'acme/small' }, { model: 'openai/gpt-5' }] });
    await own.put('toolset', 'mine', { tools: [{ tool: 'builtin.bash' }] });
  });

  it('has agents warned about models that they and their workspace do not allow', async () => {
    const { catalog } = await workspaceWithKey();
    await catalog.put('workspace', 'settings', { settings: { models: ['rehearsal/*', 'acme/small'] } });
    const { warnings } = await catalog.put('agent', 'a', { model: 'acme/big', fallbacks: ['rehearsal/default'], models: ['acme/*'] });
    expect(warnings.filter(({ message }) => message.includes('`models`'))).toMatchObject([
      { path: 'model', message: expect.stringMatching(/^acme\/big is not among `models` of the workspace/) },
      { path: 'fallbacks[0]', message: expect.stringMatching(/^rehearsal\/default is not among `models` of the agent/) },
    ]);
  });
});

it('gives new keys the expiry of the workspace, unless they say when or never', async () => {
  const { catalog } = await emptyWorkspace();
  await catalog.put('workspace', 'settings', settingsOf(30));
  const days = async (expiresAt?: string | null) => {
    const { record } = await catalog.createKey({ name: 'ci', scopes: ['chat'], ...(expiresAt !== undefined && { expiresAt }) });
    return record.expiresAt === null ? null : (Date.parse(record.expiresAt) - Date.parse(record.createdAt)) / (24 * hourMs);
  };
  expect(await days()).toBe(30);
  expect(await days(null)).toBeNull();
  expect(await days(new Date(Date.now() + 24 * hourMs).toISOString())).toBeCloseTo(1, 2);
  await catalog.put('workspace', 'settings', settingsOf(null));
  expect(await days()).toBeNull();
});
