/** MCP clients of the official SDK for the benchmarks, of one revision each. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';

export const revisions = { modern: { pin: '2026-07-28' }, legacy: 'legacy' } as const;

/** A connected client; `key` is sent as a bearer token. */
export function connectMcp(revision: keyof typeof revisions, url: string, key: string): Promise<Client> {
  return openMcp(
    revision,
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
}

export async function openMcp(revision: keyof typeof revisions, transport: Transport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: revisions[revision] } });
  await client.connect(transport);
  return client;
}
