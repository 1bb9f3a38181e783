/** `mcp_servers` of LiteLLM: servers, and the toolset `litellm` with their tools. LiteLLM documentation, "MCP" and "MCP Configuration Reference". */
import type { Json } from '../json/wire-value.ts';
import { recordOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import type { LiteLlmEnvironment } from './litellm-models.ts';
import { addMcpServer } from './mcp-server.ts';
import type { Members } from './members.ts';
import { createVariables, fromOsEnviron } from './variables.ts';

/** `aliases`: `mcp_aliases`. */
export function readLiteLlmServers(
  draft: ImportDraft,
  file: Members,
  _given: { environment: LiteLlmEnvironment; aliases: Members | null },
): void {
  const servers: string[] = [];
  for (const [name, item] of Object.entries(recordOf(file.take('mcp_servers')))) {
    const entry = recordOf(item);
    const headers = { ...recordOf(entry.static_headers ?? entry.headers), ...authHeader(entry) };
    const server = addMcpServer(draft, name, { ...entry, headers }, createVariables());
    if (server !== null) servers.push(server);
  }
  if (servers.length > 0) draft.add('toolsets', 'litellm', { tools: servers.map((server) => ({ tool: `${server}.*` })) });
}

function authHeader({ auth_type, auth_value, authentication_token }: Json): Json {
  const text = fromOsEnviron(auth_value ?? authentication_token);
  if (text === '') return {};
  switch (auth_type) {
    case 'api_key':
      return { 'X-API-Key': text };
    case 'basic':
      return { Authorization: `Basic ${text}` };
    case 'authorization':
      return { Authorization: text };
    default:
      return { Authorization: `Bearer ${text}` };
  }
}
