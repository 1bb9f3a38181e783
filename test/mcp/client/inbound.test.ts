import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { createIdleTimeout } from '../../../src/engine/timeout.ts';
import { handleServerMessages } from '../../../src/mcp/client/inbound.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { accessTo } from './context.ts';

it('What a server reports reaches the hook for it, if it is well-formed', async () => {
  const heard: unknown[] = [];
  const hooks = {
    notice: (line: unknown) => void heard.push(['notice', line]),
    onListChanged: (list: string) => void heard.push(['list', list]),
    onResourceUpdated: (uri: string) => void heard.push(['resource', uri]),
  };
  let signs = 0;
  const client = {} as Client;
  const idleTimeout = createIdleTimeout(fakeClock(), {});
  const alive = (): void => {
    signs += 1;
  };
  handleServerMessages(
    client,
    accessTo('https://mcp.example.com/mcp'),
    { ...hooks, alive },
    { idleTimeout, isAsked: () => true, rootsRead: () => undefined },
  );
  for (const [method, params] of [
    ['message', { level: 'info', data: 'working' }],
    ['message', { level: 7, data: 'working' }],
    ['tools/list_changed', undefined],
    ['prompts/list_changed', {}],
    ['resources/list_changed', {}],
    ['resources/updated', { uri: 'file:///a' }],
    ['resources/updated', { uri: 7 }],
    ['unknown', {}],
  ] as const)
    await client.fallbackNotificationHandler?.({ method: `notifications/${method}`, ...(params !== undefined && { params }) });
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
