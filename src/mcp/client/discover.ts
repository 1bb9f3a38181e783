/**
 * Lists an MCP server: all pages of its tools, unparsed (definitions are checked later, one by one), and prompts, resources and templates
 * if it declares them. Failing to list those does not fail the tools. Always uses a new session, in which the server's era and capabilities
 * are detected.
 */
import { cutBelow, isRecord, recordOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { Discovery, ServerConnection, ServerOffers } from '../../core/servers/server-state.ts';
import type { UpstreamMethod } from '../../core/tools/upstream-method.ts';
import type { UpstreamContext } from '../../ports/upstream.ts';
import { allAskableInput } from '../../core/tools/mcp-input.ts';
import type { Connection } from './connection.ts';
import { withConnection } from './with-connection.ts';
import { permanentError, toFault, upstreamError } from './upstream-fault.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { Problem, type Warning } from '../../core/problem.ts';
import { cutToBytes, utf8Length } from '../../core/text/utf8.ts';
import { KB } from '../../core/limits/units.ts';

/** Pages of one list of an MCP server. */
export const maxListingPages = 64;
/** JSON-RPC 2.0, section 5.1. */
const methodNotFound = -32601;
const maxCapabilitiesLength = 16 * KB;

export async function discover(memory: ConnectionMemory, server: ServerAccess, context: UpstreamContext): Promise<Discovery> {
  const options = {
    hooks: {},
    askable: allAskableInput,
    maxBytes: limits.maxListingBytes,
    isMaxForAll: true,
    isFresh: true,
    totalMs: limits.discoveryTimeoutMs,
  };
  return withConnection(memory, server, context, options, async (connection) => {
    const warnings: Warning[] = [];
    const { capabilities } = connection.hello ?? { capabilities: {} };
    const tools = capabilities.tools === undefined ? nothing : await listPages(connection, server.name, 'tools/list', 'tools');
    if (tools.isRepeating)
      warnings.push({ path: 'tools', message: 'the listing repeats a page cursor; pages before the repetition were read' });
    const unread: (keyof ServerOffers)[] = [];
    const offers = await listOffers(connection, server.name, capabilities, { warnings, unread });
    return {
      tools: tools.items,
      connection: toServerConnection(connection),
      offers,
      ...(unread.length > 0 && { unread }),
      operations: null,
      ttlMs: tools.ttlMs,
      ...(warnings.length > 0 && { warnings }),
    };
  });
}

/** A definition nested deeper than `limits.maxJsonDepth` is still read this deep, so that it is detected without affecting the others. */
const seenDepth = limits.maxJsonDepth + 8;

type Listed = { items: Record<string, unknown>[]; ttlMs: number | null; isRepeating: boolean };

const nothing: Listed = { items: [], ttlMs: null, isRepeating: false };

async function listPages(connection: Connection, server: string, method: UpstreamMethod, member: string): Promise<Listed> {
  const items: Record<string, unknown>[] = [];
  const seen = new Set<string>();
  let ttlMs: number | null = null;
  let cursor: string | undefined;
  for (let page = 0; page < maxListingPages; page += 1) {
    const result = await connection.request(method, cursor === undefined ? {} : { cursor });
    const listed = result[member];
    if (!Array.isArray(listed)) throw upstreamError(server, `responded to ${method} without \`${member}\`.`);
    for (const item of listed) if (isRecord(item)) items.push(cutBelow(item, seenDepth));
    if (typeof result.ttlMs === 'number' && result.ttlMs >= 0) ttlMs = Math.min(ttlMs ?? Number.POSITIVE_INFINITY, result.ttlMs);
    const { nextCursor } = result;
    if (typeof nextCursor !== 'string') return { items, ttlMs, isRepeating: false };
    if (seen.has(nextCursor)) return { items, ttlMs, isRepeating: true };
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw permanentError(server, `lists its ${member} on more than ${maxListingPages} pages, which is the limit.`);
}

async function listOffers(
  connection: Connection,
  server: string,
  { prompts, resources }: Record<string, unknown>,
  { warnings, unread }: { warnings: Warning[]; unread: (keyof ServerOffers)[] },
): Promise<ServerOffers> {
  const room = { left: limits.maxServerOffersBytes };
  const read = async <Member extends keyof ServerOffers>(
    method: UpstreamMethod,
    member: Member,
    key: string,
  ): Promise<ServerOffers[Member]> => {
    if ((member === 'prompts' ? prompts : resources) === undefined) return [];
    try {
      const { items } = await listPages(connection, server, method, member);
      const named = items.filter((item) => typeof item[key] === 'string' && typeof item.name === 'string');
      const fitting = named.slice(0, limits.maxServerOffers).filter((item) => {
        room.left -= utf8Length(JSON.stringify(item));
        return room.left >= 0;
      });
      if (fitting.length < items.length)
        warnings.push({
          path: member,
          message: `${items.length - fitting.length} of ${items.length} are skipped: too many, too large, or without a name`,
        });
      // `key` and `name` are checked above; an offer keeps all other members unchanged.
      return fitting as unknown as ServerOffers[Member];
    } catch (error) {
      if (connection.signal.aborted) throw error;
      const fault = toFault(server, error);
      if (!(fault instanceof Problem)) throw fault;
      // Templates are optional for a server that has resources.
      if (member === 'resourceTemplates' && fault.cause instanceof ServerRpcError && fault.cause.rpc.code === methodNotFound) return [];
      warnings.push({ path: member, message: `could not be read. ${fault.detail}` });
      unread.push(member);
      return [];
    }
  };
  return {
    prompts: await read('prompts/list', 'prompts', 'name'),
    resources: await read('resources/list', 'resources', 'uri'),
    resourceTemplates: await read('resources/templates/list', 'resourceTemplates', 'uriTemplate'),
  };
}

function toServerConnection({ era, hello, transport: { session, isSse } }: Connection): ServerConnection {
  const { info, instructions } = hello ?? {};
  const capabilities = cutBelow(recordOf(hello?.capabilities), limits.maxJsonDepth);
  const isSmall = JSON.stringify(capabilities).length <= maxCapabilitiesLength;
  const names = Object.keys(capabilities).slice(0, 20);
  return {
    era,
    protocolVersion: session.version,
    ...(isSse && { transport: 'sse' as const }),
    capabilities: isSmall ? capabilities : Object.fromEntries(names.map((name) => [name.slice(0, 100), {}])),
    ...(info && { server: { name: info.name.slice(0, 200), version: info.version.slice(0, 200) } }),
    ...(instructions !== undefined && { instructions: cutToBytes(instructions, limits.maxServerInstructionBytes) }),
  };
}
