/**
 * Runs the tools of `static` servers: each call is one POST to the server's URL with `{"name", "arguments"}`. The response is an MCP
 * `CallToolResult` (2026-07-28), other JSON, or text. Responses are untrusted: their size is bounded, and every fault becomes a result.
 * `engine/call/call-tool.ts` has already checked permissions and arguments.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { secretHostOf } from '../core/policy/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import { errorResult } from '../core/tools/tool.ts';
import { isRepeatable } from '../core/toolset/edition-tool.ts';
import { readBounded } from '../net/read-bounded.ts';
import { toServerHeaders } from '../net/headers.ts';
import type { ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import { toHttpToolResult } from './tool-reply.ts';

/** `server` throws `not_found` if the server was removed. */
export function createStaticExecutor(server: (name: string) => Promise<ServerAccess>): ToolExecutor {
  return {
    host: async (tool) => secretHostOf((await server(tool.server)).url),
    isSafe: (tool) => isRepeatable(tool),
    async execute({ server: name, ownName, canonical }, args, context) {
      try {
        const { url, headers = {} } = await server(name);
        const request = await toRequest(url, headers, { name: ownName, arguments: args }, context);
        const response = await context.fetch(request);
        return toHttpToolResult(canonical, response, await readBounded(response, limits.maxToolReplyBytes));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return errorResult(error.code === 'upstream_timeout' ? 'timeout' : 'tool_error', `${canonical} failed: ${error.detail}`);
      }
    },
  };
}

async function toRequest(
  url: string,
  written: NonNullable<ServerAccess['headers']>,
  body: { name: string; arguments: Record<string, unknown> },
  context: ToolContext,
): Promise<Request> {
  const headers = await toServerHeaders(url, written, (name, host) => context.secret(name, host));
  headers.set('accept', 'application/json');
  headers.set('content-type', 'application/json');
  // The same for every attempt of a call, so that a server that supports the header runs it once.
  headers.set('idempotency-key', context.idempotencyKey);
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
}
