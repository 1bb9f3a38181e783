/**
 * Runs the tools of `openapi` servers: each call is one request, as the OpenAPI document describes it. Responses are untrusted: their size
 * is bounded, and every fault becomes a result. `engine/call/call-tool.ts` has already checked permissions and arguments.
 */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { secretHostOf } from '../../core/policy/secret.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { ServerOperation } from '../../core/servers/server-state.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { isRepeatable } from '../../core/tools/tool-effects.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { ToolExecutor } from '../../ports/tool-executor.ts';
import { toHttpToolResult } from '../tool-reply.ts';
import { requireBaseUrl, toOperationRequest } from './operation-request.ts';

/** Both throw `not_found` if the server or operation was removed. */
export type OpenApiExecutorDeps = {
  server(name: string): Promise<ServerAccess>;
  operation(server: string, tool: string): Promise<ServerOperation>;
};

export function createOpenApiExecutor({ server, operation }: OpenApiExecutorDeps): ToolExecutor {
  return {
    host: async (tool) => {
      const [access, found] = await Promise.all([server(tool.server), operation(tool.server, tool.ownName)]);
      return secretHostOf(requireBaseUrl(access, found));
    },
    isSafe: (tool) => isRepeatable(tool),
    async execute({ server: name, ownName, canonical }, args, context) {
      try {
        const [access, found] = await Promise.all([server(name), operation(name, ownName)]);
        const response = await context.fetch(await toOperationRequest(access, found, args, context));
        const body = await readBounded(response, limits.maxToolReplyBytes);
        return toHttpToolResult(canonical, response, body, { isPlain: true });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return failure(canonical, error);
      }
    },
  };
}

/** Invalid arguments are reported as such, so that the model can fix them. */
function failure(canonical: string, { code, detail, extra }: Problem): ToolResult {
  if (code === 'invalid_request' && Array.isArray(extra.issues))
    return errorResult('invalid_arguments', `${canonical} was not called: ${detail}`, extra.issues);
  return errorResult(code === 'upstream_timeout' ? 'timeout' : 'tool_error', `${canonical} failed: ${detail}`);
}
