/**
 * Against the real `@modelcontextprotocol/server-everything`: a server of 2025 on another SDK, with sessions, input requests, tasks and all
 * kinds of content.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputRequest } from '../../../src/core/tools/mcp-input.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamHooks } from '../../../src/ports/upstream.ts';
import { type EverythingServer, startEverything } from '../../e2e/everything-server.ts';
import { accessTo, callOf, contextWith } from './context.ts';

let server: EverythingServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.stop());

const upstream = createMcpUpstream();
const call = (name: string, args: Record<string, unknown> = {}, hooks: UpstreamHooks = {}): Promise<unknown> =>
  upstream.callTool(accessTo(server.url), callOf(name, args), hooks, contextWith());

describe('server-everything', () => {
  it('lists its tools, prompts, resources and templates', async () => {
    const found = await upstream.discover(accessTo(server.url), contextWith());
    expect(found.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-structured-content', 'trigger-elicitation-request']),
    );
    expect(found.connection).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
    expect(found.offers.prompts.length).toBeGreaterThan(0);
    expect(found.offers.resources.length).toBeGreaterThan(0);
    expect(found.offers.resourceTemplates.length).toBeGreaterThan(0);
    expect(found.warnings).toBeUndefined();
  });

  it('returns text, images, links and data', async () => {
    expect(await call('echo', { message: 'hi' })).toMatchObject({ result: { isError: false, content: [{ text: 'Echo: hi' }] } });
    expect(await call('get-tiny-image')).toMatchObject({
      result: { content: expect.arrayContaining([expect.objectContaining({ type: 'image' })]) },
    });
    expect(await call('get-resource-links', { count: 2 })).toMatchObject({
      result: { content: expect.arrayContaining([expect.objectContaining({ type: 'resource_link' })]) },
    });
    expect(await call('get-structured-content', { location: 'New York' })).toMatchObject({
      result: { structuredContent: { temperature: 33 } },
    });
  });

  it('reports progress', async () => {
    const told: number[] = [];
    await call('trigger-long-running-operation', { duration: 0.2, steps: 2 }, { progress: ({ progress }) => told.push(progress) });
    expect(told).toEqual([1, 2]);
  });

  it('may request a completion and roots if its document allows it', async () => {
    const asked: InputRequest[] = [];
    const hooks: UpstreamHooks = {
      askable: { sampling: {} },
      ask: async (request) => {
        asked.push(request);
        return { role: 'assistant', content: { type: 'text', text: 'a completion' }, model: 'm' };
      },
    };
    const roots = [{ uri: 'file:///srv/data', name: 'data' }];
    const access = accessTo(server.url, { mcp: { sampling: true, roots } });
    const sampled = await upstream.callTool(
      access,
      callOf('trigger-sampling-request', { prompt: 'Hi', maxTokens: 5 }),
      hooks,
      contextWith(),
    );
    expect(JSON.stringify(sampled)).toContain('a completion');
    expect(asked.map(({ method }) => method)).toEqual(['sampling/createMessage']);
  });

  it('runs a tool that must be called as a task', async () => {
    const answer = await call('simulate-research-query', { topic: 'aliases' });
    expect(answer).toMatchObject({
      kind: 'result',
      result: { isError: false, content: [{ text: expect.stringContaining('Research Report: aliases') }] },
    });
  });

  it('is called again after it has forgotten the session', async () => {
    const again = createMcpUpstream();
    const access = accessTo(server.url);
    await again.callTool(access, callOf('echo', { message: 'one' }), {}, contextWith());
    const statuses: number[] = [];
    const context = contextWith({
      fetch: async (request) => {
        // As after a restart: the server does not know the session id.
        if (statuses.length === 0) request.headers.set('mcp-session-id', 'forgotten');
        const response = await fetch(request);
        statuses.push(response.status);
        return response;
      },
    });
    const answer = await again.callTool(access, callOf('echo', { message: 'two' }), {}, context);
    expect(answer).toMatchObject({ result: { content: [{ text: 'Echo: two' }] } });
    expect(statuses[0]).toBe(400);
  });
});
