import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, rootKey, type Harness } from './harness.ts';

async function withDemo(environment: Record<string, string> = {}): Promise<Harness> {
  const harness = createHarness(environment);
  await harness.send('PUT', '/v1/toolsets/demo', demo);
  return harness;
}

async function connect(harness: Harness, path: string, mode: 'auto' | 'legacy', key = rootKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`http://moniker.test${path}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: async (url, init) => await harness.app.request(String(url), init),
  });
  await client.connect(transport);
  return client;
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** As a client of the 2026-07-28 revision writes it. */
export function modern(harness: Harness, path: string, method: string, params: Record<string, unknown> = {}, headers: Record<string, string | undefined> = {}) {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } };
  const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  const own = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name };
  return harness.send('POST', path, body, { ...own, ...headers });
}

describe('a toolset over MCP, 2026-07-28', () => {
  it('is discovered, listed and called with the SDK by any name that resolves', async () => {
    const client = await connect(await withDemo(), '/mcp/demo', 'auto');
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['shell', 'read_file']);
    expect(tools[0]).toMatchObject({ _meta: { 'io.moniker/canonical': 'builtin.bash', 'io.moniker/aliases': ['terminal'] } });
    for (const name of ['shell', 'terminal', 'builtin.bash', 'bash', 'Terminal']) {
      const result = await client.callTool({ name, arguments: { command: 'ls' } });
      expect(result).toMatchObject({ content: [{ type: 'text', text: 'ran with {"command":"ls"}' }], _meta: { 'io.moniker/canonical': 'builtin.bash' } });
    }
  });
});
