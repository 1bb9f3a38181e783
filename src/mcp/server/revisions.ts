/** The revisions of MCP that toolsets are served in and servers called in, and the names that 2026-07-28 reserves in `_meta`. */

/** Each request names its revision and the client's capabilities; there are no sessions. */
export const modernRevision = '2026-07-28';

/** Negotiated by `initialize`, the newest first. */
export const sessionRevisions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
export const newestSessionRevision = '2025-11-25';

/** Of a request without the header `mcp-protocol-version` (2025-06-18, transports: "the server SHOULD assume"). */
const unnamedRevision = '2025-03-26';

/** `version`: the `mcp-protocol-version` of a request without the envelope of 2026-07-28. Returns null if it is not supported. */
export function sessionRevision(version: string | null): string | null {
  const revision = version ?? unnamedRevision;
  return sessionRevisions.includes(revision) ? revision : null;
}

/** Revisions are dates, so they are ordered as text. */
export function isModern(revision: string): boolean {
  return revision >= modernRevision;
}

export const metaNames = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** Returns the parameter that the header `mcp-name` of a request repeats (2026-07-28, "Streamable HTTP"), or null. */
export function nameMember(method: string): string | null {
  return (Object.hasOwn(namedBy, method) ? namedBy[method] : null) ?? null;
}

const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The levels of log messages, the least severe first (RFC 5424). */
export const logLevels: readonly string[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
