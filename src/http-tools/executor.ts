/**
 * Runs tools over HTTP: each call is one request to the tool's server. Responses are untrusted: their size is bounded, and every fault
 * becomes a result. `engine/call/call-tool.ts` has already checked permissions and arguments.
 */
import { limits } from '../core/limits/limits.ts';
import { once } from '../core/memoize.ts';
import { Problem } from '../core/problem.ts';
import { secretHostOf } from '../core/secrets/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { ServerOperation } from '../core/tools/server-operation.ts';
import { errorResult } from '../core/tools/tool.ts';
import { isRepeatable, type EditionTool } from '../core/toolset/edition-tool.ts';
import { failedCall } from '../engine/call/sent-effects.ts';
import { readBounded } from '../net/read-bounded.ts';
import { toServerHeaders, withServerQuery } from '../net/headers.ts';
import type { ToolContext, ToolExecutor, ToolOutcome } from '../ports/tool-executor.ts';
import { toHttpToolResult } from './tool-reply.ts';

type HttpCalls = {
  /** The URL that decides which secrets may be sent. */
  url(tool: EditionTool): Promise<string>;
  /** Throws `invalid_request` with `issues` that name the arguments. */
  request(tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<Request>;
  /** The response is not an MCP `CallToolResult`. */
  isPlain: boolean;
};

function createHttpExecutor({ url, request, isPlain }: HttpCalls): ToolExecutor {
  return {
    host: async (tool) => secretHostOf(await url(tool)),
    isSafe: (tool) => isRepeatable(tool),
    async execute(tool, args, context) {
      let isTried = false;
      try {
        const outgoing = await request(tool, args, context);
        isTried = true;
        context.sending?.();
        const response = await context.fetch(outgoing);
        const result = toHttpToolResult(tool.canonical, response, await readBounded(response, limits.maxToolReplyBytes), { isPlain });
        return response.status >= 500 || response.status === 429 ? { ...result, failed: 'rejected' } : result;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const failed = failure(tool, error);
        return isTried || failed.failed === undefined ? failed : { ...failed, failed: 'unsent' };
      }
    },
  };
}

/** Invalid arguments are reported as such, so that the model can fix them. */
function failure({ canonical }: EditionTool, error: Problem): ToolOutcome {
  const { code, detail, extra } = error;
  if (code === 'invalid_request' && Array.isArray(extra.issues))
    return errorResult('invalid_arguments', `${canonical} was not called: ${detail}`, extra.issues);
  return failedCall(canonical, error);
}

/**
 * The tools of `static` servers: a POST to the server's URL with `{"name", "arguments"}`. The response is an MCP `CallToolResult`
 * (2026-07-28), other JSON, or text. `server` throws `not_found` if the server was removed.
 */
export function createStaticExecutor(server: (name: string) => Promise<ServerAccess>): ToolExecutor {
  return createHttpExecutor({
    isPlain: false,
    url: async (tool) => (await server(tool.server)).url,
    async request(tool, args, context) {
      const { url, headers: written = {}, query = {} } = await server(tool.server);
      const secret = (name: string, host: string): Promise<string> => context.secret(name, host);
      const headers = await toServerHeaders(url, written, secret);
      headers.set('accept', 'application/json');
      headers.set('content-type', 'application/json');
      // The same for every attempt of a call, so that a server that supports the header runs it once.
      headers.set('idempotency-key', context.idempotencyKey);
      const target = await withServerQuery(url, query, secret);
      return new Request(target, { method: 'POST', headers, body: JSON.stringify({ name: tool.ownName, arguments: args }) });
    },
  });
}

const loadRequest = once(() => import('./openapi/operation-request.ts'));

type OpenApiExecutorDeps = {
  server(name: string): Promise<ServerAccess>;
  operation(tool: EditionTool): Promise<ServerOperation>;
};

/** The tools of `openapi` servers: each call is one request, as the document describes it. Both throw `not_found` if it was removed. */
export function createOpenApiExecutor({ server, operation }: OpenApiExecutorDeps): ToolExecutor {
  const read = (tool: EditionTool) => Promise.all([server(tool.server), operation(tool)]);
  return createHttpExecutor({
    isPlain: true,
    url: async (tool) => (await loadRequest()).requireBaseUrl(...(await read(tool))),
    request: async (tool, args, context) => await (await loadRequest()).toOperationRequest(...(await read(tool)), args, context),
  });
}
