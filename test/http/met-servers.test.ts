/** Servers with an expired TTL, refreshed by requests that only list: requests do not wait, and every list triggers the refresh. */
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import type { Discovery } from '../../src/core/servers/server-state.ts';
import { discoveryOf } from '../contracts/catalog/self-listing-servers.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';
import { waitFor } from '../wait-for.ts';

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const accept = { accept: 'application/json, text/event-stream' };

let h: Harness;
let readings: number;
let answer: () => Promise<Discovery>;
const behind = async () => {
  await Promise.all(h.background.splice(0));
};
const stateOf = async () => {
  const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/daily/tools'));
  return (tools as { state: string }[])[0]?.state;
};

beforeEach(async () => {
  h = createHarness();
  readings = 0;
  answer = async () => {
    throw new Problem('upstream_error', 'The server weather answered 502.');
  };
  h.sources.mcp = {
    discover: async () => {
      readings += 1;
      return await answer();
    },
  };
  await h.send('PUT', '/v1/servers/weather', { kind: 'mcp', url: 'https://mcp.example.com/mcp' });
  await h.send('PUT', '/v1/toolsets/daily', { tools: [{ tool: 'weather.get' }] });
  await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', toolset: 'daily' });
  readings = 0;
  await behind();
  answer = async () => discoveryOf([tool('get')]);
});

describe.each<[string, () => Promise<Response>]>([
  ['the tools of a toolset', () => h.send('GET', '/v1/toolsets/daily/tools')],
  ['a name of a toolset', () => h.send('GET', '/v1/toolsets/daily/resolve?name=weather_get')],
  ['a chat', () => h.send('POST', '/v1/chat/completions', { model: 'agent/helper', messages: [{ role: 'user', content: 'Hello.' }] })],
  ['a direct call', () => h.send('POST', '/v1/toolsets/daily/calls', { name: 'weather_get', arguments: {} })],
  ['the list of MCP', () => h.send('POST', '/mcp/daily', rpc, accept)],
  ['a server', () => h.send('GET', '/v1/servers/weather')],
  ['the servers', () => h.send('GET', '/v1/servers')],
])('a server that was down when it was written is refreshed in the background of a request for %s', (_what, ask) => {
  it('and is ready for the next request', async () => {
    await h.clock.advance(limits.minRefreshIntervalMs);
    let release: (discovery: Discovery) => void = () => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    expect((await ask()).status).toBe(200);
    await waitFor(() => expect(readings).toBe(1));
    expect(await stateOf()).toBe('missing');
    release(discoveryOf([tool('get')]));
    await behind();
    expect(await stateOf()).toBe('ready');
  });
});

it('a request within the TTL refreshes nothing', async () => {
  await h.send('POST', '/v1/servers/weather/refresh');
  readings = 0;
  for (let times = 0; times < 3; times += 1) await h.send('GET', '/v1/toolsets/daily/tools');
  await behind();
  expect(readings).toBe(0);
});
