/** What a forwarded request may not use besides its model, under an allow-list or a budget. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../../src/core/model/dropped.ts';
import { checkedBody } from '../../../src/core/model/request-extras.ts';
import { Problem } from '../../../src/core/problem.ts';

const issuesOf = (body: object, hasBudget: boolean, isChecked = true): string[] => {
  try {
    checkedBody(body as Record<string, unknown>, { isChecked, hasBudget });
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.extra.issues as { path: string }[]).map(({ path }) => path);
  }
};
const fn = { type: 'function', function: { name: 'a' } };

describe('a request whose model is checked', () => {
  it.each([
    ['models', { models: ['openai/gpt-5-pro'] }],
    ['fallbacks', { fallbacks: ['gpt-5-pro'] }],
    ['fallbacks', { fallbacks: [{ model: 'gpt-5-pro' }] }],
    ['context_window_fallback_dict', { context_window_fallback_dict: { a: 'b' } }],
    ['providerOptions.gateway.models', { providerOptions: { gateway: { models: ['x'] } } }],
    ['extra_body.models', { extra_body: { models: ['x'] } }],
    ['generationConfig.routingConfig', { generationConfig: { routingConfig: { manualMode: { modelName: 'gemini-3-pro' } } } }],
    ['generationConfig.modelSelectionConfig', { generation_config: { model_selection_config: { x: 1 } } }],
    ['tools[1].model', { tools: [fn, { type: 'image_generation', model: 'gpt-image-1' }] }],
  ])('cannot name others in %s', (path, body) => {
    expect(issuesOf(body, false)).toEqual([path]);
    expect(issuesOf(body, false, false)).toEqual([]);
  });

  it.each([
    { models: [] },
    { models: null },
    { fallbacks: {} },
    { model: 'x', messages: [{ role: 'user', content: 'models: fallbacks' }] },
    { providerOptions: {} },
  ])('may be %j', (body) => {
    expect(issuesOf(body, true)).toEqual([]);
  });
});

describe('a request with a budget', () => {
  it.each([
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['tools[1].type', { tools: [fn, { type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['tools[0].type', { tools: [{ type: 'image_generation' }, fn] }],
    ['tools[0].type', { tools: [{ type: 'file_search' }, fn] }],
    ['tools[0].type', { tools: [{ type: 'mcp', server_url: 'https://x' }, fn] }],
    ['tools[0].type', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }],
    ['tools[0].type', { tools: [{ type: 'openrouter:web_search' }, fn] }],
    ['tools[0].type', { tools: [{ type: 'web_search' }, fn], tool_choice: { type: 'web_search' } }],
    ['tools[0].type', { tools: [{ type: 'web_search' }, fn], tool_choice: 'required' }],
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    ['tools[1].google_search', { tools: [{ functionDeclarations: [{ name: 'a' }] }, { google_search: {} }] }],
    ['tools[0].codeExecution', { tools: [{ functionDeclarations: [{ name: 'a' }], codeExecution: {} }] }],
    ['serviceTier', { serviceTier: 'PRIORITY' }],
    ['web_search_options', { web_search_options: { search_context_size: 'high' } }],
    ['plugins', { plugins: [{ id: 'web' }] }],
    ['search_parameters', { search_parameters: { mode: 'on' } }],
    ['enable_search', { enable_search: true }],
    ['service_tier', { service_tier: 'priority' }],
    ['service_tier', { service_tier: 'fast' }],
    ['speed', { speed: 'fast' }],
  ])('cannot ask for what has a price of its own: %s of %j', (path, body) => {
    expect(issuesOf(body, true)).toEqual([path]);
    expect(issuesOf(body, false)).toEqual([]);
  });

  it.each([
    { tools: [fn, { type: 'custom', name: 'b' }, { name: 'c', input_schema: {} }] },
    { tools: [{ type: 'bash_20250124' }, { type: 'text_editor_20250728' }, { type: 'computer_20250124' }, { type: 'memory_20250818' }] },
    { tools: [{ type: 'local_shell' }, { type: 'apply_patch' }, { type: 'computer_use_preview' }, { type: 'tool_search' }] },
    { tools: [{ type: 'namespace', tools: [fn] }], service_tier: 'flex', speed: 'standard' },
    { tools: null, service_tier: 'auto', enable_search: false, plugins: [] },
  ])('may have tools that the client runs, and usual tiers: %j', (body) => {
    expect(issuesOf(body, true)).toEqual([]);
    expect(checkedBody(body as Record<string, unknown>, { isChecked: true, hasBudget: true })).toBe(body);
  });

  it('leaves out searches beside tools of the client, which coding agents send to every provider', () => {
    const body = { model: 'm', tools: [fn, { type: 'web_search', external_web_access: false }, { type: 'web_fetch_20250910' }] };
    const dropped = createDropped();
    expect(checkedBody(body, { isChecked: true, hasBudget: true, dropped })).toEqual({ model: 'm', tools: [fn] });
    expect(dropped.items().map(({ name }) => name)).toEqual(['tools[1]', 'tools[2]']);
    expect(checkedBody({ ...body, tool_choice: 'auto' }, { isChecked: true, hasBudget: true })).toMatchObject({ tools: [fn] });
    expect(checkedBody(body, { isChecked: true, hasBudget: false })).toBe(body);
  });
});
