import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import type { PutAnswer } from '../../../src/ports/catalog.ts';
import { kvKeys } from '../../../src/storage/keys.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { openValue } from '../../../src/storage/keys/secret-box.ts';
import { refusal } from '../../contracts/catalog/workspace.ts';
import { emptyWorkspace, testEnv } from '../../storage/workspace.ts';

const secret = 'what the sender was given, long enough';
const webhook = { agent: 'helper', scheme: 'github', secret, session: '{{issue.number}}', input: 'Issue {{issue.number}}' };

async function make() {
  const { workspace, catalog, settings } = await emptyWorkspace();
  await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
  const put = (changes: Record<string, unknown>): Promise<PutAnswer> => catalog.put('webhook', 'triage', { ...webhook, ...changes });
  const refused = (changes: Record<string, unknown>) => refusal(put(changes));
  /** The published document, with its secrets opened. */
  const published = async () => {
    const { hook } = JSON.parse((await testEnv.KV.get(kvKeys.published('hook', workspace, 'triage'))) ?? 'null');
    const { sealed, ...rest } = hook;
    const place = { workspace, kind: 'webhook', name: 'triage' } as const;
    return { ...rest, opened: JSON.parse(await openValue(createMasterKey(settings.masterKey), place, sealed)) };
  };
  return {
    catalog,
    put,
    refused,
    published,
    warned: async (changes: Record<string, unknown>) => (await put(changes)).warnings.map(({ path }) => path),
  };
}

describe('writing webhooks', () => {
  it('stores secrets sealed, and never shows them', async () => {
    const { catalog, put, published } = await make();
    const made = await put({ secret: [secret, 'an older one, also long enough'], callbackSecret: 'of the callbacks, long enough' });
    expect(made.warnings).toEqual([]);
    const shown = JSON.stringify([made, await catalog.get('webhook', 'triage'), await catalog.list('webhook', { limit: 10 })]);
    const kv = await published();
    for (const hidden of [secret, 'an older one', 'of the callbacks']) {
      expect(shown).not.toContain(hidden);
      expect(JSON.stringify({ ...kv, opened: null })).not.toContain(hidden);
    }
    expect(made.document.body).toMatchObject({ secrets: 2, hasCallbackSecret: true, scheme: 'github' });
    expect(kv).toMatchObject({
      version: 1,
      webhook: { scheme: 'github', input: webhook.input },
      opened: { secrets: [secret, 'an older one, also long enough'], callback: 'of the callbacks, long enough' },
    });
  });

  it('keeps each omitted secret, and replaces each given one', async () => {
    const { put, published } = await make();
    await put({ callbackSecret: 'of the callbacks, long enough' });
    const same = await put({ secret: undefined });
    expect([same.changed, same.document.version]).toEqual([false, 1]);
    await put({ secret: 'another one that is long enough' });
    await expect.poll(published).toMatchObject({
      version: 2,
      opened: { secrets: ['another one that is long enough'], callback: 'of the callbacks, long enough' },
    });
  });

  it('requires a secret at first, and when the scheme changes', async () => {
    const { put, refused } = await make();
    expect(await refused({ secret: undefined })).toMatchObject({ code: 'invalid_request', extra: { issues: [{ path: 'secret' }] } });
    await put({});
    expect(await refused({ scheme: 'stripe', secret: undefined })).toMatchObject({ extra: { issues: [{ path: 'secret' }] } });
    expect((await put({ scheme: 'stripe' })).document.version).toBe(2);
  });

  it('reports all faults of secrets, templates and filter at once, each with its path', async () => {
    const { refused } = await make();
    const changes = {
      ...{ scheme: 'standard', secret: ['whsec_', `whsec_${btoa('x'.repeat(32))}`, '***'] },
      ...{ session: '{{#each}}', input: '{{/if}}', filter: 'event ==' },
    };
    const { code, extra } = await refused(changes);
    const issues = extra.issues as { path: string; message: string }[];
    expect([code, issues.map(({ path }) => path)]).toEqual(['invalid_request', ['secret[0]', 'secret[2]', 'session', 'input', 'filter']]);
    expect(JSON.stringify(issues)).not.toContain('***');
  });

  it('warns about what cannot work yet, also on later reads, and about unsafe settings', async () => {
    const { catalog, warned } = await make();
    expect(await warned({})).toEqual([]);
    expect(await warned({ agent: 'nobody' })).toEqual(['agent']);
    expect((await catalog.get('webhook', 'triage')).warnings).toMatchObject([{ path: 'agent' }]);
    await catalog.put('agent', 'nobody', { model: 'rehearsal/default' });
    expect((await catalog.get('webhook', 'triage')).warnings).toBeUndefined();
    expect(await warned({ secret: 'short' })).toEqual(['secret']);
    expect(await warned({ session: undefined })).toEqual(['session']);
    expect(await warned({ callbackUrl: 'https://receiver.example/hook' })).toEqual(['callbackSecret']);
    expect(await warned({ callbackUrl: 'http://169.254.169.254/latest', callbackSecret: 'of the callbacks' })).toEqual(['callbackUrl']);
    expect(await warned({ callbackUrl: 'https://receiver.example/hook' })).toEqual([]);
  });

  it('can be rewritten if its secrets cannot be opened', async () => {
    const first = await emptyWorkspace();
    await first.catalog.put('webhook', 'triage', webhook);
    await runInDurableObject(first.object, (_instance, { storage }) => {
      storage.sql.exec("UPDATE documents SET sealed = replace(sealed, substr(sealed, 3, 6), 'other!') WHERE kind = 'webhook'");
    });
    expect((await refusal(first.catalog.put('webhook', 'triage', { ...webhook, secret: undefined, input: 'Other' }))).code).toBe(
      'not_configured',
    );
    expect((await first.catalog.put('webhook', 'triage', webhook)).document.version).toBe(2);
  });

  it('is published again by the same PUT if it is missing in KV', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    await catalog.put('webhook', 'triage', webhook);
    const inKv = () => testEnv.KV.get(kvKeys.published('hook', workspace, 'triage'));
    await expect.poll(inKv).not.toBeNull();
    await runInDurableObject(
      object,
      (_instance, { storage }) => void storage.sql.exec("UPDATE documents SET updated_at = 0 WHERE kind = 'webhook'"),
    );
    await testEnv.KV.delete(kvKeys.published('hook', workspace, 'triage'));
    expect(await catalog.put('webhook', 'triage', webhook)).toMatchObject({ changed: false });
    await expect.poll(inKv).not.toBeNull();
  });

  it('publishes its removal', async () => {
    const { workspace, catalog } = await emptyWorkspace();
    await catalog.put('webhook', 'triage', webhook);
    await catalog.remove('webhook', 'triage');
    await expect
      .poll(async () => JSON.parse((await testEnv.KV.get(kvKeys.published('hook', workspace, 'triage'))) ?? 'null'))
      .toMatchObject({ deleted: true });
  });
});
