// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the files
/** Files of model gateways: what becomes of their parts, and what is said of the others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportResult } from '../../../src/core/import/draft.ts';
import { settleImport } from '../../../src/core/import/settle-import.ts';
import { readImport } from '../../../src/formats/read-import.ts';

function read(value: object, fileName = 'config.yaml'): ImportResult {
  return readImport(new TextEncoder().encode(JSON.stringify(value)), { fileName });
}

const reasons = ({ skipped }: ImportResult): Record<string, string> =>
  Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]));
const row = (name: string, model: string, params: object = {}, info?: object) => ({
  model_name: name,
  litellm_params: { model, ...params },
  ...(info !== undefined && { model_info: info }),
});

describe('deployments of LiteLLM', () => {
  it('get what the merge keys of their YAML add, which is said', () => {
    const common = 'x-common: &common\n  api_key: sk-0123456789abcdef0123\n  api_base: http://127.0.0.1:9/v1\n';
    const model = 'model_list:\n  - model_name: gpt-4o\n    litellm_params:\n      <<: *common\n      model: openai/gpt-4o\n';
    const { project, warnings } = readImport(new TextEncoder().encode(common + model), { fileName: 'config.yaml' });
    const provider = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', apiKeySecret: 'OPENAI_API_KEY' };
    expect(project.providers).toEqual({ 'openai-compatible': provider });
    expect(warnings).toEqual([{ path: '', message: expect.stringContaining('merge keys') }]);
  });

  it('of one service with different keys, headers or timeouts get providers of their own', () => {
    const { project } = read({
      model_list: [
        row('a', 'openai/gpt-4o', { api_key: 'sk-1111111111111111' }),
        row('b', 'openai/gpt-4o', { api_key: 'sk-1111111111111111', organization: 'org-1' }),
        row('c', 'openai/gpt-4o', { api_key: 'sk-2222222222222222', extra_headers: { 'X-Token': 'tk-3333333333333333' } }),
        row('d', 'openai/gpt-5', { api_key: 'sk-1111111111111111' }),
      ],
    });
    expect(project.modelAliases).toMatchObject({
      a: { model: 'openai/gpt-4o' },
      b: { model: 'openai-2/gpt-4o' },
      c: { model: 'openai-3/gpt-4o' },
      d: { model: 'openai/gpt-5' },
    });
    expect(project.providers?.['openai-2']).toMatchObject({ headers: { 'OpenAI-Organization': 'org-1' } });
    expect(project.providers?.['openai-3']).toMatchObject({ headers: { 'X-Token': { secret: 'OPENAI_X_TOKEN' } } });
    expect(JSON.stringify([project.providers, project.modelAliases])).not.toMatch(/1111|2222|3333/);
  });

  it('without a key use the variable that the service is known for, but not at another address', () => {
    const { project } = read({
      model_list: [
        row('a', 'groq/llama'),
        row('b', 'openai/local', { api_base: 'http://127.0.0.1:8000/v1' }),
        row('c', 'ollama_chat/llama3'),
      ],
    });
    expect(project.secrets).toEqual({ GROQ_API_KEY: { value: '${GROQ_API_KEY}', hosts: ['api.groq.com:443'] } });
    expect(project.providers).toMatchObject({
      groq: { apiKeySecret: 'GROQ_API_KEY' },
      'openai-compatible': { baseUrl: 'http://127.0.0.1:8000/v1' },
    });
  });

  it('have the values of `environment_variables`, whose others are named', () => {
    const result = read({
      environment_variables: { MY_KEY: 'gsk-0123456789abcdef', MY_BASE: 'https://llm.example.com/v1', REDIS_HOST: 'cache' },
      model_list: [row('a', 'openai/x', { api_key: 'os.environ/MY_KEY', api_base: 'os.environ/MY_BASE' })],
    });
    expect(result.project.secrets).toEqual({ MY_KEY: { value: 'gsk-0123456789abcdef', hosts: ['llm.example.com:443'] } });
    expect(result.project.providers).toMatchObject({ 'openai-compatible': { baseUrl: 'https://llm.example.com/v1' } });
    expect(reasons(result)).toEqual({ 'environment_variables.REDIS_HOST': 'is not used by anything that is imported' });
    expect(JSON.stringify(result.project.providers)).not.toContain('gsk-');
  });

  it('use the credentials that they name, and are skipped without them', () => {
    const result = read({
      credential_list: [
        { credential_name: 'eu', credential_values: { api_key: 'os.environ/EU_KEY', api_base: 'https://eu.example.com/v1' } },
      ],
      model_list: [row('a', 'openai/x', { litellm_credential_name: 'eu' }), row('b', 'openai/x', { litellm_credential_name: 'us' })],
    });
    expect(result.project.providers).toEqual({
      'openai-compatible': { kind: 'openai-compatible', baseUrl: 'https://eu.example.com/v1', apiKeySecret: 'EU_KEY' },
    });
    expect(reasons(result)).toEqual({ 'model_list[1]': '"b" names the credential "us", which is not in credential_list' });
  });

  it('with a base URL that only the environment has keep it as a variable, and never use that of OpenAI', () => {
    const { project, warnings } = read({
      model_list: [
        row('a', 'openai/x', { api_base: 'os.environ/LLM_BASE', api_key: 'os.environ/LLM_KEY' }),
        row('b', 'azure/y', { api_base: 'os.environ/AZURE_BASE', api_key: 'os.environ/AZURE_KEY', api_version: '2024-06-01' }),
      ],
    });
    expect(project.providers).toEqual({
      'openai-compatible': { kind: 'openai-compatible', baseUrl: '${LLM_BASE}', apiKeySecret: 'LLM_KEY' },
      azure: { kind: 'azure-openai', baseUrl: '${AZURE_BASE}', apiVersion: '2024-06-01', apiKeySecret: 'AZURE_KEY' },
    });
    // The hosts of a secret without hosts are those of the providers that name it.
    expect(project.secrets).toEqual({ LLM_KEY: { value: '${LLM_KEY}' }, AZURE_KEY: { value: '${AZURE_KEY}' } });
    expect(warnings).toEqual([]);
  });

  it('with a base URL whose variable is not set are skipped when the command line sends what it read', () => {
    const { project } = read({ model_list: [row('a', 'openai/x', { api_base: 'os.environ/LLM_BASE' }), row('b', 'groq/y')] });
    const sent = readImport(new TextEncoder().encode(JSON.stringify(project)), { format: 'moniker' });
    const settled = settleImport(sent.project);
    expect(Object.keys(settled.project.providers ?? {})).toEqual(['groq']);
    expect(settled.skipped).toEqual([{ name: 'providers.openai-compatible', reason: expect.stringContaining('${LLM_BASE}') }]);
  });

  it.each(['not a url', 'ftp://x', 'https://user:pw@host/v1'])('with the bad base URL %s are skipped', (api_base) => {
    const result = read({ model_list: [row('a', 'openai/gpt-4o', { api_base })] });
    expect(result.project.providers).toBeUndefined();
    expect(result.project.modelAliases).toBeUndefined();
    expect(Object.keys(reasons(result))).toContain('model_list[0]');
    expect(JSON.stringify(result)).not.toContain('user:pw');
  });

  it('of a service that is not known are skipped without a base URL', () => {
    const result = read({ model_list: [row('a', 'x', { custom_llm_provider: 'acme' }), row('b', 'acme/y')] });
    expect(result.project).toEqual({});
    expect(Object.keys(reasons(result))).toEqual(['model_list[0]', 'model_list[1]']);
  });

  it('have prices for a million tokens, and the first of two counts', () => {
    const result = read({
      model_list: [
        row('a', 'openai/gpt-4o', { input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001 }),
        row('b', 'openai/gpt-5', {}, { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, cache_read_input_token_cost: 1e-7 }),
        row('c', 'openai/gpt-4o', { input_cost_per_token: 1, output_cost_per_token: 1 }),
        row('d', 'openai/gpt-6', { input_cost_per_token: 1e-6, input_cost_per_second: 1 }),
      ],
    });
    expect(result.project.providers?.openai?.prices).toEqual({
      'gpt-4o': { input: 2.5, output: 10 },
      'gpt-5': { input: 1, output: 2, cachedInput: 0.1 },
    });
    expect(Object.keys(reasons(result))).toEqual([
      'model_list[2].litellm_params.input_cost_per_token',
      'model_list[3].litellm_params.input_cost_per_token',
      'model_list[3].litellm_params.input_cost_per_second',
    ]);
  });

  it('of one name are the targets of a route, with their weights, and those of a higher order replace them', () => {
    const { project, skipped } = read({
      model_list: [
        row('chat', 'openai/c', { order: 2 }),
        row('chat', 'openai/b', { order: 1, weight: 1 }),
        row('chat', 'openai/a', { order: 1, weight: 9 }),
      ],
      router_settings: { routing_strategy: 'simple-shuffle' },
    });
    const targets = [
      { model: 'openai/b', weight: 1 },
      { model: 'openai/a', weight: 9 },
    ];
    expect(project.modelAliases).toEqual({ chat: { targets, strategy: 'weighted', sticky: 'none', fallbacks: ['openai/c'] } });
    expect([project.agents, skipped]).toEqual([undefined, []]);
  });

  it('share the requests by rpm if they have no weight, with a warning, and not with other strategies', () => {
    const model_list = [row('chat', 'openai/a', { rpm: 90 }), row('chat', 'openai/b', { rpm: 10 }), row('one', 'openai/c', { rpm: 5 })];
    const shared = read({ model_list });
    const targets = [
      { model: 'openai/a', weight: 90 },
      { model: 'openai/b', weight: 10 },
    ];
    expect(shared.project.modelAliases?.chat).toMatchObject({ targets });
    expect(shared.warnings.map(({ path }) => path)).toEqual(['model_list[0].litellm_params.rpm', 'model_list[1].litellm_params.rpm']);
    expect(Object.keys(reasons(shared))).toEqual(['model_list[2].litellm_params.rpm']);
    const fast = read({ model_list, router_settings: { routing_strategy: 'latency-based-routing' } });
    expect(fast.project.modelAliases?.chat).toMatchObject({
      targets: [{ model: 'openai/a' }, { model: 'openai/b' }],
      strategy: 'lowest-latency',
    });
    expect(Object.keys(reasons(fast))).toEqual([0, 1, 2].map((index) => `model_list[${index}].litellm_params.rpm`));
    const cheap = read({ model_list, router_settings: { routing_strategy: 'cost-based-routing' } });
    expect(cheap.project.modelAliases?.chat).toMatchObject({ strategy: 'weighted' });
    expect(Object.keys(reasons(cheap))).toContain('router_settings.routing_strategy');
  });

  it('that are the same twice are one target with the weight of both, and 33 are too many', () => {
    const model_list = [
      row('chat', 'openai/a', { weight: 1 }),
      row('chat', 'openai/a', { weight: 2 }),
      row('chat', 'openai/b', { weight: 1 }),
      ...Array.from({ length: 33 }, (_, index) => row('many', `openai/${index}`)),
    ];
    const result = read({ model_list });
    expect(result.project.modelAliases?.chat?.targets).toEqual([
      { model: 'openai/a', weight: 3 },
      { model: 'openai/b', weight: 1 },
    ]);
    expect(result.project.modelAliases?.many?.targets).toHaveLength(32);
    expect(reasons(result)).toEqual({ 'model_list[3]': expect.stringContaining('openai/32 is left out') });
  });

  it('with retries and a cache of equal requests have those of an alias, and the names of providers do not', () => {
    const { project, skipped, warnings } = read({
      model_list: [row('a', 'openai/a'), row('b', 'openai/b', { temperature: 0 }), row('groq/*', 'groq/*')],
      router_settings: { num_retries: 9 },
      litellm_settings: { num_retries: 1, cache: true, cache_params: { type: 'redis', ttl: 600, host: 'cache' } },
    });
    const cache = { ttl: 600, scope: 'workspace' };
    expect(project.modelAliases).toEqual({
      a: { targets: [{ model: 'openai/a' }], retries: 5, cache },
      'b-models': { targets: [{ model: 'openai/b' }], retries: 5 },
      b: { model: 'agent/b', cache },
    });
    expect(project.agents).toEqual({ b: { model: 'b-models', settings: { temperature: 0 } } });
    expect(skipped.map(({ name }) => name)).toEqual(['litellm_settings.num_retries', 'litellm_settings.cache_params.host']);
    expect(warnings.map(({ path }) => path)).toEqual(['router_settings.num_retries', 'model_list[2].model_name', 'model_list[1]']);
  });

  it('keep their names from the routes of agents', () => {
    const model_list = [row('a', 'openai/a', { temperature: 0 }), row('a', 'openai/b', { temperature: 0 }), row('a-models', 'openai/c')];
    const { project, warnings } = read({ model_list, router_settings: { model_group_alias: { 'a-models-2': 'a-models' } } });
    expect(project.agents?.a?.model).toBe('a-models-3');
    expect(Object.keys(project.modelAliases ?? {})).toEqual(['a-models-3', 'a', 'a-models', 'a-models-2']);
    expect(project.modelAliases?.['a-models']).toEqual({ model: 'openai/c' });
    expect(warnings.map(({ path }) => path)).toEqual(['model_list[0]']);
  });

  it.each([
    { type: 'redis-semantic', ttl: 600 },
    { type: 'local' },
    { type: 'local', ttl: 5 },
    { type: 'local', ttl: 600, mode: 'default_off' },
    { type: 'local', ttl: 600, supported_call_types: ['aembedding'] },
  ])('are not cached as %o says', (cache_params) => {
    const result = read({ model_list: [row('a', 'openai/a')], litellm_settings: { cache: true, cache_params } });
    expect(result.project.modelAliases).toEqual({ a: { model: 'openai/a' } });
    expect(Object.keys(reasons(result))).toEqual(['litellm_settings.cache', 'litellm_settings.cache_params']);
  });

  it('with parameters become an agent with settings, and what is no setting is named', () => {
    const result = read({
      model_list: [row('a', 'openai/gpt-5', { temperature: 0.1, top_p: 7, max_tokens: 10, reasoning_effort: 'low', seed: 1, odd: 1 })],
      router_settings: { default_litellm_params: { temperature: 1, parallel_tool_calls: false } },
    });
    expect(result.project.agents?.a?.settings).toEqual({
      temperature: 0.1,
      parallelToolCalls: false,
      maxOutputTokens: 10,
      reasoningEffort: 'low',
    });
    expect(Object.keys(reasons(result))).toEqual(['top_p', 'seed', 'odd'].map((name) => `model_list[0].litellm_params.${name}`));
  });

  it('with patterns get providers under the names that clients use', () => {
    const result = read({
      model_list: [
        row('chat', 'openai/gpt-4o', { api_key: 'sk-1111111111111111' }),
        row('openai/*', 'openai/*', { api_key: 'sk-2222222222222222' }),
        row('fast/*', 'groq/*'),
        row('*', '*'),
        row('claude-*', 'anthropic/claude-*'),
        row('gpt-*', 'openai/gpt-4o', { api_key: 'sk-1111111111111111' }),
      ],
    });
    expect(result.project.providers).toMatchObject({ openai: {}, fast: { baseUrl: 'https://api.groq.com/openai/v1' }, 'openai-2': {} });
    expect(result.project.secrets?.[result.project.providers?.openai?.apiKeySecret ?? '']).toMatchObject({ value: 'sk-2222222222222222' });
    expect(result.project.modelAliases).toEqual({ chat: { model: 'openai-2/gpt-4o' }, 'gpt-*': { model: 'openai-2/gpt-4o' } });
    expect(reasons(result)).toEqual({
      'model_list[3]': expect.stringContaining('every model of every service'),
      'model_list[4].model_name': expect.stringContaining('clients use anthropic/<model>'),
    });
  });
});

describe('fallbacks of LiteLLM', () => {
  it('become those of routes; default ones are for the models without others', () => {
    const result = read({
      model_list: [row('a', 'openai/a'), row('b', 'openai/b'), row('c', 'openai/c')],
      router_settings: { fallbacks: [{ a: ['b', 'missing'] }] },
      litellm_settings: { fallbacks: [{ a: ['c'] }], default_fallbacks: ['c'], context_window_fallbacks: [{ a: ['b'] }] },
    });
    expect(result.project.modelAliases).toEqual({
      a: { targets: [{ model: 'openai/a' }], fallbacks: ['openai/b'], contextFallback: 'openai/b' },
      b: { targets: [{ model: 'openai/b' }], fallbacks: ['openai/c'] },
      c: { model: 'openai/c' },
    });
    expect(Object.keys(reasons(result))).toEqual(['router_settings.fallbacks[0].a', 'litellm_settings.fallbacks[0].a']);
  });

  it('name each model of a group, and one for long conversations, and say what is left out', () => {
    const result = read({
      model_list: [row('a', 'openai/a'), row('b', 'openai/b'), row('b', 'openai/c')],
      router_settings: { fallbacks: [{ a: ['b'] }], context_window_fallbacks: [{ a: ['b'] }] },
    });
    expect(result.project.modelAliases?.a).toMatchObject({ fallbacks: ['openai/b', 'openai/c'], contextFallback: 'openai/b' });
    expect(reasons(result)).toEqual({ 'model_list[0]': expect.stringContaining('openai/c of context_window_fallbacks') });
    expect(result.warnings).toContainEqual({ path: 'model_list[0]', message: expect.stringContaining('asked in order') });
  });
});

describe('a config of Portkey', () => {
  const target = (name: string, model: string, more: object = {}) => ({
    name,
    provider: 'openai',
    api_key: 'sk-1111111111111111',
    override_params: { model },
    ...more,
  });

  it('with conditions has a name for each target, and its own name stands for the default', () => {
    const result = read({
      name: 'shop',
      strategy: {
        mode: 'conditional',
        conditions: [JSON.parse('{"query": {"$and": [{"metadata.plan": {"$eq": "paid"}}]}, "then": "smart"}')],
        default: 'fast',
      },
      targets: [target('smart', 'gpt-5'), target('fast', 'gpt-5-mini')],
    });
    expect(result.project.modelAliases).toEqual({
      'shop-smart': { model: 'openai/gpt-5' },
      'shop-fast': { model: 'openai/gpt-5-mini' },
      shop: { model: 'openai/gpt-5-mini' },
    });
    expect(reasons(result)).toEqual({ 'strategy.conditions': expect.stringContaining('shop-smart, shop-fast') });
  });

  it('uses no target that the gateway does not use', () => {
    const single = read({ strategy: { mode: 'single' }, targets: [target('a', 'gpt-5'), target('b', 'gpt-4')] });
    expect(single.project.modelAliases).toEqual({ portkey: { model: 'openai/gpt-5' } });
    const balanced = read({
      strategy: { mode: 'loadbalance' },
      targets: [target('a', 'gpt-5', { weight: 0 }), target('b', 'gpt-4', { weight: 1 })],
    });
    expect(balanced.project.modelAliases).toEqual({ portkey: { model: 'openai/gpt-4' } });
    expect(Object.keys(reasons(balanced))).toEqual(['targets[0]']);
  });

  it('shares the requests by weight, and keeps retries, the cache and fallbacks around it', () => {
    const shared = {
      strategy: { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'] } },
      targets: [target('a', 'gpt-5', { weight: 3 }), target('b', 'gpt-4', { retry: { attempts: 1 } })],
    };
    const result = read({
      strategy: { mode: 'fallback' },
      targets: [shared, target('c', 'gpt-3')],
      retry: { attempts: 2, on_status_codes: [429] },
      cache: { mode: 'simple', max_age: 3600 },
    });
    expect(result.project.modelAliases).toEqual({
      portkey: {
        targets: [{ model: 'openai/gpt-5', weight: 3 }, { model: 'openai/gpt-4' }],
        ...{ strategy: 'weighted', sticky: 'session', fallbacks: ['openai/gpt-3'], retries: 2, cache: { ttl: 3600 } },
      },
    });
    expect(Object.keys(reasons(result))).toEqual([
      'retry.on_status_codes',
      'targets[0].strategy.sticky.hash_fields',
      'targets[0].targets[1].retry',
    ]);
    const inside = read({
      strategy: { mode: 'fallback' },
      targets: [target('c', 'gpt-3'), shared],
      cache: { mode: 'semantic', max_age: 60 },
    });
    expect(inside.project.modelAliases?.portkey).toEqual({
      targets: [{ model: 'openai/gpt-3' }],
      fallbacks: ['openai/gpt-5', 'openai/gpt-4'],
    });
    expect(inside.warnings).toEqual([{ path: 'strategy', message: expect.stringContaining('asked in order') }]);
    expect(Object.keys(reasons(inside))).toContain('cache');
  });

  it('has Azure by its resource and deployment, in either spelling', () => {
    for (const named of [
      { resource_name: 'shop-eu', deployment_id: 'gpt-4o-eu', api_version: '2024-06-01' },
      { resourceName: 'shop-eu', deploymentId: 'gpt-4o-eu', apiVersion: '2024-06-01' },
    ]) {
      const result = read({ strategy: { mode: 'single' }, targets: [{ provider: 'azure-openai', api_key: 'k-1111111111', ...named }] });
      expect(result.project.providers?.azure).toMatchObject({ baseUrl: 'https://shop-eu.openai.azure.com', apiVersion: '2024-06-01' });
      expect(result.project.modelAliases).toEqual({ portkey: { model: 'azure/gpt-4o-eu' } });
      expect(reasons(result)).toEqual({});
    }
  });

  it('passes the members of a config on to its targets', () => {
    const { project } = read({
      provider: 'openai',
      api_key: 'sk-1111111111111111',
      openai_organization: 'org-1',
      override_params: { temperature: 0.5 },
      strategy: { mode: 'fallback' },
      targets: [
        { override_params: { model: 'gpt-5' } },
        { provider: 'groq', api_key: 'gsk_1111111111', override_params: { model: 'llama' } },
      ],
    });
    expect(project.agents).toEqual({ portkey: { model: 'portkey-models', settings: { temperature: 0.5 } } });
    expect(project.modelAliases).toEqual({
      'portkey-models': { targets: [{ model: 'openai/gpt-5' }], fallbacks: ['groq/llama'] },
      portkey: { model: 'agent/portkey' },
    });
    expect(project.providers?.openai?.headers).toEqual({ 'OpenAI-Organization': 'org-1' });
  });
});

describe('servers of LiteLLM', () => {
  const servers = (mcp_servers: object, more: object = {}): ImportResult => read({ model_list: [], mcp_servers, ...more });
  const url = 'https://ctx.example.com/mcp';

  it('offer no more tools than in the file', () => {
    const { project } = servers({
      one: { url, allowed_tools: ['get_docs'] },
      two: { url, disallowed_tools: ['delete_all'] },
      three: { url, allowed_params: { send: ['to'] } },
    });
    expect(project.toolsets?.litellm?.tools).toEqual([
      { tool: 'one.get_docs' },
      { tool: 'two.*', except: ['delete_all'] },
      { tool: 'three.*', except: ['send'] },
    ]);
  });

  it.each([
    ['bearer_token', 'tk-0123456789abcdef', 'Authorization', 'Bearer tk-0123456789abcdef'],
    ['basic', 'ada:s3cret-pass', 'Authorization', 'Basic YWRhOnMzY3JldC1wYXNz'],
    ['token', 'tk-0123456789abcdef', 'Authorization', 'token tk-0123456789abcdef'],
    ['authorization', 'Custom tk-0123456789abcdef', 'Authorization', 'Custom tk-0123456789abcdef'],
    ['api_key', 'os.environ/CTX_KEY', 'X-API-Key', '${CTX_KEY}'],
  ])('with the auth_type %s send its header as a secret', (auth_type, auth_value, header, value) => {
    const { project, skipped } = servers({ ctx: { url, auth_type, auth_value } });
    const [name = ''] = Object.keys(project.secrets ?? {});
    expect(project.servers?.ctx).toMatchObject({ headers: { [header]: { secret: name } } });
    expect(project.secrets?.[name]?.value).toBe(value);
    expect(skipped).toEqual([]);
  });

  it('with OAuth sign in each user, or themselves', () => {
    const oauth = { url, auth_type: 'oauth2', client_id: 'os.environ/GH_ID', client_secret: 'os.environ/GH_SECRET', scopes: ['repo'] };
    const { project } = servers({ gh: oauth, robot: { ...oauth, oauth2_flow: 'client_credentials' } });
    expect(project.servers?.gh).toMatchObject({
      oauth: {
        grant: 'authorization_code',
        per: 'user',
        clientId: '${GH_ID}',
        clientSecret: { secret: 'GH_CLIENT_SECRET' },
        scopes: ['repo'],
      },
    });
    expect(project.servers?.robot).toMatchObject({ oauth: { grant: 'client_credentials', clientId: '${GH_ID}' } });
  });

  it('whose credentials Moniker cannot have are skipped', () => {
    const result = servers({ a: { url, auth_type: 'aws_sigv4', aws_region_name: 'eu' }, b: { url, auth_type: 'magic' } });
    expect(result.project).toEqual({});
    expect(Object.keys(reasons(result))).toEqual(['mcp_servers.a', 'mcp_servers.b']);
  });

  it('have the names of their aliases, and a toolset for each access group', () => {
    const { project } = servers(
      { github_mcp_server: { url, access_groups: ['dev'] }, other: { url } },
      { litellm_settings: { mcp_aliases: { gh: 'github_mcp_server' } } },
    );
    expect(Object.keys(project.servers ?? {})).toEqual(['gh', 'other']);
    expect(project.toolsets).toMatchObject({
      litellm: { tools: [{ tool: 'gh.*' }, { tool: 'other.*' }] },
      dev: { tools: [{ tool: 'gh.*' }] },
    });
  });

  it('with a spec_path are APIs', () => {
    const result = servers({
      pets: {
        url: 'https://pets.example.com',
        spec_path: 'https://pets.example.com/openapi.json',
        auth_type: 'bearer_token',
        auth_value: 'os.environ/PETS',
      },
      local: { url, spec_path: './openapi.json' },
    });
    expect(result.project.servers?.pets).toMatchObject({
      kind: 'openapi',
      url: 'https://pets.example.com/openapi.json',
      baseUrl: 'https://pets.example.com',
      headers: { Authorization: { secret: expect.any(String) } },
    });
    expect(Object.keys(reasons(result))).toEqual(['mcp_servers.local']);
    expect(result.warnings).toContainEqual({
      path: 'mcp_servers.pets.auth_value',
      message: 'is a credential, and became the secret PETS_AUTHORIZATION',
    });
  });
});

describe('a config of Bifrost', () => {
  const sample = readFileSync(join(import.meta.dirname, 'samples/bifrost.json'));
  const result = readImport(sample, { fileName: 'config.json' });

  it('has providers under the names that clients use, with the key of the greatest weight', () => {
    expect(result.format).toBe('bifrost');
    expect(result.project.providers).toEqual({
      openai: {
        kind: 'openai',
        apiKeySecret: 'OPENAI_API_KEY',
        timeouts: { firstByteMs: 30_000, wholeMs: 30_000, betweenBytesMs: 10_000 },
        models: ['gpt-5', 'gpt-5-mini'],
      },
      azure: {
        ...{ kind: 'azure-openai', baseUrl: 'https://shop-eu.openai.azure.com', apiVersion: '2024-06-01' },
        apiKeySecret: 'AZURE_KEY_EU',
      },
      bedrock: { kind: 'bedrock', region: 'us-east-1' },
      'shop-llm': { kind: 'openai-compatible', baseUrl: 'https://llm.shop.example/v1', apiKeySecret: 'OPENAI_API_KEY_2' },
    });
    expect(result.project.modelAliases).toEqual({
      'openai/fast': { model: 'openai/gpt-5-mini' },
      'azure/gpt-4o': { model: 'azure/gpt-4o-eu' },
    });
    expect(reasons(result)).toMatchObject({
      'providers.openai.keys[0]': expect.stringContaining('other models than "big", which has the greatest weight'),
    });
  });

  it('has the keys for the same models in turn, as secrets, and one for a cloud', () => {
    const key = (name: string, more: object = {}) => ({ name, value: `sk-${name}-0123456789abcdef`, models: ['*'], ...more });
    const azure_key_config = { endpoint: 'https://shop.openai.azure.com' };
    const keys = [key('one', { weight: 2 }), key('two', { weight: 1 }), key('off', { enabled: false }), key('few', { models: ['gpt-5'] })];
    const two = read(
      {
        providers: {
          openai: { keys },
          azure: { keys: [key('three', { azure_key_config }), key('four', { azure_key_config })] },
          groq: { keys: Array.from({ length: 18 }, (_, index) => key(`k${index}`)) },
        },
      },
      'config.json',
    );
    const { openai, azure, groq } = two.project.providers ?? {};
    expect(openai).toEqual({ kind: 'openai', apiKeySecrets: ['OPENAI_API_KEY', 'OPENAI_API_KEY_2'] });
    expect(two.project.secrets).toMatchObject({
      OPENAI_API_KEY: { value: 'sk-one-0123456789abcdef', hosts: ['api.openai.com:443'] },
      OPENAI_API_KEY_2: { value: 'sk-two-0123456789abcdef', hosts: ['api.openai.com:443'] },
    });
    expect(azure).toMatchObject({ apiKeySecret: 'AZURE_API_KEY' });
    expect(groq?.apiKeySecrets).toHaveLength(16);
    expect(two.warnings).toEqual([{ path: 'providers.openai.keys[1].weight', message: expect.stringContaining('in turn') }]);
    expect(Object.keys(reasons(two))).toEqual([
      ...['providers.openai.keys[2]', 'providers.openai.keys[3]', 'providers.azure.keys[1]'],
      ...['providers.groq.keys[16]', 'providers.groq.keys[17]'],
    ]);
    expect(JSON.stringify([two.project.providers, two.skipped, two.warnings])).not.toContain('0123456789abcdef');
  });

  it('has servers with the tools that its clients may execute, and no others', () => {
    expect(result.project.servers).toMatchObject({
      weatherservice: { kind: 'mcp', url: 'https://weather.example.com/mcp' },
      files: { command: 'npx', args: ['-y', 'server-files'], env: { HOME_DIR: '/srv', FILES_TOKEN: { secret: 'FILES_TOKEN' } } },
      hidden: { url: 'https://hidden.example.com/mcp' },
    });
    expect(result.project.toolsets).toEqual({
      bifrost: {
        tools: [{ tool: 'weatherservice.*' }, { tool: 'weatherservice.get_weather', approval: 'never' }, { tool: 'files.read_file' }],
      },
      reading: { tools: [{ tool: 'files.read_file' }] },
    });
  });

  it('names the keys of clients with the request that makes one like them, without their text', () => {
    expect(reasons(result)['governance.virtual_keys[0]']).toContain(
      'POST /v1/keys {"name":"shop","scopes":["chat"],"models":["openai/gpt-5*"],"limits":{"monthlyCost":100,"requestsPerMinute":60}}',
    );
    expect(JSON.stringify([result.skipped, result.warnings, result.project.providers])).not.toMatch(/sk-bf-|sk-own-|sk-big-/);
  });

  it('of version 1 allows what an empty list allows there', () => {
    const file = {
      version: 1,
      providers: { groq: { keys: [{ name: 'a', value: 'gsk_0123456789', weight: 1, models: [] }] } },
      mcp: {
        client_configs: [
          { name: 'docs', connection_type: 'http', connection_string: 'https://docs.example.com/mcp', tools_to_execute: [] },
        ],
      },
    };
    const one = read(file, 'config.json');
    const two = read({ ...file, version: 2 }, 'config.json');
    expect([one.project.toolsets?.bifrost?.tools, two.project.toolsets]).toEqual([[{ tool: 'docs.*' }], undefined]);
    expect([one.project.providers?.groq?.apiKeySecret, two.project.providers]).toEqual(['GROQ_API_KEY', undefined]);
  });
});

describe('models of clouds', () => {
  const open = (value: object, fileName: string) => readImport(new TextEncoder().encode(JSON.stringify(value)), { fileName });
  const account = { type: 'service_account', client_email: 'a@b', private_key: '-----BEGIN PRIVATE KEY-----' };
  const aws = { AccessKeyId: '${AWS_ACCESS_KEY_ID}', SecretAccessKey: '${AWS_SECRET_ACCESS_KEY}' };

  it('of LiteLLM have the keys of their clouds as one secret each', () => {
    const model_list = [
      {
        model_name: 'a',
        litellm_params: {
          model: 'bedrock/us.anthropic.claude-x',
          aws_region_name: 'eu-west-1',
          aws_access_key_id: 'AKIAEXAMPLE000000000',
          aws_secret_access_key: 'os.environ/AWS_SECRET',
          aws_session_token: 'os.environ/AWS_TOKEN',
        },
      },
      { model_name: 'b', litellm_params: { model: 'bedrock/converse/amazon.nova-x' } },
      {
        model_name: 'c',
        litellm_params: {
          model: 'vertex_ai/gemini-x',
          vertex_project: 'shop',
          vertex_location: 'europe-west1',
          vertex_credentials: JSON.stringify(account),
        },
      },
      {
        model_name: 'd',
        litellm_params: {
          model: 'azure/gpt-x',
          api_base: 'https://shop.openai.azure.com',
          tenant_id: 't',
          client_id: 'c',
          client_secret: 'os.environ/AZURE_SECRET',
        },
      },
      { model_name: 'e', litellm_params: { model: 'vertex_ai/claude-x', vertex_project: 'shop', vertex_credentials: '/keys/shop.json' } },
      { model_name: 'f', litellm_params: { model: 'openai/gpt-x', api_version: '2024-06-01', aws_region_name: 'eu-west-1' } },
    ];
    const result = open({ model_list }, 'config.yaml');
    const { providers = {}, secrets = {}, modelAliases } = result.project;
    expect(providers).toMatchObject({
      bedrock: { kind: 'bedrock', region: 'eu-west-1' },
      'bedrock-2': { kind: 'bedrock', region: '${AWS_REGION}' },
      vertex: { kind: 'vertex', project: 'shop', region: 'europe-west1' },
      'vertex-2': { kind: 'vertex', project: 'shop' },
      azure: { kind: 'azure-openai', baseUrl: 'https://shop.openai.azure.com' },
    });
    expect(modelAliases).toMatchObject({
      a: { model: 'bedrock/us.anthropic.claude-x' },
      b: { model: 'bedrock-2/amazon.nova-x' },
      c: { model: 'vertex/gemini-x' },
    });
    const keyOf = (name: string): unknown => JSON.parse(secrets[providers[name]?.apiKeySecret ?? '']?.value ?? 'null');
    expect(keyOf('bedrock')).toEqual({
      AccessKeyId: 'AKIAEXAMPLE000000000',
      SecretAccessKey: '${AWS_SECRET}',
      SessionToken: '${AWS_TOKEN}',
    });
    expect(keyOf('bedrock-2')).toEqual(aws);
    expect(keyOf('vertex')).toEqual(account);
    expect(keyOf('azure')).toEqual({ tenantId: 't', clientId: 'c', clientSecret: '${AZURE_SECRET}' });
    // The content of a file is not known here.
    expect(secrets[providers['vertex-2']?.apiKeySecret ?? '']).toEqual({ hosts: ['aiplatform.googleapis.com:443'] });
    expect(reasons(result)).toMatchObject({
      'model_list[5].litellm_params.api_version': expect.stringContaining('Azure'),
      'model_list[5].litellm_params.aws_region_name': expect.any(String),
    });
  });

  it('of Portkey and Bifrost have them, too', () => {
    const targets = [
      {
        provider: 'bedrock',
        aws_region: 'us-east-1',
        aws_access_key_id: 'AKIAEXAMPLE000000000',
        aws_secret_access_key: 's',
        override_params: { model: 'amazon.nova-x' },
      },
      {
        provider: 'vertex-ai',
        vertex_project_id: 'shop',
        vertex_region: 'eu',
        vertex_service_account_json: account,
        override_params: { model: 'gemini-x' },
      },
    ];
    const portkey = open({ strategy: { mode: 'fallback' }, targets }, 'portkey.json');
    expect(portkey.project.providers).toMatchObject({ bedrock: { region: 'us-east-1' }, vertex: { project: 'shop', region: 'eu' } });
    expect(JSON.parse(portkey.project.secrets?.VERTEX_API_KEY?.value ?? '')).toEqual(account);
    const key = { name: 'k', value: '', weight: 1, models: ['*'] };
    const bedrock_key_config = {
      access_key: 'env.AWS_ACCESS_KEY_ID',
      secret_key: 'env.AWS_SECRET_ACCESS_KEY',
      region: 'us-east-1',
      arn: 'arn:x',
    };
    const vertex_key_config = { project_id: 'shop', region: 'us-central1', auth_credentials: 'env.VERTEX_CREDENTIALS' };
    const bifrost = open(
      { providers: { bedrock: { keys: [{ ...key, bedrock_key_config }] }, vertex: { keys: [{ ...key, vertex_key_config }] } } },
      'config.json',
    );
    expect(bifrost.project.providers).toMatchObject({
      bedrock: { region: 'us-east-1' },
      vertex: { project: 'shop', region: 'us-central1' },
    });
    expect(JSON.parse(bifrost.project.secrets?.BEDROCK_API_KEY?.value ?? '')).toEqual(aws);
    expect(bifrost.project.secrets?.VERTEX_CREDENTIALS?.value).toBe('${VERTEX_CREDENTIALS}');
    expect(Object.keys(reasons(bifrost))).toContain('providers.bedrock.keys[0].bedrock_key_config.arn');
  });
});
