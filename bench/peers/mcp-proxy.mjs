/** Starts `mcp-proxy` in front of an MCP server over HTTP: `node mcp-proxy.mjs <port> <url>`. Its command starts servers over stdio only, so this uses its functions. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { proxyServer, startHTTPServer } from 'mcp-proxy';

const [port, url] = process.argv.slice(2);
const client = new Client({ name: 'mcp-proxy', version: '1.0.0' }, { capabilities: {}, versionNegotiation: { mode: 'legacy' } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const serverCapabilities = client.getServerCapabilities();

await startHTTPServer({
  createServer: async () => {
    const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
  host: '127.0.0.1',
  port: Number(port),
  streamEndpoint: '/mcp',
});
