import { expect, it } from 'vitest';
import { createIdleTimeout } from '../../../src/engine/timeout.ts';
import { createInbound } from '../../../src/mcp/client/inbound.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { accessTo } from './context.ts';

const asked = {
  kind: 'request',
  id: 7,
  method: 'elicitation/create',
  params: { message: 'Where?', requestedSchema: { type: 'object', properties: {} } },
} as const;

it('What a server reports reaches the hook for it, if it is well-formed', async () => {
  const heard: unknown[] = [];
  const hooks = {
    notice: (line: unknown) => void heard.push(['notice', line]),
    onListChanged: (list: string) => void heard.push(['list', list]),
    onResourceUpdated: (uri: string) => void heard.push(['resource', uri]),
  };
  let signs = 0;
  const idleTimeout = createIdleTimeout(fakeClock(), {});
  const alive = (): void => {
    signs += 1;
  };
  const inbound = createInbound(
    accessTo('https://mcp.example.com/mcp'),
    { ...hooks, alive },
    { idleTimeout, isAsked: () => true, rootsRead: () => undefined, unsent: () => undefined, send: async () => undefined },
  );
  for (const [method, params] of [
    ['message', { level: 'info', data: 'working' }],
    ['message', { level: 7, data: 'working' }],
    ['tools/list_changed', {}],
    ['prompts/list_changed', {}],
    ['resources/list_changed', {}],
    ['resources/updated', { uri: 'file:///a' }],
    ['resources/updated', { uri: 7 }],
    ['unknown', {}],
  ] as const)
    inbound.notify({ method: `notifications/${method}`, params });
  // Only log messages are signs of life of a call.
  expect(signs).toBe(2);
  expect(heard).toEqual([
    ['notice', { level: 'info', data: 'working' }],
    ['list', 'tools'],
    ['list', 'prompts'],
    ['list', 'resources'],
    ['resource', 'file:///a'],
  ]);
});

it('A server gets its answer, and none to a question that it has withdrawn', async () => {
  const sent: unknown[] = [];
  let answer = (_given: { action: string }): void => undefined;
  const hooks = {
    askable: { elicitation: { form: {} } },
    ask: () => new Promise<{ action: string }>((resolve) => (answer = resolve)),
  };
  const inbound = createInbound(accessTo('https://mcp.example.com/mcp'), hooks, {
    ...{ idleTimeout: createIdleTimeout(fakeClock(), {}), isAsked: () => true, rootsRead: () => undefined, unsent: () => undefined },
    send: async (text) => void sent.push(JSON.parse(text)),
  });
  for (const isWithdrawn of [false, true]) {
    const answered = inbound.answer(asked);
    if (isWithdrawn) inbound.notify({ method: 'notifications/cancelled', params: { requestId: asked.id } });
    answer({ action: 'decline' });
    await answered;
  }
  await inbound.answer({ kind: 'request', id: 'p', method: 'ping', params: {} });
  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 7, result: { action: 'decline' } },
    { jsonrpc: '2.0', id: 'p', result: {} },
  ]);
});
