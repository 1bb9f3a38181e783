import { describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

describe('names over HTTP', () => {
  const service = shareService();

  it.each([false, true])('reports two tools under one alias as a conflict that names both and a fix (reversed: %s)', async (reversed) => {
    const tools = [
      { tool: 'builtin.bash', aliases: ['run'] },
      { tool: 'builtin.read_file', aliases: ['run'] },
    ];
    const { status, json } = await service.call('PUT', '/v1/toolsets/clash', { tools: reversed ? tools.reverse() : tools });
    expect([status, json.code]).toEqual([409, 'name_conflict']);
    expect(json.conflicts[0]).toMatchObject({ name: 'run', suggestion: expect.any(String) });
    expect(json.conflicts[0].claims).toMatchObject([
      { path: expect.stringMatching(/^tools\[\d\]\.aliases\[0\]$/), as: 'alias', suggestion: expect.any(String) },
      { path: expect.stringMatching(/^tools\[\d\]\.aliases\[0\]$/), as: 'alias', suggestion: json.conflicts[0].suggestion },
    ]);
    expect([...json.conflicts[0].tools].sort()).toEqual(['builtin.bash', 'builtin.read_file']);
    expect((await service.call('GET', '/v1/toolsets/clash')).status).toBe(404);
  });

  it.each([
    ['terminalRun', 'builtin.bash', 'wire'],
    ['builtin.bash', 'builtin.bash', 'canonical'],
    ['shell', 'builtin.bash', 'alias'],
    ['TerminalRun', 'builtin.bash', 'folded'],
    ['functions.terminal-run', 'builtin.bash', 'folded'],
    ['cat', 'builtin.read_file', 'wire'],
    ['read_file', 'builtin.read_file', 'own'],
  ])('resolves %s to %s, via %s', async (name, canonical, via) => {
    const { status, json } = await service.call('GET', `/v1/toolsets/demo/resolve?name=${encodeURIComponent(name)}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ requested: name, canonical, via });
  });

  it('suggests similar names for an unknown name', async () => {
    const { status, json } = await service.call('GET', '/v1/toolsets/demo/resolve?name=terminalRum');
    expect([status, json.code]).toEqual([404, 'unknown_tool']);
    expect(json.suggestions).toContain('terminalRun');
  });

  it('shows both names of a call by alias in the response, the audit and the log', async () => {
    const { status, json } = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'shell', arguments: { command: 'echo seen' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ requested: 'shell', canonical: 'builtin.bash', via: 'alias', isError: false });
    const { json: audit } = await service.call('GET', '/v1/audit?limit=1');
    expect(audit.items[0]).toMatchObject({ requested: 'shell', canonical: 'builtin.bash' });
    const line = service
      .printed()
      .split('\n')
      .find((text) => text.startsWith('{') && text.includes('"requested":"shell"'));
    expect(line).toContain('"canonical":"builtin.bash"');
  });

  it('names wrong and missing arguments by path, and runs nothing', async () => {
    const wrong = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'save_file', arguments: { path: 7 } });
    expect(wrong.json).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(wrong.json.content[0].text).toMatch(/path/);
    expect(wrong.json.content[0].text).toMatch(/content/);
  });

  it('returns an unknown tool as a result that the caller can act on', async () => {
    const { status, json } = await service.call('POST', '/v1/toolsets/demo/calls', { name: 'no_such_thing', arguments: {} });
    expect(status).toBe(200);
    expect(json).toMatchObject({ isError: true, code: 'unknown_tool', canonical: null, via: null });
  });

  it('rejects an outdated If-Match and changes nothing', async () => {
    const before = await service.call('GET', '/v1/toolsets/demo');
    const lost = await service.call('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash' }] }, { 'if-match': '"99"' });
    expect([lost.status, lost.json.code]).toEqual([412, 'precondition_failed']);
    expect((await service.call('GET', '/v1/toolsets/demo')).json).toEqual(before.json);
  });

  it('names tools that two servers share by their servers, takes wildcards, listed aliases and a name map, and copies', async () => {
    const tool = { name: 'search', description: 'Searches.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    for (const [name, aliases] of [
      ['issues', ['find_issue']],
      ['wiki', []],
    ] as const) {
      const server = {
        kind: 'static',
        url: 'https://tools.example.com/call',
        tools: [
          { ...tool, aliases },
          { ...tool, name: `${name}_delete` },
        ],
      };
      expect((await service.call('PUT', `/v1/servers/${name}`, server)).status).toBe(201);
    }
    const tools = [{ tool: 'issues.*', except: ['issues_delete'] }, { tool: 'wiki.*' }];
    const put = await service.call('PUT', '/v1/toolsets/shared', { names: 'primary', nameMap: { Lookup: 'wiki.search' }, tools });
    expect([put.status, put.json.warnings.filter(({ message }: { message: string }) => message.includes('own name')).length]).toEqual([
      201, 2,
    ]);
    expect((await service.call('PUT', '/v1/toolsets/copied', { from: 'shared@1' })).status).toBe(201);
    const { json } = await service.call('GET', '/v1/toolsets/copied/tools');
    expect(json.tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual(['issues_search', 'wiki_search', 'wiki_delete']);
    const meant = async (name: string) => (await service.call('GET', `/v1/toolsets/copied/resolve?name=${name}`)).json.canonical;
    expect([await meant('find_issue'), await meant('lookUp')]).toEqual(['issues.search', 'wiki.search']);

    // A change of the default aliases does not rename the tools of stored toolsets.
    const aliases = ['look', { name: 'seek', mode: 'hidden' }];
    expect((await service.call('PUT', '/v1/toolsets/plain', { tools: [{ tool: 'wiki.search' }] })).status).toBe(201);
    expect((await service.call('PUT', '/v1/tools/wiki.search/aliases', { aliases })).json).toEqual({ aliases });
    const { json: after } = await service.call('GET', '/v1/toolsets/plain/resolve?name=seek');
    expect(after).toMatchObject({ canonical: 'wiki.search', wireName: 'search', aliases: ['look', 'seek'] });
  });

  it('adds the name map of the workspace to every toolset, stored ones too, and says which toolsets leave a name out', async () => {
    const put = (path: string, body: unknown) => service.call('PUT', path, body);
    const meant = async (toolset: string, name: string) =>
      (await service.call('GET', `/v1/toolsets/${toolset}/resolve?name=${name}`)).json.canonical;
    await put('/v1/toolsets/files', { tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.write_file' }] });
    await put('/v1/toolsets/other', { tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.list_directory', name: 'openDocument' }] });
    const nameMap = { openDocument: 'read_file', storeDocument: 'builtin.write_file' };
    const written = await put('/v1/workspaces/default', { settings: { nameMap } });
    expect(written.json).toMatchObject({ settings: { nameMap } });
    expect(written.json.warnings).toContainEqual({
      path: 'settings.nameMap',
      message:
        'The toolset "other": "opendocument", a name of the workspace, is left out: builtin.list_directory has that name in this toolset',
    });
    expect([await meant('files', 'openDocument'), await meant('files', 'store-document'), await meant('other', 'openDocument')]).toEqual([
      'builtin.read_file',
      'builtin.write_file',
      'builtin.list_directory',
    ]);
    const called = await service.call('POST', '/v1/toolsets/files/calls', {
      name: 'store_document',
      arguments: { path: 'a.txt', content: 'x' },
    });
    expect(called.json).toMatchObject({ requested: 'store_document', canonical: 'builtin.write_file', isError: false });
    const { json } = await service.call('GET', '/v1/toolsets/files/tools');
    expect(json.tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual(['read_file', 'write_file']);

    expect((await put('/v1/workspaces/default', { settings: { nameMap: { '1x': 'read_file' } } })).json).toMatchObject({
      code: 'invalid_request',
      issues: [{ path: 'settings.nameMap["1x"]' }],
    });
    expect((await put('/v1/workspaces/default', { settings: {} })).status).toBe(200);
    expect(await meant('files', 'store_document')).toBeUndefined();
  });

  it('says which toolsets leave a default alias out, and why', async () => {
    const tools = [{ tool: 'builtin.read_file' }, { tool: 'builtin.write_file', aliases: ['put'] }];
    expect((await service.call('PUT', '/v1/toolsets/putting', { tools })).status).toBe(201);
    const { json } = await service.call('PUT', '/v1/tools/builtin.read_file/aliases', { aliases: ['put', 'open'] });
    expect(json.warnings).toContainEqual({
      path: 'aliases',
      message: expect.stringMatching(
        /^The toolset "putting": "put", a default alias of builtin\.read_file, is left out: builtin\.write_file/,
      ),
    });
    expect((await service.call('DELETE', '/v1/tools/builtin.read_file/aliases')).status).toBe(204);
  });
});
