/** Calls of one step that depend on each other: run one after the other where the request or the agent asks for it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService();

/** The second call reads what the first one writes after a while. */
const content = '/shell sleep 0.5; echo written > order.txt\n/shell cat order.txt';

beforeAll(async () => {
  const tools = [{ tool: 'builtin.bash', name: 'shell', aliases: [] }];
  expect((await service.call('PUT', '/v1/toolsets/ordered', { tools })).status).toBe(201);
  const agent = { model: 'rehearsal/default', toolset: 'ordered' };
  expect((await service.call('PUT', '/v1/agents/parallel', agent)).status).toBe(201);
  expect((await service.call('PUT', '/v1/agents/ordered', { ...agent, settings: { parallelToolCalls: false } })).status).toBe(201);
});

describe('two calls of which the second needs the first', () => {
  const chat = { toolset: 'ordered', messages: [{ role: 'user', content }], max_tokens: 1_000 };
  it.each([
    ['parallel_tool_calls: false', '/v1/chat/completions', { ...chat, model: 'rehearsal/default', parallel_tool_calls: false }],
    [
      'parallel_tool_calls: false',
      '/v1/responses',
      { model: 'rehearsal/default', toolset: 'ordered', input: content, parallel_tool_calls: false },
    ],
    [
      'disable_parallel_tool_use',
      '/v1/messages',
      { ...chat, model: 'rehearsal/default', tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    ['parallelToolCalls: false of the agent', '/v1/chat/completions', { ...chat, toolset: undefined, model: 'agent/ordered' }],
  ])('run in order with %s (%s)', async (_what, path, body) => {
    const { status, text, headers } = await service.call('POST', path, body);
    expect([status, text]).toEqual([200, expect.stringContaining('written')]);
    const session = headers.get('x-moniker-session') ?? '';
    const { json } = await service.call('GET', `/v1/sessions/${session}/messages`);
    const results = json.items.filter(({ role }: { role: string }) => role === 'tool').flatMap(({ parts }: { parts: unknown[] }) => parts);
    expect(results.map(({ isError }: { isError: boolean }) => isError)).toEqual([false, false]);
  });

  it('run in parallel by default', async () => {
    const { headers } = await service.call('POST', '/v1/chat/completions', { ...chat, toolset: undefined, model: 'agent/parallel' });
    const { json } = await service.call('GET', `/v1/sessions/${headers.get('x-moniker-session')}/messages`);
    expect(JSON.stringify(json)).toContain('No such file');
  });
});
