/** A screenshot that an MCP server returns reaches the model: over every model API, and for clients of every chat API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import type { Say } from '../fakes/upstreams/upstream.ts';
import { type FakeProviders, refOf, startFakeProviders, wires } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*,servers:127.0.0.1:*' });
/** More than the limit of text for a model. */
const png = Buffer.alloc(120_000, 7).toString('base64');
const says: Say[] = [{ calls: [{ name: 'screenshot', arguments: {} }] }, { text: 'A login form.' }];
const inTwoSteps = { say: (_heard: unknown, index: number): Say => says[index] ?? { text: 'Nothing more.' } };

describe('an image result of a tool', () => {
  let fakes: FakeProviders;
  let server: FakeMcpServer;
  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    const content = [
      { type: 'text', text: 'The page.' },
      { type: 'image', data: png, mimeType: 'image/png' },
    ];
    const tool = { name: 'screenshot', description: 'Shows the page.', inputSchema: { type: 'object', properties: {} } };
    server = await listenMcpServer({ tools: [{ ...tool, annotations: { readOnlyHint: true }, answer: () => ({ content }) }] });
    expect((await service.call('PUT', '/v1/servers/browser', { kind: 'mcp', url: server.url, trusted: true })).status).toBe(201);
    expect((await service.call('PUT', '/v1/toolsets/browsing', { tools: [{ tool: 'browser.screenshot' }] })).status).toBe(201);
  });
  afterAll(async () => {
    fakes.close();
    await server.close();
  });

  it.each(wires)('reaches a model of %s', async (wire) => {
    const story = fakes.start(`screenshot of ${wire}`, inTwoSteps);
    const { json } = await service.call('POST', '/v1/sessions', { model: refOf(wire), toolset: 'browsing' });
    const { text } = await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: `What is shown? ${story.mark}` });
    expect(text).toContain('A login form.');
    expect(fakes.refused()).toEqual([]);
    expect(story.heard).toHaveLength(2);
    expect(story.heard[1]?.text).toContain('The page.');
    // Cohere's model of tool calls reads text only, and is told that there is an image.
    if (wire === 'cohere') expect(story.heard[1]?.text).toContain('[image: image/png]');
    else expect(story.heard[1]?.text.includes(png)).toBe(true);
  });

  it.each([
    ['/v1/chat/completions', (content: string) => ({ messages: [{ role: 'user', content }] })],
    ['/v1/responses', (content: string) => ({ input: content })],
    ['/v1/messages', (content: string) => ({ messages: [{ role: 'user', content }], max_tokens: 1_000 })],
  ])('reaches the model of a client of %s', async (path, body) => {
    for (const wire of ['openai', 'openai-responses', 'anthropic', 'gemini'] as const) {
      const story = fakes.start(`screenshot of ${wire} at ${path}`, inTwoSteps);
      const request = { model: refOf(wire), toolset: 'browsing', ...body(`What is shown? ${story.mark}`) };
      const { text } = await service.call('POST', path, request);
      expect(text).toContain('A login form.');
      expect(story.heard[1]?.text.includes(png), wire).toBe(true);
    }
    expect(fakes.refused()).toEqual([]);
  });
});
