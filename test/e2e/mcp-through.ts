/** Compares what an MCP client gets from a server with what it gets from a toolset of that server. */
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { connectClient, type ClientEra } from './mcp-clients.ts';
import type { SharedService } from './shared-service.ts';

/** Removes what a toolset adds to a result or a tool. */
function bare(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { _meta, ...rest } = value as Record<string, unknown>;
  const { canonical: _c, aliases: _a, requested: _r, via: _v, code: _e, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  const foreign = Object.entries(meta).filter(([name]) => !name.startsWith('io.modelcontextprotocol/'));
  return { ...rest, ...(foreign.length > 0 && { _meta: Object.fromEntries(foreign) }) };
}

export async function outcome(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  meta?: Record<string, unknown>,
): Promise<unknown> {
  try {
    const { isError = false, ...result } = bare(await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as {
      isError?: boolean;
    };
    return { ...result, isError };
  } catch (error) {
    const { code, message, data } = error as { code?: number; message: string; data?: unknown };
    return { code, message, data };
  }
}

export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  const { code, message, data } = (await work.catch((error: unknown) => error)) as { code?: number; message?: string; data?: unknown };
  return { code, message, data };
}

export async function listed(client: Client): Promise<Map<string, Record<string, unknown>>> {
  return new Map((await client.listTools()).tools.map((tool) => [tool.name, bare(tool) as Record<string, unknown>]));
}

export type Pair = { direct: Client; through: Client };

/** Some servers list tools that ask only for a client that can be asked. */
const elicitation = { form: {}, url: {} };

/** How each of the clients connects. `roots`: they have roots. */
type Connecting = { era: ClientEra; own?: ClientEra; roots?: boolean };

/** `era`: of the client of the toolset. `own`: of the client that asks the server, which may speak only the other one. */
export async function connectBoth(
  service: SharedService,
  server: string,
  url: string,
  { era, own = era, roots = false }: Connecting,
): Promise<Pair> {
  const capabilities = { elicitation, ...(roots && { roots: {} }) };
  const prepare = (client: Client): void => {
    if (roots) client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home', name: 'home' }] }));
  };
  const direct = await connectClient(url, null, own, capabilities, prepare);
  const through = await connectClient(`${service.url}/mcp/${server}`, service.key, era, capabilities, prepare);
  return { direct, through };
}

/** Stores the server and a toolset of all its tools, under their own names, without approvals. */
export async function offerAll(service: SharedService, server: string, url: string): Promise<void> {
  const { status, json } = await service.call('PUT', `/v1/servers/${server}`, { kind: 'mcp', url, trusted: true, roots: 'client' });
  expect([200, 201]).toContain(status);
  expect(json.health.status, JSON.stringify(json)).toBe('ok');
  const { tools: all } = (await service.call('GET', `/v1/servers/${server}`)).json;
  const entries = all.map(({ canonical }: { canonical: string }) => ({ tool: canonical, aliases: [], approval: 'never' }));
  expect((await service.call('PUT', `/v1/toolsets/${server}`, { tools: entries, announce: 'none' })).status).toBe(201);
}
