/**
 * One MCP server as the files of MCP clients describe it: a command with arguments and environment, or a URL with headers. Their members
 * differ little, so that one reader understands those of all clients.
 */
import type { Json } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import type { ImportDraft } from './draft.ts';
import { bridgedServer } from './mcp-bridges.ts';
import { writtenCommandMembers, writtenCommandOf, localServer } from './mcp-command.ts';
import { headersOf, remoteMembers, remoteServer } from './mcp-remote-server.ts';
import { readOfferedTools, type OfferedTools, type OfferedToolsOptions, toolEntries, withFilter } from './mcp-tools.ts';
import { type ServerReading, ServerRefusal, unlessRefused } from './mcp-values.ts';
import type { Members, WrittenValue } from './members.ts';
import type { Variables } from './variables.ts';

/** What a format knows of a server from elsewhere than the members that all formats have. */
export type GivenServer = OfferedToolsOptions & {
  /** In addition to those of the entry, which they replace. */
  headers?: readonly WrittenValue[];
  filter?: Partial<OfferedTools>;
  /** Why the file leaves the server out. */
  off?: string | null;
  /** Its times are in seconds, whatever they are. */
  isInSeconds?: boolean;
  /** Its `timeout` limits the start, not the calls. */
  hasStartTimeout?: boolean;
  /** Members of the document that are elsewhere in the file. */
  document?: Json;
};

/** `entries`: of a toolset with the tools that the file offers, which is what `filter` says. */
export type AddedServer = { server: string; entries: Json[]; filter: OfferedTools };

/** Adds the server; null if it is skipped, which is reported. `written`: its name in the file; `members`: its entry. */
export function addMcpServer(
  draft: ImportDraft,
  written: string,
  members: Members,
  variables: Variables,
  given: GivenServer = {},
): AddedServer | null {
  const off = isSwitchedOff(members) ? 'is disabled in the file' : (given.off ?? null);
  if (off !== null) return skipped(members, off);
  const reading: ServerReading = { draft, written, members, variables, notes: [] };
  return unlessRefused(members, () => {
    const { document, filter } = readServer(reading, given);
    if (given.hasStartTimeout === true) members.skip(['timeout'], startTimeout);
    else Object.assign(document, timeoutOf(members, given.isInSeconds === true));
    Object.assign(document, given.document);
    const tools = withFilter(withFilter(readOfferedTools(members, given), given.filter), filter);
    const server = draft.add('servers', written, document, members.path);
    if (server === null) return skipped(members, null);
    for (const [path, text] of reading.notes) draft.warn(path, text);
    members.ignore('$schema', 'source');
    for (const [names, reason] of others) members.skipUnread(names, reason);
    return { server, entries: toolEntries(server, tools, members), filter: tools };
  });
}

/** Adds the server of an OpenAPI document. Null if it is skipped, which is reported. Throws `ServerRefusal`. */
export function addApiServer({ draft, written, members, notes }: ServerReading, document: Json, given: GivenServer): AddedServer | null {
  const filter = withFilter(readOfferedTools(members, given), given.filter);
  const server = draft.add('servers', written, { kind: 'openapi', ...document }, members.path);
  if (server === null) return skipped(members, null);
  for (const [path, text] of notes) draft.warn(path, text);
  return { server, entries: toolEntries(server, filter, members), filter };
}

/** What is neither true nor false may switch it off. MetaMCP: `status: "INACTIVE"`. */
function isSwitchedOff(members: Members): boolean {
  return members.names().some((name) => {
    if (/^(is_?)?disabled$/i.test(name)) return members.flag(name) !== false;
    if (/^(is_?)?(enabled|active)$/i.test(name)) return members.flag(name) !== true;
    return name === 'status' && /^(inactive|disabled|suspended)$/i.test(members.text(name) ?? '');
  });
}

function skipped(members: Members, reason: string | null): null {
  if (reason === null) members.ignore(...members.names());
  else members.skipWhole(reason);
  return null;
}

const urlMembers = ['httpUrl', 'url', 'serverUrl', 'endpoint', 'uri'];

function readServer(reading: ServerReading, given: GivenServer): { document: Json; filter?: Partial<OfferedTools> } {
  const { members } = reading;
  const type = members.text('type', 'transport', 'transportType')?.toLowerCase() ?? '';
  if (/^(ws|wss|websocket)$/.test(type))
    throw new ServerRefusal('uses WebSocket; only Streamable HTTP, HTTP+SSE and commands are supported');
  if (!/^(|stdio|local|https?|sse|remote|streamable[-_ ]?http)$/.test(type))
    throw new ServerRefusal(
      `is of the type ${JSON.stringify(type.slice(0, 40))}: only servers with a \`command\` or \`url\` are supported`,
    );
  const hasUrl = urlMembers.some((name) => typeof members.peek(name) === 'string' && members.peek(name) !== '');
  const command = hasUrl && !/^(stdio|local)$/.test(type) ? null : writtenCommandOf(members);
  if (command === null) {
    const url = members.text(...urlMembers) ?? '';
    if (url === '') throw new ServerRefusal('has neither `command` nor `url`');
    members.skip(writtenCommandMembers, 'is not used: the server has a url');
    const env = members.record('env', 'environment', 'envs');
    const path = members.pathOf(urlMembers.find((name) => members.has(name)) ?? 'url');
    const target = { url, path, headers: [...headersOf(members), ...(given.headers ?? [])], env };
    return { document: remoteServer(reading, target) };
  }
  const bridged = bridgedServer(reading, command);
  members.skip(bridged === null ? [...urlMembers, ...remoteMembers] : urlMembers, 'is not used: the server is a command');
  if (bridged === null) return { document: localServer(reading, command) };
  members.skip(writtenCommandMembers.slice(3), `is only for ${bridged.bridge}, which is not run`);
  members.change('', `runs ${bridged.bridge} only to reach ${bridged.host}: the server is connected directly, without the program`);
  return {
    document: { ...remoteServer(reading, { ...bridged, env: command.env }), ...bridged.document },
    filter: bridged.filter,
  };
}

/** Milliseconds; below 1,000 it is seconds, as some clients write it. */
function timeoutOf(members: Members, isInSeconds: boolean): Json {
  const name = ['tool_timeout_sec', 'timeoutMs'].find((one) => members.has(one)) ?? 'timeout';
  const given = members.number('tool_timeout_sec', 'timeoutMs', 'timeout');
  if (given === null || given <= 0) return {};
  const seconds = name === 'tool_timeout_sec' || isInSeconds || given < 1_000;
  const wanted = Math.round(Math.max(seconds ? given * 1_000 : given, 1_000));
  const most = limits.maxServerTimeoutMs;
  if (wanted > most) members.change(name, `is ${wanted} ms; at most ${most} ms are used`);
  return { timeoutMs: Math.min(wanted, most) };
}

const startTimeout = 'has no counterpart: the time for one response (`timeoutMs`) also limits the start';

/** Members that clients document and that have no counterpart. */
const others: readonly (readonly [names: string[], reason: string])[] = [
  [
    [
      'description',
      'name',
      'displayName',
      'display_name',
      'serverName',
      'icon',
      'iconUrl',
      'faviconUrl',
      'version',
      'gallery',
      'bundled',
      'owner',
    ],
    'describes the server for people, which a server here does not',
  ],
  [
    [
      'startup_timeout_sec',
      'startup_timeout_ms',
      'initTimeout',
      'connectionTimeout',
      'maxTotalTimeout',
      'idleTimeoutMs',
      'keepAliveInterval',
    ],
    startTimeout,
  ],
  [['sandbox', 'sandboxEnabled'], 'is not kept: a command runs without a sandbox here'],
  [
    ['dev', 'sourceFile', 'experimental_environment', 'required', 'supports_parallel_tool_calls'],
    'has no counterpart: it says how the program itself works',
  ],
  [
    ['visibility', 'enableKeepAlive', 'perSessionClient', 'startOnDemand', 'proxy', 'passthroughHeaders', 'prompts', 'resources'],
    'has no counterpart in an import: set it for the server, toolset or keys',
  ],
];
