/** The HTTP request of a call of an OpenAPI operation. Loaded with the first one. */
import { cookieText, headerText, requestUrl } from '../../core/openapi/request-url.ts';
import { Problem } from '../../core/problem.ts';
import { ownMember } from '../../core/json/wire-value.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { ServerOperation } from '../../core/tools/server-operation.ts';
import { toServerHeaders, withServerQuery } from '../../net/headers.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { writeBody } from './request-body.ts';

/** Throws `invalid_request` (`issues` name the arguments) or `not_configured`. */
export async function toOperationRequest(
  server: Pick<ServerAccess, 'name' | 'headers' | 'query' | 'baseUrl'>,
  operation: ServerOperation,
  args: Record<string, unknown>,
  context: Pick<ToolContext, 'secret' | 'idempotencyKey'>,
): Promise<Request> {
  const url = requestUrl(operation, requireBaseUrl(server, operation), args).href;
  const body = writeBody(operation, args);
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.8' });
  const cookies: string[] = [];
  for (const parameter of operation.parameters) {
    const value = ownMember(args, parameter.argument);
    if (value === undefined || value === null) continue;
    if (parameter.in === 'header') headers.set(parameter.name, headerText(parameter, value));
    if (parameter.in === 'cookie') cookies.push(cookieText(parameter, value));
  }
  // Set after the arguments, so that the model cannot override an administrator's headers.
  const secret = (name: string, host: string): Promise<string> => context.secret(name, host);
  const written = await toServerHeaders(url, server.headers ?? {}, secret);
  for (const [name, value] of written) headers.set(name, value);
  if (cookies.length > 0) headers.set('cookie', [headers.get('cookie'), ...cookies].filter((cookie) => cookie !== null).join('; '));
  if (body !== null) headers.set('content-type', body.contentType);
  // The same for every attempt of a call, so that a server that supports the header runs it once.
  headers.set('idempotency-key', context.idempotencyKey);
  const target = await withServerQuery(url, server.query ?? {}, secret);
  return new Request(target, { method: operation.method, headers, ...(body !== null && { body: body.content }) });
}

export function requireBaseUrl({ name, baseUrl }: Pick<ServerAccess, 'name' | 'baseUrl'>, operation: ServerOperation): string {
  const base = baseUrl ?? operation.baseUrl;
  if (base !== undefined) return base;
  throw new Problem('not_configured', `The server ${name} has no base URL for its operations. Set its baseUrl, or refresh it.`);
}
