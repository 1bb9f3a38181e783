// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the files
/** `POST /v1/import` with a file of each format (`test/core/import/samples`). */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const sample = (file: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(join(import.meta.dirname, '../core/import/samples', file)));

describe('an import', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(dataDir);
  });
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });
  const send = async (body: BodyInit, query = '', headers: Record<string, string> = {}) => {
    const url = `${service.url}/v1/import${query}`;
    const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${service.key}`, ...headers }, body });
    // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests check
    const json = (await response.json()) as any;
    return { status: response.status, json };
  };
  const names = ({ json }: Awaited<ReturnType<typeof send>>): string[] => json.skipped.map(({ name }: { name: string }) => name);

  it.each([
    ['mcp.json', 'claude', ['servers.api-server', 'servers.figma'], ['mcpServers.internal', 'secrets.API_SERVER_TOKEN']],
    ['cursor/mcp.json', 'cursor', ['servers.linear', 'servers.exa'], []],
    ['vscode/mcp.json', 'vscode', ['servers.github'], ['servers.picked', 'servers.playwright']],
    ['windsurf/mcp_config.json', 'windsurf', [], ['mcpServers.old']],
    [
      'zed/settings.json',
      'zed',
      ['secrets.REMOTE_TOKEN', 'servers.remote'],
      ['context_servers.postgres-context-server', 'context_servers.off'],
    ],
    ['kiro/agent.json', 'kiro', [], ['tools[0]', 'tools[1]', 'resources', 'toolsSettings']],
    ['codex/config.toml', 'codex', [], ['mcp_servers.old', 'servers.context7']],
    ['opencode/opencode.json', 'opencode', [], ['mcp.off', 'tools.bash', 'secrets.SENTRY_X_KEY']],
    ['gemini/settings.json', 'gemini', [], ['mcpServers.lab', 'secrets.REMOTE_TOKEN']],
    ['goose/config.yaml', 'goose', ['servers.search'], ['extensions.developer', 'servers.github']],
    ['mcphub/mcp_settings.json', 'mcphub', [], ['users', 'systemConfig', 'secrets.PETS_X_API_KEY']],
    ['docker/catalog.yaml', 'docker-mcp', ['servers.cloudflare-docs'], ['registry.curl', 'servers.brave']],
    ['registry/server.json', 'mcp-registry', [], ['packages[0]', 'servers.weather-mcp']],
    ['openai-functions.json', 'openai-functions', ['servers.openai-functions', 'toolsets.openai-functions'], ['[3]']],
    ['sisu-tools.json', 'sisu', ['servers.sisu', 'toolsets.sisu'], ['aliases.missingTool']],
    ['albert-tools.json', 'albert', ['tools.made.find_and_replace', 'tools.made.count_lines'], ['[2]', '[3]']],
    ['alias-map.json', 'alias-map', ['workspace'], ['aliases.quiz']],
    ['litellm.yaml', 'litellm', ['providers.azure', 'modelAliases.gpt-4o', 'agents.fast'], ['model_list[7]', 'secrets.OPENAI_API_KEY']],
    ['portkey.json', 'portkey', ['agents.portkey', 'secrets.OPENAI_API_KEY'], ['cache']],
    ['openapi.yaml', 'openapi', ['servers.bookshop', 'toolsets.bookshop'], []],
    ['swagger.json', 'openapi', ['servers.petstore', 'toolsets.petstore'], []],
    ['moniker.yaml', 'moniker', ['servers.docs', 'toolsets.work', 'agents.helper'], ['secrets.DOCS_TOKEN']],
  ])('of %s is planned, done, and without effect the second time', async (file, format, created, skipped) => {
    const query = `?fileName=${encodeURIComponent(file)}`;
    const plan = await send(sample(file), `${query}&dryRun=true`);
    expect([plan.status, plan.json.format]).toEqual([200, format]);
    const first = await send(sample(file), query);
    expect(first.json.created).toEqual(expect.arrayContaining(created));
    expect(names(first)).toEqual(expect.arrayContaining(skipped));
    const waiting = plan.json.waiting.map(({ name }: { name: string }) => name);
    expect([...plan.json.created, ...waiting]).toEqual(expect.arrayContaining(first.json.created));
    const second = await send(sample(file), query);
    expect([second.status, second.json.created, second.json.updated, second.json.kept]).toEqual([200, [], [], []]);
  });

  it('of an OpenAPI document reports in its plan, its result and the stored server what the tools lack', async () => {
    const paths = { '/a': { get: { operationId: 'a' }, put: { operationId: 'b', requestBody: { $ref: '#/components/none' } } } };
    const document = { openapi: '3.1.0', info: { title: 'Lossy' }, servers: [{ url: 'https://api.lossy.example' }], paths };
    const lost = { path: 'servers.lossy.paths./a.put.requestBody', message: expect.stringContaining('is not in the document') };
    for (const query of ['?dryRun=true', '', '?dryRun=true']) {
      // The last plan replaces a stored server.
      const body = JSON.stringify(query === '' ? document : { ...document, info: { title: 'Lossy', version: '2' } });
      expect((await send(body, query)).json.warnings).toContainEqual(lost);
    }
    const shown = (await service.call('GET', '/v1/servers/lossy')).json;
    expect(shown.warnings).toContainEqual({ ...lost, path: 'paths./a.put.requestBody' });
    expect((await service.call('PUT', '/v1/servers/lossy', shown)).json.warnings).toContainEqual(shown.warnings[0]);
  });

  it('of commands takes them only with the token of the launcher, with their credentials as secrets', async () => {
    const env = { FAKE_TOKEN: 'value-of-the-token', MODE: 'test' };
    const command = {
      command: process.execPath,
      args: [join(root, 'test/local/stdio/fake-server.mjs')],
      env,
      autoApprove: ['environment'],
    };
    const file = JSON.stringify({ mcpServers: { 'Fake Server': command } });
    const refused = await send(file);
    expect(refused.json.created).toEqual([]);
    for (const [index, name] of ['secrets.FAKE_TOKEN', 'servers.fake-server'].entries())
      expect(refused.json.skipped[index]).toEqual({ name, reason: expect.stringContaining('moniker import') });
    const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
    const done = await send(file, '', { [launcherHeader]: token });
    expect(done.json).toMatchObject({ created: ['secrets.FAKE_TOKEN', 'servers.fake-server', 'toolsets.claude'] });
    const { json } = await service.call('POST', '/v1/toolsets/claude/calls', { name: 'environment', arguments: {} });
    expect([json.canonical, json.isError, json.content[0].text]).toEqual([
      'fake-server.environment',
      false,
      expect.stringContaining('MODE'),
    ]);
    expect(json.content[0].text).not.toContain('value-of-the-token');
    expect((await service.call('GET', '/v1/servers/fake-server')).text).not.toContain('value-of-the-token');
  });

  it('by the command line fills in environment variables, and may run commands', async () => {
    const file = join(dataDir, 'mcp.json');
    const env = { FAKE_TOKEN: '${env:MY_TOKEN}', MODE: '${env:UNSET_MODE}' };
    const args = ['${workspaceFolder}/fake-server.mjs'];
    const servers = { ready: { type: 'stdio', command: process.execPath, args }, other: { command: process.execPath, args, env } };
    writeFileSync(file, `// VS Code\n${JSON.stringify({ servers, inputs: [] })}`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), 'import', file, '--trust', '--json'], {
      cwd: join(root, 'test/local/stdio'),
      env: {
        PATH: process.env.PATH,
        MONIKER_DATA_DIR: dataDir,
        XDG_STATE_HOME: join(dataDir, 'decisions'),
        MY_TOKEN: 'token-of-mine-1234',
      },
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout)[file];
    expect(report).toMatchObject({ format: 'vscode', created: ['secrets.MY_TOKEN', 'servers.ready', 'toolsets.vscode'] });
    expect(report.skipped[0]).toEqual({ name: 'servers.other', reason: expect.stringContaining('env.MODE') });
    const { json } = await service.call('GET', '/v1/toolsets/vscode/resolve?name=environment');
    expect(json.canonical).toBe('ready.environment');
    expect((await service.call('GET', '/v1/servers/ready')).json.trusted).toBe(true);
  });

  it('of Bifrost is planned, with aliases that have a slash', async () => {
    // The other gateways have given providers and secrets of these names before.
    const plan = await send(sample('bifrost.json'), '?fileName=bifrost.json&dryRun=true');
    expect([plan.status, plan.json.format]).toEqual([200, 'bifrost']);
    expect(plan.json.created).toEqual(expect.arrayContaining(['providers.shop-llm', 'modelAliases.openai/fast']));
    expect(names(plan)).toEqual(expect.arrayContaining(['providers.openai.keys[0]', 'governance.virtual_keys[0]']));
  });

  it('makes tools callable under the names of the file', async () => {
    const call = await service.call('POST', '/v1/toolsets/sisu/calls', { name: 'run_command', arguments: { command: 'echo hello' } });
    expect(call.json).toMatchObject({ canonical: 'builtin.bash', isError: false });
    const shown = await service.call('GET', '/v1/toolsets/bookshop/tools');
    expect(shown.json.tools).toMatchObject([{ canonical: 'bookshop.addBook' }, { canonical: 'bookshop.getBook' }]);
    expect((await service.call('GET', '/v1/model-aliases/small')).json.targets).toEqual([{ model: 'ollama/llama3.1' }]);
  });

  it('of toolsets over unknown servers takes the entries of the others', async () => {
    const tools = [{ namespacedName: 'bookshop.getBook', alias: 'read_book' }, { namespacedName: 'git.status' }];
    const done = await send(JSON.stringify({ toolsets: { books: { tools }, none: { tools: [{ namespacedName: 'git.log' }] } } }));
    expect(done.json.created).toEqual(['toolsets.books']);
    expect(names(done)).toEqual(['toolsets.books.tools[1] (git.status)', 'toolsets.none.tools[0] (git.log)', 'toolsets.none']);
    expect((await service.call('GET', '/v1/toolsets/books/resolve?name=read_book')).json.canonical).toBe('bookshop.getBook');
  });

  it('of a toolset with an alias of two tools leaves out its second use', async () => {
    const tools = [
      { namespacedName: 'bookshop.getBook', alias: 'book' },
      { namespacedName: 'bookshop.addBook', alias: 'book' },
    ];
    const done = await send(JSON.stringify({ toolsets: { shelf: { tools } } }));
    expect(done.json).toMatchObject({ created: ['toolsets.shelf'] });
    expect(names(done)).toEqual(['toolsets.shelf.tools (bookshop.addBook).aliases']);
    expect((await service.call('GET', '/v1/toolsets/shelf/resolve?name=book')).json.canonical).toBe('bookshop.getBook');
  });

  it('leaves out the tools of a server that cannot be reached', async () => {
    const mcpServers = { Gone: { url: 'https://gone.invalid/mcp' } };
    const done = await send(
      zipSync({
        '.mcp.json': strToU8(JSON.stringify({ mcpServers })),
        'books/openapi.yaml': sample('openapi.yaml'),
      }) as Uint8Array<ArrayBuffer>,
    );
    expect(done.json).toMatchObject({ format: 'zip', created: ['servers.gone'], unchanged: ['servers.bookshop', 'toolsets.bookshop'] });
    expect(names(done)).toEqual(['toolsets.claude']);
  });

  it('adds names to those of the workspace, and keeps its other settings', async () => {
    await service.call('PATCH', '/v1/workspaces/default', { settings: { retention: { auditDays: 30 } } });
    await send('{"aliases": {"lookup": "getBook"}}');
    const { settings } = (await service.call('GET', '/v1/workspaces/default')).json;
    expect(settings).toMatchObject({ retention: { auditDays: 30 }, nameMap: { lookup: 'getBook', websearch: 'web_search' } });
  });

  it('of a bad file, or with a key that may not write the documents, stores nothing', async () => {
    const broken = await send('{"mcpServers": {');
    expect([broken.status, broken.json.code]).toEqual([400, 'invalid_json']);
    const unknown = await send('{"some": "thing else entirely", "n": 1}');
    expect([unknown.status, unknown.json.detail]).toEqual([422, expect.stringContaining('of no known format')]);
    const { json: key } = await service.call('POST', '/v1/keys', { name: 'editor', scopes: ['toolsets'] });
    const refused = await send('{"mcpServers": {"other": {"url": "https://other.example/mcp"}}}', '', {
      authorization: `Bearer ${key.key}`,
    });
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    expect((await service.call('GET', '/v1/servers/other')).status).toBe(404);
    const whole = await send('{"toolsets": {"a": {"tools": [{"tool": "builtin.bash"}]}, "b": {"tools": [{"tool": "none.x"}]}}}');
    expect(whole.status).toBe(422);
    expect((await service.call('GET', '/v1/toolsets/a')).status).toBe(404);
    const part = await send(
      '{"toolsets": {"a": {"tools": [{"tool": "builtin.bash"}]}, "b": {"tools": [{"tool": "none.x"}]}}}',
      '?partial=true',
    );
    expect(part.json).toMatchObject({
      created: ['toolsets.a'],
      skipped: [{ name: 'toolsets.b.tools[0] (none.x)' }, { name: 'toolsets.b' }],
    });
  });
});
