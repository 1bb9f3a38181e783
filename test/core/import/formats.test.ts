// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the files
/** A sample of each format, and what becomes of its parts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importFormats } from '../../../src/core/import/names.ts';
import type { ImportResult } from '../../../src/core/import/draft.ts';
import { expandVariables } from '../../../src/core/project/expand-variables.ts';
import { Project } from '../../../src/core/project/project.ts';
import { readImport } from '../../../src/formats/read-import.ts';

const samples: Record<string, string> = {
  'claude_desktop_config.json': 'claude',
  'mcp.json': 'claude',
  'cursor/mcp.json': 'cursor',
  'windsurf/mcp_config.json': 'windsurf',
  'vscode/mcp.json': 'vscode',
  'kiro/agent.json': 'kiro',
  'codex/config.toml': 'codex',
  'opencode/opencode.json': 'opencode',
  'gemini/settings.json': 'gemini',
  'copilot/mcp-config.json': 'copilot',
  'continue/config.yaml': 'continue',
  'amp/settings.json': 'amp',
  'cline/cline_mcp_settings.json': 'cline',
  'goose/config.yaml': 'goose',
  'mcphub/mcp_settings.json': 'mcphub',
  'docker/catalog.yaml': 'docker-mcp',
  'registry/server.json': 'mcp-registry',
  'zed/settings.json': 'zed',
  'hypertool-toolsets.json': 'hypertool',
  'openai-functions.json': 'openai-functions',
  'sisu-tools.json': 'sisu',
  'albert-tools.json': 'albert',
  'alias-map.json': 'alias-map',
  'litellm.yaml': 'litellm',
  'portkey.json': 'portkey',
  'bifrost.json': 'bifrost',
  'openapi.yaml': 'openapi',
  'swagger.json': 'openapi',
  'moniker.yaml': 'moniker',
};

function read(sample: string, format?: (typeof importFormats)[number]): ImportResult {
  return readImport(readFileSync(join(import.meta.dirname, 'samples', sample)), { fileName: sample, format });
}

const reasons = ({ skipped }: ImportResult): Record<string, string> =>
  Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]));

describe('a URL with a key in its query', () => {
  const serverOf = (url: string): ImportResult =>
    readImport(new TextEncoder().encode(JSON.stringify({ mcpServers: { search: { url } } })), { fileName: 'mcp.json' });

  it('gives a secret that is bound to the host, and a URL without it', () => {
    const result = serverOf('https://mcp.search.example/mcp?apiKey=abc-0123456789&mode=fast');
    expect(result.skipped).toEqual([]);
    const [name = '', secret] = Object.entries(result.project.secrets ?? {})[0] ?? [];
    expect(secret).toMatchObject({ value: 'abc-0123456789', hosts: ['mcp.search.example:443'] });
    expect(result.project.servers?.search).toEqual({
      kind: 'mcp',
      url: 'https://mcp.search.example/mcp?mode=fast',
      query: { apiKey: { secret: name } },
    });
    expect(JSON.stringify(result.project.servers)).not.toContain('abc-0123456789');
  });

  it('takes the name of a variable, and leaves a place for a value that is missing', () => {
    const { project } = serverOf('https://mcp.search.example/mcp?k=${SEARCH_API_KEY}');
    expect(project.servers?.search).toMatchObject({ url: 'https://mcp.search.example/mcp', query: { k: { secret: 'SEARCH_API_KEY' } } });
    const { skipped } = serverOf('https://mcp.search.example/mcp?team=${TEAM}');
    expect(skipped).toMatchObject([{ name: 'mcpServers.search', reason: expect.stringContaining('is no URL as it is') }]);
  });
});

describe('a file of another system', () => {
  it.each(Object.entries(samples))('%s is recognized as %s, and gives documents that can be written', (sample, format) => {
    const result = read(sample);
    expect(result.format).toBe(format);
    const { project } = expandVariables(result.project, { PWD: '/work', HOME: '/home/ada', AWS_REGION: 'us-east-1' });
    expect(Project.safeParse(project).error?.issues ?? []).toEqual([]);
    expect(read(sample, format as (typeof importFormats)[number])).toEqual(result);
    for (const { reason } of result.skipped) expect(reason).toMatch(/^\S.{5,}[^.\s]$/);
  });

  it('has a sample for each format', () => {
    expect([...new Set(Object.values(samples))].sort()).toEqual([...importFormats].sort());
  });

  it('is rejected if it is not of the format that was named', () => {
    expect(() => read('litellm.yaml', 'vscode')).toThrow(/is not mcp.json of VS Code: it needs an object `servers`/);
  });
});

describe('the servers of an MCP client', () => {
  it('become servers, with credentials as secrets that are bound to them, and a toolset with all tools', () => {
    const { project } = read('claude_desktop_config.json');
    expect(project.servers).toMatchObject({
      filesystem: {
        kind: 'mcp',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/Users/ada/Documents', '/Users/ada/Projects'],
      },
      'github-mcp': { env: { GITHUB_PERSONAL_ACCESS_TOKEN: { secret: 'GITHUB_PERSONAL_ACCESS_TOKEN' }, GITHUB_TOOLSETS: 'repos,issues' } },
      postgres: { args: ['-y', '@modelcontextprotocol/server-postgres', { secret: 'POSTGRES_URL' }] },
      tickets: { url: 'https://tickets.example.com/sse', headers: { Authorization: { secret: 'TICKETS_TOKEN' } } },
    });
    expect(project.secrets).toEqual({
      GITHUB_PERSONAL_ACCESS_TOKEN: { value: 'ghp_0123456789abcdefghijABCDEFGHIJ012345', hosts: ['github-mcp.stdio'] },
      POSTGRES_URL: { value: 'postgresql://ada:s3cret-pass@db.example.com:5432/app', hosts: ['postgres.stdio'] },
      // The file has a placeholder.
      BRAVE_API_KEY: { hosts: ['brave-search.stdio'] },
      TICKETS_TOKEN: { value: 'Bearer tk-live-0123456789abcdef', hosts: ['tickets.example.com:443'] },
    });
    expect(project.toolsets?.claude?.tools.map(({ tool }) => tool)).toEqual([
      'filesystem.*',
      'github-mcp.*',
      'postgres.*',
      'brave-search.*',
      'tickets.*',
    ]);
    expect(JSON.stringify([project.servers, project.toolsets])).not.toMatch(/ghp_|s3cret|tk-live/);
  });

  it('have the variables of a project file, with those of headers inside secrets', () => {
    const { project, skipped } = read('mcp.json');
    expect(project.servers?.['api-server']).toEqual({
      kind: 'mcp',
      url: 'https://api.example.com/mcp',
      headers: { Authorization: { secret: 'API_SERVER_TOKEN' }, 'X-Team': 'platform' },
    });
    expect(project.secrets?.API_SERVER_TOKEN).toEqual({ value: 'Bearer ${API_KEY}', hosts: ['api.example.com:443'] });
    expect(project.servers?.figma).toMatchObject({ oauth: { grant: 'authorization_code', clientId: 'figma-client' } });
    expect(skipped.map(({ name }) => name)).toContain('mcpServers.internal');
  });

  it('may be in JSON with comments and trailing commas, with the variables of Cursor', () => {
    const { project } = read('cursor/mcp.json');
    expect(project.servers?.weather).toMatchObject({ args: ['${PWD}/server.py', '--cache', '${HOME}/.cache'] });
    expect(project.secrets).toMatchObject({
      SUPABASE_ACCESS_TOKEN: { value: 'sbp_0123456789abcdef0123456789abcdef01234567', hosts: ['supabase.stdio'] },
      WEATHER_KEY: { value: '${WEATHER_KEY}' },
      LINEAR_CLIENT_SECRET: { value: '${LINEAR_SECRET}' },
    });
  });

  it('that are disabled are skipped, and disabled tools are left out of the toolset', () => {
    const result = read('windsurf/mcp_config.json');
    expect(reasons(result)).toEqual({ 'mcpServers.old': 'is disabled in the file' });
    expect(result.project.toolsets?.windsurf?.tools).toContainEqual({ tool: 'github.*', except: ['delete_file', 'fork_repository'] });
    expect(result.project.secrets?.NOTES_TOKEN).toEqual({ hosts: ['local-notes.stdio'] });
  });

  it('use the inputs of VS Code as environment variables', () => {
    const { project, skipped } = read('vscode/mcp.json');
    expect(project.servers?.perplexity).toMatchObject({ args: ['-y', 'server-perplexity-ask', '--region', '${REGION:-eu}'] });
    expect(project.secrets).toMatchObject({
      GITHUB_TOKEN: { value: 'Bearer ${GITHUB_PAT}', hosts: ['api.githubcopilot.com:443'] },
      PERPLEXITY_KEY: { value: '${PERPLEXITY_KEY}' },
    });
    expect(project.servers?.playwright).toMatchObject({ cwd: '${PWD}' });
    expect(skipped.map(({ name }) => name)).toEqual(['servers.perplexity.envFile', 'servers.picked']);
  });

  it('of Zed may have older forms; those of its extensions have no command', () => {
    const result = read('zed/settings.json');
    expect(Object.keys(result.project.servers ?? {})).toEqual(['local-server', 'older', 'remote']);
    expect(result.project.servers?.older).toMatchObject({
      command: 'node',
      args: ['server.js'],
      env: { API_TOKEN: { secret: 'API_TOKEN' } },
    });
    expect(Object.keys(reasons(result))).toEqual(['context_servers.postgres-context-server', 'context_servers.off', 'theme']);
  });
});

describe('an agent of Kiro', () => {
  it('becomes a toolset with aliases, and tools that need no approval', () => {
    const { project } = read('kiro/agent.json');
    expect(project.toolsets?.['aws-expert']?.tools).toEqual([
      // Approved, but of fetch the agent has only one tool.
      { tool: 'fetch.fetch', aliases: ['get_page'], approval: 'never' },
      { tool: 'git.*', except: ['git_reset'] },
      { tool: 'git.git_log', approval: 'never' },
      { tool: 'git.git_status', aliases: ['status'], approval: 'never' },
    ]);
    expect(project.agents?.['aws-expert']).toMatchObject({
      instructions: 'You are an AWS infrastructure specialist.',
      toolset: 'aws-expert',
    });
  });
});

describe('toolsets of HyperTool', () => {
  it('keep their names, aliases and notes, and leave the refId out of what models read', () => {
    const result = read('hypertool-toolsets.json');
    expect(JSON.stringify(result.project)).not.toContain('3f7a1c0b9e2d4f6a');
    expect(result.warnings.find(({ message }) => message.includes('refId'))).toEqual({
      path: 'toolsets.dev-essentials',
      message: 'the refId of git.status, Docker Hub.ps is left out: it is a hash of other members than that of Moniker',
    });
    expect(result.project.toolsets?.['dev-essentials']?.tools).toMatchObject([
      { tool: 'git.status', aliases: ['git_status'] },
      { tool: 'docker-hub.ps', aliases: ['docker_ps'] },
      { tool: 'git.log', notes: [{ name: 'when', note: 'Use it before a release.' }] },
    ]);
    expect(Object.keys(reasons(result))).toEqual(['toolsets.dev-essentials.tools[3]', 'toolsets.Empty_Set']);
  });
});

it('names the notes of a HyperTool toolset that are too many', () => {
  const notes = Array.from({ length: 22 }, (_, index) => ({ name: `n${index}`, note: 'Use it.' }));
  const toolset = { name: 'many', tools: [{ namespacedName: 'git.log' }], toolNotes: [{ toolRef: { namespacedName: 'git.log' }, notes }] };
  const result = readImport(new TextEncoder().encode(JSON.stringify({ toolsets: { many: toolset } })), { format: 'hypertool' });
  expect(result.project.toolsets?.many?.tools[0]?.notes).toHaveLength(20);
  expect(Object.keys(reasons(result))).toEqual(['toolsets.many.tools[0] note n20', 'toolsets.many.tools[0] note n21']);
});

describe('a list of definitions', () => {
  it('becomes a static server that says that it needs an endpoint', () => {
    const { project, warnings, skipped } = read('openai-functions.json');
    const [server] = Object.values(project.servers ?? {});
    expect(server).toMatchObject({
      kind: 'static',
      tools: [{ name: 'get_current_weather' }, { name: 'send_email' }, { name: 'lookup order' }],
    });
    expect(warnings.map(({ message }) => message).join()).toContain('"url"');
    expect(reasons({ skipped } as ImportResult)).toMatchObject({ '[3]': expect.stringContaining('web_search_preview') });
  });

  it('of SISU has aliases, and names built-in tools where they do the same', () => {
    const { project, skipped } = read('sisu-tools.json');
    expect(project.toolsets?.sisu?.tools).toEqual([
      { tool: 'builtin.bash', name: 'terminalRun', aliases: ['bash', 'run_command'] },
      { tool: 'sisu.webFetch', aliases: ['fetch_url'] },
      { tool: 'sisu.summarizeText', aliases: ['summary'] },
    ]);
    expect(skipped).toEqual([{ name: 'aliases.missingTool', reason: 'names no tool of the list' }]);
  });

  it('of Albert becomes made tools, except for what the sandbox cannot run', () => {
    const result = read('albert-tools.json');
    expect(Object.keys(result.project.tools ?? {})).toEqual(['made.find_and_replace', 'made.count_lines']);
    expect(reasons(result)).toMatchObject({
      '[2]': expect.stringContaining('"disk_usage" loads modules'),
      '[3]': expect.stringContaining('"bash" has no implementation'),
    });
  });
});

describe('model gateways', () => {
  it('of LiteLLM turns models into providers, aliases with targets, and agents with settings', () => {
    const result = read('litellm.yaml');
    const { providers, modelAliases, agents, secrets, servers } = result.project;
    expect(providers).toMatchObject({
      azure: { kind: 'azure-openai', baseUrl: 'https://my-endpoint-europe.openai.azure.com', apiKeySecret: 'AZURE_API_KEY_EU' },
      openai: { kind: 'openai', apiKeySecret: 'OPENAI_API_KEY' },
      ollama: { baseUrl: 'http://localhost:11434/v1' },
      mistral: { apiKeySecret: 'MISTRAL_API_KEY' },
    });
    expect(agents).toMatchObject({
      fast: { model: 'fast-models', settings: { temperature: 0.2 } },
    });
    expect(modelAliases).toMatchObject({
      'gpt-4': {
        targets: [
          { model: 'azure/gpt-4o-eu', weight: 6 },
          { model: 'openai/gpt-4o', weight: 0 },
        ],
        strategy: 'weighted',
        retries: 2,
      },
      'claude-sonnet': { fallbacks: ['azure/gpt-4o-eu', 'openai/gpt-4o'], retries: 2 },
      local: { targets: [{ model: 'ollama/llama3.1' }], retries: 2 },
      small: { targets: [{ model: 'ollama/llama3.1' }], retries: 2 },
      'fast-models': { targets: [{ model: 'groq/llama-3.3-70b-versatile' }], retries: 2 },
      fast: { model: 'agent/fast' },
    });
    expect(secrets).toMatchObject({
      OPENAI_API_KEY: { value: '${OPENAI_API_KEY}', hosts: ['api.openai.com:443'] },
      TICKETS_TOKEN: { value: 'Bearer ${TICKETS_TOKEN}' },
    });
    expect(Object.keys(servers ?? {})).toEqual(['deepwiki', 'tickets']);
    expect(reasons(result)).toMatchObject({
      'model_list[7]': expect.stringContaining('"embeddings" is of the mode "embedding"'),
      'litellm_settings.fallbacks[1].nobody': expect.stringContaining('is not in model_list'),
      'general_settings.master_key': expect.stringContaining('POST /v1/keys'),
    });
    expect(JSON.stringify(result)).not.toContain('sk-1234');
  });

  it('of Portkey: targets become those of a route, which an agent with settings uses; keys in its vault have to be set', () => {
    const { project } = read('portkey.json');
    expect(project.agents?.portkey).toMatchObject({ model: 'portkey-models', settings: { temperature: 0.3 } });
    expect(project.modelAliases?.['portkey-models']).toEqual({
      targets: [{ model: 'openai/gpt-4o' }],
      fallbacks: [
        ...['anthropic/claude-sonnet-4-20250514', 'groq/llama-3.3-70b-versatile'],
        ...['mistral/mistral-large-latest', 'bedrock/amazon.titan'],
      ],
      retries: 3,
    });
    expect(project.secrets?.ANTHROPIC_API_KEY).toEqual({ hosts: ['api.anthropic.com:443'] });
  });
});

it('takes the timeouts of MCP servers, and names those that are lowered', () => {
  const mcpServers = { build: { command: 'make', timeout: 120 }, far: { url: 'https://mcp.example.com', timeoutMs: 7_200_000 } };
  const { project, warnings } = readImport(new TextEncoder().encode(JSON.stringify({ mcpServers })), { fileName: 'mcp.json' });
  expect(project.servers).toMatchObject({ build: { command: 'make', timeoutMs: 120_000 }, far: { timeoutMs: 3_600_000 } });
  expect(warnings).toEqual([{ path: 'mcpServers.far.timeoutMs', message: 'is 7200000 ms; at most 3600000 ms are used' }]);
});

it('takes the timeouts of a model gateway as those of its providers', () => {
  const litellm = {
    model_list: [
      { model_name: 'chat', litellm_params: { model: 'openai/gpt-4o', timeout: 20, stream_timeout: 5 } },
      { model_name: 'other', litellm_params: { model: 'groq/llama' } },
    ],
    router_settings: { timeout: 30 },
    litellm_settings: { request_timeout: 6_000 },
  };
  const portkey = {
    request_timeout: 9000,
    targets: [
      { provider: 'openai', api_key: 'k', request_timeout: 500, override_params: { model: 'gpt-4o' } },
      { provider: 'groq', api_key: 'k', override_params: { model: 'llama' } },
    ],
  };
  const providers = (value: object, format: (typeof importFormats)[number]) =>
    readImport(new TextEncoder().encode(JSON.stringify(value)), { fileName: 'config.json', format });
  const { project, warnings } = providers(litellm, 'litellm');
  expect(project.providers).toMatchObject({
    openai: { timeouts: { firstByteMs: 5_000, wholeMs: 20_000 } },
    groq: { timeouts: { firstByteMs: 30_000, wholeMs: 30_000 } },
  });
  expect(warnings).toEqual([{ path: 'litellm_settings.request_timeout', message: '6000000 ms is more than 600000, which is used' }]);
  expect(providers(portkey, 'portkey').project.providers).toMatchObject({
    openai: { timeouts: { firstByteMs: 500, wholeMs: 500 } },
    groq: { timeouts: { wholeMs: 9_000 } },
  });
});

it('a map of names becomes the name map of the workspace', () => {
  expect(read('alias-map.json').project.workspace?.settings.nameMap).toEqual({
    flashcards: 'create_flashcard',
    MindMap: 'create_mindmap',
    websearch: 'web_search',
    htmlinteractive: 'create_demo',
  });
});
