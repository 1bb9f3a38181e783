/** A file of each format, as its program writes it: imported over the API, and then used, so that the call reaches the server of the file. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, listenApi } from '../fakes/api-server.ts';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';
import { shareService } from './shared-service.ts';

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const json = (value: unknown): string => JSON.stringify(value);

/** `calls`: the name in the toolset, and what the server is asked for. `hidden`: a tool that the file does not offer. */
type Row = {
  format: string;
  fileName: string;
  file: (url: string) => string;
  toolset: string;
  calls?: [name: string, tool: string];
  hidden?: string;
  /** A header that the server gets. */
  header?: [name: string, value: string];
};

const bearer = 'Bearer walk-0123456789abcdef';
const functions = (url: string, more: object) => json({ url, ...more });

const rows: Row[] = [
  {
    format: 'claude',
    fileName: 'claude_desktop_config.json',
    file: (url) => json({ mcpServers: { 'Walk Server': { type: 'http', url, headers: { Authorization: bearer } } } }),
    toolset: 'claude',
    header: ['authorization', bearer],
  },
  {
    format: 'claude',
    fileName: '.claude.json',
    file: (url) =>
      json({
        numStartups: 3,
        projects: {
          '/home/me/shop': { mcpServers: { shop: { type: 'http', url } }, allowedTools: ['mcp__shop__read_file'] },
          '/home/me/blog': { mcpServers: {}, allowedTools: [] },
        },
      }),
    toolset: 'claude',
  },
  {
    format: 'cursor',
    fileName: '.cursor/mcp.json',
    file: (url) => json({ mcpServers: { files: { url, headers: { 'X-Api-Key': 'key-0123456789abcdef' } } } }),
    toolset: 'cursor',
    header: ['x-api-key', 'key-0123456789abcdef'],
  },
  {
    format: 'windsurf',
    fileName: '.codeium/windsurf/mcp_config.json',
    file: (url) => json({ mcpServers: { files: { serverUrl: url, disabledTools: ['delete_file'] } } }),
    toolset: 'windsurf',
    hidden: 'delete_file',
  },
  {
    format: 'vscode',
    fileName: '.vscode/mcp.json',
    file: (url) => `// Servers\n{"inputs": [], "servers": {"files": {"type": "http", "url": "${url}"},}}`,
    toolset: 'vscode',
  },
  {
    format: 'zed',
    fileName: '.config/zed/settings.json',
    file: (url) => json({ theme: 'One Dark', context_servers: { files: { enabled: true, url } } }),
    toolset: 'zed',
  },
  {
    format: 'kiro',
    fileName: '.kiro/settings/mcp.json',
    file: (url) => json({ mcpServers: { files: { url, autoApprove: ['read_file'], disabledTools: ['delete_file'] } } }),
    toolset: 'kiro',
    hidden: 'delete_file',
  },
  {
    format: 'kiro',
    fileName: '.kiro/agents/reader.json',
    file: (url) =>
      json({
        name: 'reader',
        prompt: 'You read.',
        mcpServers: { files: { url } },
        tools: ['@files/read_file'],
        toolAliases: { '@files/read_file': 'look' },
        allowedTools: ['@files/read_file'],
      }),
    toolset: 'reader',
    calls: ['look', 'read_file'],
    hidden: 'delete_file',
  },
  {
    format: 'codex',
    fileName: '.codex/config.toml',
    file: (url) =>
      `model = "gpt-5"\n[mcp_servers.files]\nurl = "${url}"\nenabled_tools = ["read_file"]\nhttp_headers = { "X-Team" = "blue" }\n`,
    toolset: 'codex',
    hidden: 'delete_file',
    header: ['x-team', 'blue'],
  },
  {
    format: 'opencode',
    fileName: 'opencode.json',
    file: (url) =>
      json({
        $schema: 'https://opencode.ai/config.json',
        mcp: { files: { type: 'remote', url, enabled: true } },
        tools: { 'files_delete*': false },
      }),
    toolset: 'opencode',
    hidden: 'delete_file',
  },
  {
    format: 'gemini',
    fileName: '.gemini/settings.json',
    file: (url) => json({ theme: 'x', mcpServers: { files: { httpUrl: url, includeTools: ['read_file'], trust: true } } }),
    toolset: 'gemini',
    hidden: 'delete_file',
  },
  {
    format: 'copilot',
    fileName: '.copilot/mcp-config.json',
    file: (url) => json({ mcpServers: { files: { type: 'http', url, tools: ['read_file'] } } }),
    toolset: 'copilot',
    hidden: 'delete_file',
  },
  {
    format: 'continue',
    fileName: '.continue/config.yaml',
    file: (url) =>
      `name: Mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: Files\n    type: streamable-http\n    url: ${url}\n    requestOptions: { headers: { X-Team: blue } }\n`,
    toolset: 'continue',
    header: ['x-team', 'blue'],
  },
  {
    format: 'amp',
    fileName: '.config/amp/settings.json',
    file: (url) => json({ 'amp.mcpServers': { files: { url, includeTools: ['read_*'] } }, 'amp.notifications.enabled': true }),
    toolset: 'amp',
    hidden: 'delete_file',
  },
  {
    format: 'cline',
    fileName: 'cline_mcp_settings.json',
    file: (url) =>
      json({ mcpServers: { files: { type: 'streamableHttp', url, disabled: false, autoApprove: ['read_file'], timeout: 60 } } }),
    toolset: 'cline',
  },
  {
    format: 'goose',
    fileName: '.config/goose/config.yaml',
    file: (url) =>
      `GOOSE_MODEL: m\nextensions:\n  files:\n    type: streamable_http\n    name: files\n    enabled: true\n    uri: ${url}\n    timeout: 300\n    available_tools: [read_file]\n`,
    toolset: 'goose',
    hidden: 'delete_file',
  },
  {
    // LM Studio has the notation of Cursor.
    format: 'claude',
    fileName: '.lmstudio/mcp.json',
    file: (url) => json({ mcpServers: { 'hf-mcp-server': { url, headers: { Authorization: bearer } } } }),
    toolset: 'claude',
    header: ['authorization', bearer],
  },
  {
    format: 'mcphub',
    fileName: 'mcp_settings.json',
    file: (url) =>
      json({
        mcpServers: { files: { type: 'streamable-http', url, tools: { 'files-delete_file': { enabled: false } } } },
        groups: [{ id: '1', name: 'readers', servers: [{ name: 'files', tools: ['read_file'] }] }],
        users: [],
      }),
    toolset: 'readers',
    hidden: 'delete_file',
  },
  {
    // The export of MetaMCP.
    format: 'claude',
    fileName: 'metamcp-export.json',
    file: (url) =>
      json({ mcpServers: { files: { type: 'STREAMABLE_HTTP', description: 'Files', url, bearerToken: 'walk-0123456789abcdef' } } }),
    toolset: 'claude',
    header: ['authorization', bearer],
  },
  {
    format: 'docker-mcp',
    fileName: 'docker-mcp.yaml',
    file: (url) =>
      `version: 3\nname: docker-mcp\nregistry:\n  files:\n    type: remote\n    title: Files\n    remote: { transport_type: streamable-http, url: "${url}" }\n`,
    toolset: 'docker',
  },
  {
    format: 'mcp-registry',
    fileName: 'server.json',
    file: (url) =>
      json({
        $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
        name: 'io.github.acme/files',
        description: 'Files',
        version: '1.0.0',
        remotes: [{ type: 'streamable-http', url, headers: [{ name: 'X-Team', value: 'blue' }] }],
      }),
    toolset: 'files',
    header: ['x-team', 'blue'],
  },
  {
    format: 'litellm',
    fileName: 'config.yaml',
    file: (url) =>
      `model_list: []\nmcp_servers:\n  files:\n    url: ${url}\n    transport: http\n    auth_type: bearer_token\n    auth_value: walk-0123456789abcdef\n    allowed_tools: [read_file]\n`,
    toolset: 'litellm',
    hidden: 'delete_file',
    header: ['authorization', bearer],
  },
  {
    format: 'bifrost',
    fileName: 'config.json',
    file: (url) =>
      json({
        mcp: { client_configs: [{ name: 'files', connection_type: 'http', connection_string: url, tools_to_execute: ['read_file'] }] },
      }),
    toolset: 'bifrost',
    hidden: 'delete_file',
  },
  {
    format: 'moniker',
    fileName: 'moniker.yaml',
    file: (url) =>
      `servers:\n  files: { kind: mcp, url: "${url}" }\ntoolsets:\n  work:\n    tools: [{ tool: files.read_file, aliases: [look] }]\n`,
    toolset: 'work',
    calls: ['look', 'read_file'],
    hidden: 'delete_file',
  },
];

/** Definitions without code are called at a URL. */
const definitions: [format: string, fileName: string, toolset: string, file: (url: string) => string][] = [
  [
    'openai-functions',
    'functions.json',
    'functions',
    (url) =>
      functions(url, {
        tools: [{ type: 'function', function: { name: 'read_file', description: 'Reads.', parameters: { type: 'object' } } }],
      }),
  ],
  [
    'openai-functions',
    'ai-sdk.json',
    'ai-sdk',
    (url) =>
      functions(url, { tools: { read_file: { description: 'Reads.', inputSchema: { jsonSchema: { type: 'object', properties: {} } } } } }),
  ],
  [
    'sisu',
    'sisu.json',
    'sisu',
    (url) =>
      functions(url, {
        tools: [{ name: 'readFile', description: 'Reads.', schema: { type: 'object' } }],
        aliases: { readFile: 'read_file' },
      }),
  ],
];

describe('a file', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let mcp: FakeMcpServer;
  let api: ApiServer;
  let provider: ScriptedProvider;
  let workspace = '';
  let count = 0;
  beforeAll(async () => {
    mcp = await listenMcpServer({ tools: [tool('read_file'), tool('delete_file')] });
    provider = await startScriptedProvider();
    const document = (origin: string) =>
      json({
        openapi: '3.1.0',
        info: { title: 'Shop', version: '1' },
        servers: [{ url: origin }],
        paths: {
          '/orders/{id}': {
            get: { operationId: 'getOrder', parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] },
          },
        },
      });
    api = await listenApi(document, ({ body }) => ({ content: [{ type: 'text', text: `heard ${body}` }] }));
  });
  afterAll(async () => {
    await mcp.close();
    api.close();
    provider.close();
  });

  const ask = async (method: string, path: string, body?: unknown) =>
    service.call(method, path, body, { 'x-moniker-workspace': workspace });
  const send = async (fileName: string, text: string, query = '') => {
    const response = await fetch(`${service.url}/v1/import?fileName=${encodeURIComponent(fileName)}${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'x-moniker-workspace': workspace },
      body: text,
    });
    // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests check
    return { status: response.status, json: (await response.json()) as any };
  };
  /** Plans, imports, and imports again, which has no effect. Returns the result. */
  const bring = async (format: string, fileName: string, text: string) => {
    workspace = `walk-${++count}`;
    await service.call('PUT', `/v1/workspaces/${workspace}`, {});
    const plan = await send(fileName, text, '&dryRun=true');
    expect(plan, json(plan.json)).toMatchObject({ status: 200, json: { format } });
    const done = await send(fileName, text);
    const sorted = (names: string[]) => names.toSorted();
    expect(sorted([...plan.json.created, ...plan.json.waiting.map(({ name }: { name: string }) => name)])).toEqual(
      sorted(done.json.created),
    );
    expect((await send(fileName, text)).json).toMatchObject({ created: [], updated: [], kept: [] });
    // Calls to servers that are not trusted need approval.
    for (const name of done.json.created)
      if (name.startsWith('servers.')) await ask('PATCH', `/v1/servers/${name.slice('servers.'.length)}`, { trusted: true });
    return done.json;
  };

  it.each(rows)('of $format ($fileName) gives a toolset whose calls reach its server', async ({ format, fileName, file, ...row }) => {
    const done = await bring(format, fileName, file(mcp.url));
    expect(done.created, json(done)).toContain(`toolsets.${row.toolset}`);
    const [name, called] = row.calls ?? ['read_file', 'read_file'];
    const before = mcp.heard.length;
    const result = await ask('POST', `/v1/toolsets/${row.toolset}/calls`, { name, arguments: { path: fileName } });
    expect(result.json, json(done)).toMatchObject({ isError: false });
    const heard = mcp.heard.slice(before).filter(({ method }) => method === 'tools/call');
    expect(heard.map(({ body }) => body.params)).toMatchObject([{ name: called, arguments: { path: fileName } }]);
    if (row.header !== undefined) expect(heard[0]?.headers).toMatchObject({ [row.header[0]]: row.header[1] });
    if (row.hidden !== undefined) {
      const refused = await ask('POST', `/v1/toolsets/${row.toolset}/calls`, { name: row.hidden, arguments: {} });
      expect(refused.status === 200 && refused.json.isError === false, json(refused.json)).toBe(false);
    }
    const stored = json((await ask('GET', '/v1/servers')).json);
    expect(stored).not.toContain('0123456789abcdef');
    expect(json(done)).not.toContain('0123456789abcdef');
  });

  it.each(definitions)('of %s (%s) gives tools that are called at its URL', async (format, fileName, toolset, file) => {
    const done = await bring(format, fileName, file(`${api.origin}/tools`));
    const before = api.calls.length;
    const result = await ask('POST', `/v1/toolsets/${toolset}/calls`, { name: 'read_file', arguments: { path: 'a' } });
    expect(result.json, json(done)).toMatchObject({ isError: false });
    expect(api.calls.slice(before)).toMatchObject([{ method: 'POST', path: '/tools', body: expect.stringContaining('"path":"a"') }]);
  });

  it('of OpenAPI gives tools that reach the API', async () => {
    const text = await (await fetch(api.documentUrl)).text();
    await bring('openapi', 'openapi.json', text);
    const result = await ask('POST', '/v1/toolsets/shop/calls', { name: 'getOrder', arguments: { id: '7' } });
    expect(result.json).toMatchObject({ isError: false });
    expect(api.calls.at(-1)).toMatchObject({ method: 'GET', path: '/orders/7' });
  });

  it('of HyperTool over imported servers gives their tools under its aliases', async () => {
    await bring('claude', '.mcp.json', json({ mcpServers: { files: { url: mcp.url } } }));
    const tools = [{ namespacedName: 'files.read_file', serverName: 'files', originalName: 'read_file', alias: 'look' }];
    const done = await send('toolsets.json', json({ toolsets: { reading: { name: 'reading', version: '1.0.0', tools } } }));
    expect(done.json).toMatchObject({ format: 'hypertool', created: ['toolsets.reading'] });
    const result = await ask('POST', '/v1/toolsets/reading/calls', { name: 'look', arguments: { a: 1 } });
    expect([result.json.isError, mcp.calls().at(-1)]).toEqual([false, { name: 'read_file', arguments: { a: 1 } }]);
  });

  it('of Albert gives made tools that run', async () => {
    const made = { name: 'double', description: 'Doubles.', parameters: [{ name: 'n', type: 'number', required: true }] };
    const done = await bring('albert', 'tools.json', json([{ ...made, implementation: 'return { n: args.n * 2 };' }]));
    expect(done.created).toEqual(['tools.made.double']);
    await ask('PUT', '/v1/toolsets/sums', { tools: [{ tool: 'made.double' }] });
    const result = await ask('POST', '/v1/toolsets/sums/calls', { name: 'double', arguments: { n: 21 } });
    expect(json(result.json)).toContain('42');
  });

  it.each([
    [
      'litellm',
      'config.yaml',
      'team/fast',
      (baseUrl: string) =>
        `model_list:\n  - model_name: team/fast\n    litellm_params: { model: openai/small, api_base: "${baseUrl}", api_key: key-0123456789abcdef }\n`,
    ],
    ...['team/route', 'tuned'].map((name): [string, string, string, (baseUrl: string) => string] => [
      'litellm',
      'config.yaml',
      name,
      (baseUrl: string) =>
        json({
          model_list: ['http://127.0.0.1:9/v1', baseUrl].map((api_base, index) => ({
            model_name: name,
            litellm_params: {
              ...{ model: 'openai/small', api_base, api_key: 'key-0123456789abcdef', order: index },
              ...(name === 'tuned' && { temperature: 0.5 }),
            },
          })),
          router_settings: { num_retries: 1 },
          litellm_settings: { cache: true, cache_params: { type: 'redis', ttl: 60 } },
        }),
    ]),
    [
      'portkey',
      'portkey.json',
      'shared',
      (baseUrl: string) => {
        const target = { provider: 'openai', api_key: 'key-0123456789abcdef', override_params: { model: 'small' } };
        const targets = ['http://127.0.0.1:9/v1', baseUrl].map((custom_host) => ({ ...target, custom_host, weight: 1 }));
        return json({ slug: 'shared', strategy: { mode: 'loadbalance' }, targets, retry: { attempts: 1 } });
      },
    ],
    [
      'portkey',
      'portkey.json',
      'portkey',
      (baseUrl: string) =>
        json({ provider: 'openai', api_key: 'key-0123456789abcdef', custom_host: baseUrl, override_params: { model: 'small' } }),
    ],
    [
      'bifrost',
      'config.json',
      'openai/small',
      (baseUrl: string) =>
        json({
          providers: {
            openai: {
              keys: ['k', 'l'].map((name) => ({ name, value: `key-${name}-0123456789abcdef`, models: ['small'] })),
              network_config: { base_url: baseUrl.replace(/\/v1$/, '') },
            },
          },
        }),
    ],
  ])('of %s (%s) answers chat completions by its own model name %s', async (format, fileName, model, file) => {
    const done = await bring(format, fileName, file(provider.baseUrl));
    const answer = await ask('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });
    expect(answer.json, json(done)).toMatchObject({ choices: [{ message: { content: 'done' } }] });
    expect(json(done)).not.toContain('0123456789abcdef');
  });
});
