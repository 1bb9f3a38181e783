/** The contract of providers: their keys, which are never shown, and the built-in rehearsal. */
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function providersContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('providers', () => {
    const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9999/v1', apiKey: 'sk-first', models: ['small'] };

    it('show that they have a key, and never the key', async () => {
      const { document } = await catalog.put('provider', 'local', local);
      expect(document.body).toEqual({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9999/v1', models: ['small'], hasApiKey: true });
      const access = await directory.provider(workspace, 'local');
      expect(access).toMatchObject({
        baseUrl: 'http://127.0.0.1:9999/v1',
        headers: { authorization: 'Bearer sk-first' },
        models: ['small'],
      });
      expect(await directory.providers(workspace)).toEqual([
        { name: 'local', models: ['small'] },
        { name: 'rehearsal', models: ['default'] },
      ]);
    });

    it('keep a key that is omitted, but not when they move to another origin', async () => {
      await catalog.put('provider', 'local', local);
      const { apiKey: _apiKey, ...keyless } = local;
      await catalog.put('provider', 'local', { ...keyless, models: ['large'] });
      expect((await directory.provider(workspace, 'local')).headers).toEqual({ authorization: 'Bearer sk-first' });
      const problem = await refusal(catalog.put('provider', 'local', { ...keyless, baseUrl: 'http://127.0.0.1:9998/v1' }));
      expect(problem).toMatchObject({ code: 'invalid_request', extra: { issues: [expect.objectContaining({ path: 'apiKey' })] } });
      await catalog.put('provider', 'local', { ...keyless, baseUrl: 'http://127.0.0.1:9998/v1', apiKey: 'sk-second' });
      expect((await directory.provider(workspace, 'local')).headers).toEqual({ authorization: 'Bearer sk-second' });
      await catalog.remove('provider', 'local');
      await expect(directory.provider(workspace, 'local')).rejects.toMatchObject({ code: 'model_not_found' });
      await catalog.put('provider', 'local', keyless);
      expect((await directory.provider(workspace, 'local')).headers).toEqual({});
    });

    it('of clouds need their key again for another kind, which would send what only signs', async () => {
      const aws = JSON.stringify({ AccessKeyId: 'AKIDEXAMPLE000000000', SecretAccessKey: 'the secret of the key' });
      const bedrock = { kind: 'bedrock', region: 'us-east-1', baseUrl: 'http://127.0.0.1:9999' };
      const { document } = await catalog.put('provider', 'aws', { ...bedrock, apiKey: aws });
      expect(document.body).toEqual({ ...bedrock, hasApiKey: true });
      const { headers, secrets, cloud } = await directory.provider(workspace, 'aws');
      expect([headers, secrets]).toEqual([{}, ['the secret of the key']]);
      expect(cloud).toMatchObject({ kind: 'bedrock', region: 'us-east-1', key: JSON.parse(aws) });
      const moved = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9999/v1' };
      await expect(catalog.put('provider', 'aws', moved)).rejects.toMatchObject({
        code: 'invalid_request',
        extra: { issues: [{ path: 'apiKey', message: 'is required, because the kind changes' }] },
      });
      await catalog.put('provider', 'aws', { ...bedrock, models: ['amazon.nova-pro-v1:0'] });
      expect((await directory.provider(workspace, 'aws')).cloud).toMatchObject({ key: JSON.parse(aws) });
    });

    it('of clouds are refused with a key that cannot be used, with its place', async () => {
      const account = { type: 'service_account', client_email: 'a', private_key: 'b', token_uri: 'https://evil.example/token' };
      const put = catalog.put('provider', 'google', { kind: 'vertex', project: 'my-project', apiKey: JSON.stringify(account) });
      const message = 'cannot be used: token_uri: must be https://oauth2.googleapis.com/token';
      await expect(put).rejects.toMatchObject({ code: 'invalid_request', extra: { issues: [{ path: 'apiKey', message }] } });
    });

    it('of clouds cannot be used without credentials, or with those of another cloud', async () => {
      await catalog.put('provider', 'aws', { kind: 'bedrock', region: 'us-east-1' });
      await expect(directory.provider(workspace, 'aws')).rejects.toMatchObject({
        code: 'not_configured',
        detail: expect.stringContaining('no credentials'),
      });
      await catalog.put('secret', 'KEY', { value: '{"type": "service_account"}', hosts: ['*.us-east-1.amazonaws.com'] });
      await catalog.put('provider', 'aws', { kind: 'bedrock', region: 'us-east-1', apiKeySecret: 'KEY' });
      await expect(directory.provider(workspace, 'aws')).rejects.toMatchObject({
        code: 'not_configured',
        detail: expect.stringContaining('AccessKeyId'),
      });
    });

    it('drop a key that a write removes', async () => {
      await catalog.put('provider', 'local', local);
      const { apiKey: _apiKey, ...keyless } = local;
      const { document, changed } = await catalog.put('provider', 'local', keyless, { removed: ['apiKey'] });
      expect([changed, document.body.hasApiKey]).toEqual([true, false]);
      expect((await directory.provider(workspace, 'local')).headers).toEqual({});
    });

    it('always include the rehearsal, which cannot be changed', async () => {
      expect(await directory.provider(workspace, 'rehearsal')).toMatchObject({ kind: 'rehearsal', models: ['default'] });
      await expect(catalog.put('provider', 'rehearsal', local)).rejects.toMatchObject({ code: 'conflict' });
      await expect(catalog.remove('provider', 'rehearsal')).rejects.toMatchObject({ code: 'conflict' });
      await expect(directory.provider(workspace, 'nobody')).rejects.toMatchObject({ code: 'model_not_found' });
    });
  });
}
