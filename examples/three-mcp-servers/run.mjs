/** One toolset over three MCP servers whose tools are all called `search`, and one question to all of them. */
import { call, forget, put } from '../lib/moniker.mjs';
import { startMcpServer } from '../lib/stand-ins.mjs';

const search = (where) => ({
  name: 'search',
  description: `Searches ${where}.`,
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  annotations: { readOnlyHint: true },
  run: ({ query }) => `${where}: 1 result for "${query}"`,
});

// For real servers leave these lines out and give their addresses, with `headers` or `oauth` where they need them.
const servers = {
  wiki: await startMcpServer('wiki', [search('the wiki')]),
  tickets: await startMcpServer('tickets', [search('the tickets')]),
  code: await startMcpServer('code', [search('the source code')]),
};
try {
  for (const [name, { url }] of Object.entries(servers)) {
    await forget(name, 'research');
    await put(`/v1/servers/${name}`, { kind: 'mcp', url: `${url}/mcp`, trusted: true });
  }
  await put('/v1/toolsets/research', {
    description: 'Everything that is known about the product.',
    tools: [
      { tool: 'wiki.search', name: 'search_wiki', aliases: ['lookup'] },
      { tool: 'tickets.search', name: 'search_tickets' },
      { tool: 'code.search', name: 'search_code', aliases: ['grep'] },
    ],
  });
  const { id: session } = await call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'research' });
  const { status, toolCalls } = await call('POST', `/v1/sessions/${session}/turns`, {
    input: '/lookup query=login\n/search_tickets query=login\n/grep query=login',
  });
  for (const { requested, canonical, content } of toolCalls) console.log(`${requested} -> ${canonical}: ${content[0].text}`);
  console.log(`turn ${status}`);
} finally {
  for (const server of Object.values(servers)) server.close();
}
