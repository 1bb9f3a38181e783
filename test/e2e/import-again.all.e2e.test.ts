/** Imports of files that were imported before, of a second file, and over documents that were made by hand. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import { shareService } from './shared-service.ts';

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });

describe('an import', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let files: FakeMcpServer;
  let notes: FakeMcpServer;
  let workspace = '';
  let count = 0;
  beforeAll(async () => {
    files = await listenMcpServer({ tools: [tool('read_file'), tool('delete_file')] });
    notes = await listenMcpServer({ tools: [tool('read_note')] });
  });
  afterAll(async () => {
    await files.close();
    await notes.close();
  });
  beforeEach(async () => {
    workspace = `again-${++count}`;
    await service.call('PUT', `/v1/workspaces/${workspace}`, {});
  });

  const call = async (method: string, path: string, body?: unknown) =>
    (await service.call(method, path, body, { 'x-moniker-workspace': workspace })).json;
  const post = (mcpServers: object, query = '') => call('POST', `/v1/import?fileName=.mcp.json${query}`, { mcpServers });
  const toolset = async () => (await call('GET', '/v1/toolsets/claude')).tools;
  const places = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name);
  const oneServer = () => ({ files: { url: files.url } });
  const bothServers = () => ({ ...oneServer(), notes: { url: notes.url } });

  it('of a newer file keeps names and removals that were made here, and adds the new server', async () => {
    await post(oneServer());
    const edited = { tool: 'files.read_file', name: 'look', aliases: ['peek'] };
    await call('PUT', '/v1/toolsets/claude', { tools: [edited] });
    const plan = await post(bothServers(), '&dryRun=true');
    const done = await post(bothServers());
    expect(await toolset()).toEqual([edited, { tool: 'notes.read_note' }]);
    expect(places(done.kept)).toEqual(['toolsets.claude.tools (files.read_file)', 'toolsets.claude.tools (files.*)']);
    expect(done.kept[0].reason).toContain('"look"');
    expect(plan.kept).toEqual(done.kept);
    expect(plan.changes).toEqual([{ name: 'toolsets.claude', path: 'tools[1]', after: '{"tool":"notes.*"}' }]);
    expect(await post(bothServers())).toMatchObject({ created: [], updated: [], kept: done.kept });
  });

  it('leaves out tools and exceptions that a server does not list any more, and keeps the others', async () => {
    const filtered = {
      files: { url: files.url, disabledTools: ['delete_file', 'gone'] },
      notes: { url: notes.url, autoApprove: ['old_note'] },
    };
    const done = await post(filtered);
    expect(await toolset()).toEqual([{ tool: 'files.read_file' }, { tool: 'notes.read_note' }]);
    const said = done.skipped.filter(({ reason }: { reason: string }) => reason === 'its server lists no such tool');
    expect(places(said)).toEqual(['toolsets.claude.tools[0].except (gone)', 'toolsets.claude.tools[2] (notes.old_note)']);
    expect(done).toMatchObject({ created: ['servers.files', 'servers.notes', 'toolsets.claude'], kept: [] });
  });

  it('with several models or keys keeps an alias of one model and a provider with one key that were made here', async () => {
    const models = ['a', 'b'].map((model) => ({
      model_name: 'chat',
      litellm_params: { model: `groq/${model}`, api_key: 'gsk_0123456789abcdef' },
    }));
    const litellm = () => call('POST', '/v1/import?fileName=config.yaml', { model_list: models });
    await call('PUT', '/v1/model-aliases/chat', { model: 'rehearsal/default' });
    expect(places((await litellm()).kept)).toEqual(['modelAliases.chat']);
    expect(await call('GET', '/v1/model-aliases/chat')).toMatchObject({ model: 'rehearsal/default' });
    await call('DELETE', '/v1/model-aliases/chat');
    expect((await litellm()).created).toEqual(['modelAliases.chat']);
    const route = await call('GET', '/v1/model-aliases/chat');
    expect(route).toMatchObject({ targets: [{ model: 'groq/a' }, { model: 'groq/b' }], strategy: 'weighted', sticky: 'none' });

    const keys = ['one', 'two'].map((name) => ({ name, value: `gsk_${name}_0123456789abcdef`, models: ['*'] }));
    const done = await call('POST', '/v1/import?fileName=config.json', { providers: { groq: { keys } } });
    expect(places(done.kept)).toContain('providers.groq');
    expect(await call('GET', '/v1/providers/groq')).not.toHaveProperty('apiKeySecrets');
  });

  it('of the file of another project adds to the toolset, and removes nothing', async () => {
    await post(oneServer());
    await post({ notes: { url: notes.url } });
    const all = [{ tool: 'files.delete_file' }, { tool: 'files.read_file' }, { tool: 'notes.read_note' }];
    expect(await toolset()).toEqual(all);
    await call('PUT', '/v1/toolsets/claude', { tools: all.slice(1) });
    await post(oneServer());
    expect(await toolset()).toEqual(all.slice(1));
  });

  it('takes what the file changes of a server, and keeps what was set here', async () => {
    const server = (key: string, mode: string) => ({ files: { url: files.url, headers: { Authorization: key, 'x-mode': mode } } });
    await post(server('Bearer first-0123456789', 'one'));
    await call('PATCH', '/v1/servers/files', { trusted: true, headers: { 'x-mine': 'yes' } });
    const done = await post(server('Bearer second-0123456789', 'two'));
    expect(done).toMatchObject({ updated: ['secrets.FILES_TOKEN', 'servers.files'], kept: [] });
    expect(done.changes).toContainEqual({ name: 'secrets.FILES_TOKEN', path: 'value' });
    expect(await call('GET', '/v1/servers/files')).toMatchObject({ trusted: true, headers: { 'x-mine': 'yes', 'x-mode': 'two' } });

    await call('PUT', '/v1/secrets/FILES_TOKEN', { value: 'Bearer rotated-0123456789', hosts: [files.host] });
    await call('PATCH', '/v1/servers/files', { headers: { 'x-mode': null } });
    const again = await post(server('Bearer second-0123456789', 'two'));
    expect([again.updated, places(again.kept)]).toEqual([[], ['secrets.FILES_TOKEN.value', 'servers.files.headers.x-mode']]);
    expect(JSON.stringify(again)).not.toContain('0123456789');
  });

  it('keeps the trust that an earlier import gave', async () => {
    const trusted = { servers: { files: { kind: 'mcp', url: files.url, trusted: true } } };
    await call('POST', '/v1/import?fileName=.mcp.json&replace=false', trusted);
    expect(await post(oneServer())).toMatchObject({ unchanged: ['servers.files'], kept: [] });
    expect((await call('GET', '/v1/servers/files')).trusted).toBe(true);
  });

  it('does not send a stored credential to a new address', async () => {
    await call('PUT', '/v1/servers/files', { kind: 'mcp', url: files.url });
    await post(oneServer());
    await call('PATCH', '/v1/servers/files', { headers: { 'x-signature': 'signature-of-mine' } });
    const done = await post({ files: { url: notes.url } });
    expect(done.skipped).toEqual([{ name: 'servers.files', reason: expect.stringContaining('headers.x-signature') }]);
    expect((await call('GET', '/v1/servers/files')).url).toBe(files.url);
  });

  it('over documents that were made by hand keeps them, and names each difference', async () => {
    await call('PUT', '/v1/servers/files', { kind: 'mcp', url: files.url, trusted: true });
    await call('PUT', '/v1/toolsets/claude', { tools: [{ tool: 'files.read_file', name: 'mine' }] });
    const done = await post({ files: { url: files.url, autoApprove: ['read_file'] }, notes: { url: notes.url } });
    expect(await toolset()).toEqual([{ tool: 'files.read_file', name: 'mine' }, { tool: 'notes.read_note' }]);
    expect(places(done.kept)).toEqual([
      'toolsets.claude.tools (files.read_file)',
      'toolsets.claude.tools (files.read_file)',
      'toolsets.claude.tools (files.*)',
    ]);
  });

  it('does not replace another server of the same name, and leaves its tools out of the toolset', async () => {
    const openapi = { openapi: '3.0.0', info: { title: 'files', version: '1' }, servers: [{ url: 'https://files.example.com' }] };
    await call('POST', '/v1/import?fileName=o.json', { ...openapi, paths: { '/x': { get: { operationId: 'getX', responses: {} } } } });
    const key = { headers: { Authorization: 'Bearer third-0123456789' } };
    const file = { files: { url: files.url, ...key }, notes: { url: notes.url } };
    const done = await post(file);
    expect(places(done.skipped)).toEqual(['secrets.FILES_TOKEN', 'servers.files', 'toolsets.claude.tools[0] (files.*)']);
    expect(done.skipped[1].reason).toContain('"files-mcp"');
    expect((await call('GET', '/v1/servers/files')).kind).toBe('openapi');
    expect(await toolset()).toEqual([{ tool: 'notes.read_note' }]);
    expect(await post(file, '&replace=true')).toMatchObject({ updated: ['servers.files', 'toolsets.claude'] });
    expect((await call('GET', '/v1/servers/files')).kind).toBe('mcp');
  });

  it('does not bring back a server that was removed here, until it replaces', async () => {
    await post(bothServers());
    await call('DELETE', '/v1/servers/notes');
    const done = await post(bothServers());
    expect(done).toMatchObject({ created: [], kept: [{ name: 'servers.notes' }, { name: 'toolsets.claude.tools (notes.*)' }] });
    expect(await post(bothServers(), '&replace=true')).toMatchObject({ created: ['servers.notes'] });
  });

  it('names documents that the file no longer gives, and keeps them', async () => {
    const key = { headers: { Authorization: 'Bearer fourth-0123456789' } };
    await post({ files: { url: files.url, ...key }, notes: { url: notes.url } });
    const withoutTools = { files: { url: files.url, includeTools: [] }, notes: { url: notes.url, disabled: true } };
    const plan = await post(withoutTools, '&dryRun=true');
    const done = await post(withoutTools);
    expect(places(done.kept)).toEqual(['secrets.FILES_TOKEN', 'servers.notes', 'toolsets.claude']);
    expect([plan.kept, done.removed]).toEqual([done.kept, []]);
    await call('DELETE', '/v1/toolsets/claude');
    expect(places((await post(withoutTools)).kept)).toEqual(['secrets.FILES_TOKEN', 'servers.notes']);
  });

  it('compares members that have the names of JavaScript objects', async () => {
    await post({ files: { url: files.url, headers: { 'x-mode': 'one' } } });
    const done = await post({ files: { url: files.url, headers: { 'x-mode': 'one', constructor: 'two' } } });
    expect(done).toMatchObject({ updated: ['servers.files'], kept: [], skipped: [] });
    expect((await call('GET', '/v1/servers/files')).headers).toEqual({ 'x-mode': 'one', constructor: 'two' });
  });

  it('adds the new tools of a server whose tools were not taken out', async () => {
    await post(oneServer());
    files.setTools([tool('read_file'), tool('delete_file'), tool('move_file')]);
    await call('POST', '/v1/servers/files/refresh');
    await post(oneServer());
    expect((await toolset()).at(-1)).toEqual({ tool: 'files.move_file' });
  });
});
