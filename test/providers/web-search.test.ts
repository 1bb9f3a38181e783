/** The web search that a client declares: dialect by wire by option, sent to the provider, left to a tool of the toolset, or refused. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../src/core/model/dropped.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { Problem } from '../../src/core/problem.ts';
import { dialectOf, loadDialect } from '../../src/dialects/dialects.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';

// Loaded late, unlike the others.
const gemini = await loadDialect('gemini');
type Json = Record<string, unknown>;
const place = { type: 'approximate', country: 'DE', city: 'Köln' };
const { type: _type, ...members } = place;
const own = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} } };

const access = (kind: ProviderAccess['kind'], profile: ProviderAccess['profile'] = { webSearch: true }): ProviderAccess => ({
  ...{ name: 'a', kind, baseUrl: 'https://a.example/v1', headers: {}, models: [], profile },
});

/** What the provider is sent for the search of a request, with what is named as left out; or the paths of the refusal. */
function outcome(
  dialect: Parameters<typeof dialectOf>[0] | 'gemini',
  body: Json,
  given: ProviderAccess,
  more: { tool?: string; reserve?: true } = {},
) {
  const messages =
    dialect === 'openai-responses'
      ? { input: 'x' }
      : dialect === 'gemini'
        ? { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }
        : { messages: [{ role: 'user', content: 'x' }], max_tokens: 99 };
  const request = (dialect === 'gemini' ? gemini : dialectOf(dialect)).readRequest({ model: 'a/m', ...messages, ...body });
  const dropped = createDropped(request.dropped.names, request.dropped.items());
  const { toolChoice: _choice, webSearch, ...settings } = request.settings();
  try {
    const sent = toRequestBody({
      ...{ access: given, model: 'm', dropped, toolChoice: 'auto', tools: request.clientTools() ?? [] },
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
      settings: { ...settings, ...(webSearch && { webSearch: { ...webSearch, ...(more.tool && { tool: more.tool }) } }) },
      ...(more.reserve && { reserve: async () => undefined }),
    });
    const tools = (sent.tools ?? []) as Json[];
    const search = tools.find((tool) => 'googleSearch' in tool || String(tool.type).startsWith('web_search')) ?? sent.web_search_options;
    return { search: search ?? null, dropped: dropped.items().map(({ name }) => name) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return {
      refused: (error.extra.issues as { path: string; message: string }[]).map(({ path }) => path),
      text: JSON.stringify(error.extra),
    };
  }
}

const responses = (options: Json) => ({ tools: [{ type: 'web_search', ...options }] });
const claude = (options: Json) => ({ tools: [{ type: 'web_search_20250305', name: 'web_search', ...options }] });
const chat = (options: Json) => ({ web_search_options: options });
const google = (options: Json, name = 'googleSearch') => ({ tools: [{ [name]: options }] });
const days = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-02T00:00:00Z' };
const anthropicTool = { type: 'web_search_20250305', name: 'web_search' };

describe('a search that a client declares', () => {
  it.each([
    ['openai-responses', responses({}), 'openai-responses', { type: 'web_search' }, []],
    ['openai-responses', responses({}), 'anthropic', anthropicTool, []],
    ['openai-responses', responses({}), 'gemini', { googleSearch: {} }, []],
    ['openai-responses', responses({}), 'openai', {}, []],
    [
      'openai-responses',
      responses({ filters: { allowed_domains: ['a.example'] } }),
      'anthropic',
      { ...anthropicTool, allowed_domains: ['a.example'] },
      [],
    ],
    [
      'openai-responses',
      responses({ external_web_access: false }),
      'openai-responses',
      { type: 'web_search', external_web_access: false },
      [],
    ],
    ['openai-responses', responses({ user_location: place }), 'anthropic', { ...anthropicTool, user_location: place }, []],
    ['openai-responses', responses({ search_context_size: 'high' }), 'anthropic', anthropicTool, ['tools.web_search.search_context_size']],
    ['openai-responses', responses({ user_location: place }), 'gemini', { googleSearch: {} }, ['tools.web_search.user_location']],
    ['anthropic-messages', claude({}), 'openai-responses', { type: 'web_search' }, []],
    [
      'anthropic-messages',
      claude({ max_uses: 2, blocked_domains: ['b.example'] }),
      'anthropic',
      { ...anthropicTool, max_uses: 2, blocked_domains: ['b.example'] },
      [],
    ],
    [
      'anthropic-messages',
      claude({ allowed_domains: ['a.example'] }),
      'openai-responses',
      { type: 'web_search', filters: { allowed_domains: ['a.example'] } },
      [],
    ],
    ['openai-chat', chat({}), 'anthropic', anthropicTool, []],
    ['openai-chat', chat({ search_context_size: 'low' }), 'openai-responses', { type: 'web_search', search_context_size: 'low' }, []],
    [
      'openai-chat',
      chat({ user_location: { type: 'approximate', approximate: members } }),
      'openai-responses',
      { type: 'web_search', user_location: place },
      [],
    ],
    [
      'anthropic-messages',
      claude({ user_location: place }),
      'openai',
      { user_location: { type: 'approximate', approximate: members } },
      [],
    ],
    ['gemini', google({}), 'anthropic', anthropicTool, []],
    ['gemini', google({}, 'google_search'), 'openai-responses', { type: 'web_search' }, []],
    ['gemini', google({ searchTypes: { webSearch: {} } }), 'openai', {}, []],
    ['gemini', google({ timeRangeFilter: days }), 'gemini', { googleSearch: { timeRangeFilter: days } }, []],
    [
      'gemini',
      google({ exclude_domains: ['b.example'] }, 'google_search'),
      'anthropic',
      { ...anthropicTool, blocked_domains: ['b.example'] },
      [],
    ],
    [
      'gemini',
      google({ dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC', dynamicThreshold: 0.3 } }, 'googleSearchRetrieval'),
      'gemini',
      { googleSearch: {} },
      ['tools[].googleSearchRetrieval.dynamicRetrievalConfig'],
    ],
    ['gemini', google({ searchTypes: { imageSearch: {} } }), 'anthropic', anthropicTool, ['tools[].googleSearch.searchTypes.imageSearch']],
  ] as const)('of %s %j runs at a provider of %s', (dialect, body, kind, search, dropped) => {
    expect(outcome(dialect, body, access(kind))).toEqual({ search, dropped });
  });

  it.each([
    ['openai-responses', responses({ filters: { allowed_domains: ['a.example'] } }), 'gemini', 'tools[0].filters.allowed_domains'],
    ['openai-responses', responses({ filters: { allowed_domains: ['a.example'] } }), 'openai', 'tools[0].filters.allowed_domains'],
    ['openai-responses', responses({ external_web_access: false }), 'anthropic', 'tools[0].external_web_access'],
    ['anthropic-messages', claude({ max_uses: 2 }), 'openai-responses', 'tools[0].max_uses'],
    ['anthropic-messages', claude({ blocked_domains: ['b.example'] }), 'openai-responses', 'tools[0].blocked_domains'],
    ['anthropic-messages', claude({ max_uses: 2 }), 'gemini', 'tools[0].max_uses'],
    ['openai-responses', responses({}), 'cohere', 'tools[0]'],
    ['openai-responses', responses({}), 'ollama', 'tools[0]'],
    ['openai-chat', chat({}), 'cohere', 'web_search_options'],
    ['anthropic-messages', claude({}), 'ollama', 'tools[0]'],
    ['gemini', google({}), 'cohere', 'tools[0].googleSearch'],
    ['gemini', google({ timeRangeFilter: days }), 'anthropic', 'tools[0].googleSearch.timeRangeFilter'],
    ['gemini', google({ excludeDomains: ['b.example'] }), 'gemini', 'tools[0].googleSearch.excludeDomains'],
  ] as const)('of %s %j is refused with its place for a provider of %s', (dialect, body, kind, path) => {
    expect(outcome(dialect, body, access(kind))).toMatchObject({ refused: [path] });
  });

  it('is refused with both ways to search where neither the provider nor the toolset has one', () => {
    const { text } = outcome('openai-responses', responses({}), access('openai', {}));
    expect(text).toContain('a model whose provider has it');
    expect(text).toContain('standsFor: web_search');
  });

  it.each(['openai', 'cohere', 'ollama', 'gemini'] as const)(
    'is left out and named beside tools of the client for %s, as agents send it',
    (kind) => {
      const { tools } = responses({ filters: { allowed_domains: ['a.example'] } });
      expect(outcome('openai-responses', { tools: [own, ...tools] }, access(kind))).toEqual({
        search: null,
        dropped: ['tools.web_search'],
      });
    },
  );

  it('of Gemini’s API is left out and named beside declared functions, and left to the tool of the toolset', () => {
    const beside = { tools: [{ functionDeclarations: [{ name: 'mine' }], ...google({}).tools[0] }] };
    expect(outcome('gemini', beside, access('cohere'))).toEqual({ search: null, dropped: ['tools[].googleSearch'] });
    expect(outcome('gemini', google({}), access('cohere'), { tool: 'find' })).toEqual({ search: null, dropped: ['tools[].googleSearch'] });
  });

  it('is left to the tool of the toolset that stands for it, which takes no restrictions', () => {
    const provider = access('openai', {});
    expect(outcome('openai-responses', responses({}), provider, { tool: 'find' })).toEqual({ search: null, dropped: ['tools.web_search'] });
    const restricted = responses({ filters: { allowed_domains: ['a.example'] } });
    expect(outcome('openai-responses', restricted, provider, { tool: 'find' })).toMatchObject({
      refused: ['tools[0].filters.allowed_domains'],
    });
  });

  it('runs at the provider although a tool of the toolset stands for it', () => {
    expect(outcome('openai-responses', responses({}), access('anthropic'), { tool: 'find' })).toEqual({
      search: anthropicTool,
      dropped: [],
    });
  });

  it('does not run at the provider under limits of tokens or cost, which cannot count it', () => {
    expect(outcome('openai-responses', responses({}), access('anthropic'), { reserve: true })).toMatchObject({ refused: ['tools[0]'] });
    expect(outcome('openai-responses', responses({}), access('anthropic'), { reserve: true, tool: 'find' })).toMatchObject({
      search: null,
    });
  });

  it.each([
    ['openai-responses', responses({ filters: { allowed_domains: 'a.example' } }), 'tools[0].filters.allowed_domains'],
    ['openai-responses', responses({ search_context_size: 'huge' }), 'tools[0].search_context_size'],
    ['openai-responses', { tools: [{ type: 'web_search' }, { type: 'web_search_preview' }] }, 'tools[1]'],
    ['anthropic-messages', claude({ max_uses: 0 }), 'tools[0].max_uses'],
    ['anthropic-messages', claude({ allowed_domains: Array.from({ length: 101 }, () => 'a.example') }), 'tools[0].allowed_domains'],
    ['gemini', google({ timeRangeFilter: 'today' }), 'tools[0].googleSearch.timeRangeFilter'],
    ['gemini', { tools: [{ googleSearch: {} }, { googleSearchRetrieval: {} }] }, 'tools[1].googleSearchRetrieval'],
    ['openai-chat', chat({ user_location: { approximate: { city: {} } } }), 'web_search_options.user_location'],
  ] as const)('of %s is refused if %j has another type than in the API', (dialect, body, path) => {
    expect(() => outcome(dialect, body, access('anthropic'))).toThrow(
      expect.objectContaining({ extra: { issues: [{ path, message: expect.any(String) }] } }),
    );
  });
});
