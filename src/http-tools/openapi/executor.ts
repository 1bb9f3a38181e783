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
import { isRepeatable } from '../../core/toolset/edition-tool.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { ToolExecutor, ToolContext } from '../../ports/tool-executor.ts';
import { toHttpToolResult } from '../tool-reply.ts';
import { cookieText, headerText, requestUrl } from '../../core/openapi/request-url.ts';
import { toServerHeaders } from '../../net/headers.ts';
import { writeBody } from './request-body.ts';

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

/** Throws `invalid_request` (`issues` name the arguments) or `not_configured`. */
async function toOperationRequest(
  server: Pick<ServerAccess, 'name' | 'headers' | 'baseUrl'>,
  operation: ServerOperation,
  args: Record<string, unknown>,
  context: Pick<ToolContext, 'secret' | 'idempotencyKey'>,
): Promise<Request> {
  const url = requestUrl(operation, requireBaseUrl(server, operation), args).href;
  const body = writeBody(operation, args);
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.8' });
  const cookies: string[] = [];
  for (const parameter of operation.parameters) {
    const value = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined;
    if (value === undefined || value === null) continue;
    if (parameter.in === 'header') headers.set(parameter.name, headerText(parameter, value));
    if (parameter.in === 'cookie') cookies.push(cookieText(parameter, value));
  }
  // Set after the arguments, so that the model cannot override an administrator's headers.
  const written = await toServerHeaders(url, server.headers ?? {}, (name, host) => context.secret(name, host));
  for (const [name, value] of written) headers.set(name, value);
  if (cookies.length > 0) headers.set('cookie', [headers.get('cookie'), ...cookies].filter((cookie) => cookie !== null).join('; '));
  if (body?.contentType !== undefined) headers.set('content-type', body.contentType);
  // The same for every attempt of a call, so that a server that supports the header runs it once.
  headers.set('idempotency-key', context.idempotencyKey);
  return new Request(url, { method: operation.method, headers, ...(body !== null && { body: body.content }) });
}

function requireBaseUrl({ name, baseUrl }: Pick<ServerAccess, 'name' | 'baseUrl'>, operation: ServerOperation): string {
  const base = baseUrl ?? operation.baseUrl;
  if (base !== undefined) return base;
  throw new Problem('not_configured', `The server ${name} has no base URL for its operations. Set its baseUrl, or refresh it.`);
}
