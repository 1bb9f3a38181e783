/**
 * One process with a server of each kind that Moniker connects to, for the pages in docs/: an MCP server at /mcp, an HTTP API with its
 * OpenAPI document at /openapi.json, and an endpoint for static tools at /call. Start it with `node examples/practice-server.mjs`.
 * PRACTICE_PORT sets the port (default 8790).
 */
import { readFileSync } from 'node:fs';
import { answerMcp, startApi } from './lib/stand-ins.mjs';
import { shop } from './openapi-import/shop.mjs';

const text = { type: 'string' };
const mcpTools = [
  {
    name: 'search_docs',
    description: 'Searches the product documentation.',
    inputSchema: { type: 'object', properties: { query: text }, required: ['query'] },
    annotations: { readOnlyHint: true },
    run: ({ query }) => `1 page found for "${query}": Installing the product`,
  },
  {
    name: 'delete_page',
    description: 'Deletes a page of the documentation.',
    inputSchema: { type: 'object', properties: { page: text }, required: ['page'] },
    annotations: { destructiveHint: true },
    run: ({ page }) => `Deleted ${page}.`,
  },
];

function answerCall({ name, arguments: args }) {
  if (name === 'actions_get')
    return { name: 'Nightly build', method: args.method, resource_id: args.resource_id, runs: [{ status: 'passed' }] };
  return { content: [{ type: 'text', text: `No tool ${name}` }], isError: true };
}

const document = JSON.parse(readFileSync(new URL('./openapi-import/shop-api.json', import.meta.url), 'utf8'));
const server = await startApi(
  ({ method, path, body }) => {
    if (path === '/openapi.json') return { ...document, servers: [{ url: `${server.url}/shop` }] };
    if (path.startsWith('/shop/')) return shop(method, path.slice('/shop'.length), body);
    if (path === '/mcp' && method === 'POST') return answerMcp('practice-docs', mcpTools, body);
    if (path === '/call' && method === 'POST') return answerCall(JSON.parse(body));
    return { status: method === 'POST' ? 404 : 405, json: { error: 'Not found' } };
  },
  Number(process.env.PRACTICE_PORT ?? 8790),
);
console.log(`Practice servers at ${server.url}: /mcp, /openapi.json, /call`);
