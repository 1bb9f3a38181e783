/** The MCP endpoints as OAuth protected resources: their paths, and the paths of their metadata (RFC 9728). */

const name = '[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?';
const endpoint = new RegExp(`^/(?:mcp|sse)(?:/(${name})(?=/))?(?:/(${name}(?:@[1-9][0-9]{0,8})?))?$`);

/** `/sse`: for clients that only know HTTP+SSE. `workspace`: null when the path does not name one. `toolset`: a reference, or null for the equipped toolset at `/mcp`. */
export type McpEndpoint = { workspace: string | null; toolset: string | null };

/** Returns the parts of a canonical path of an MCP endpoint; null for any other path. */
export function readMcpPath(path: string): McpEndpoint | null {
  const match = endpoint.exec(path);
  return match === null ? null : { workspace: match[1] ?? null, toolset: match[2] ?? null };
}

/** The same for a path that begins with that of the public URL. */
export function readMcpPathBehind(path: string): McpEndpoint | null {
  return readMcpPath(path.slice(Math.max(0, path.search(/\/(?:mcp|sse)(?:\/|$)/))));
}

/**
 * Returns the endpoint that a resource indicator (RFC 8707) names, with its canonical URL. `base`: the URL of this service, which as a
 * resource stands for `/mcp`. Scheme and host may have any case, and one slash may follow; the path, which has no query, must otherwise be
 * exact. Returns null for anything else.
 */
export function readMcpResource(base: string, resource: string): (McpEndpoint & { resource: string }) | null {
  const url = URL.parse(resource);
  const own = new URL(base);
  if (url === null || url.origin !== own.origin || url.username !== '' || url.password !== '' || /[?#]/.test(resource)) return null;
  const prefix = own.pathname.replace(/\/+$/, '');
  // Compared as sent: the parser has resolved dot segments and backslashes.
  const from = resource.indexOf('/', resource.indexOf('//') + 2);
  const sent = from < 0 ? '/' : resource.slice(from);
  if (sent !== url.pathname || !`${sent}/`.startsWith(`${prefix}/`)) return null;
  const path = sent.slice(prefix.length).replace(/(?<!\/)\/$/, '');
  const endpointPath = path === '' || path === '/' ? '/mcp' : path;
  const parts = readMcpPath(endpointPath);
  return parts === null ? null : { ...parts, resource: `${url.origin}${prefix}${endpointPath}` };
}

/** `path`: of an MCP endpoint. */
export function resourceMetadataPath(path: string): string {
  return `/.well-known/oauth-protected-resource${path}`;
}
