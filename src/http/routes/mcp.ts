/**
 * A toolset as an MCP server: `/mcp/{toolset}`, and `/mcp` for what the key has equipped. Here: key, origin, host and body. What MCP says is
 * `mcp/server/`.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { ToolsetReference } from '../../core/toolset/toolset-reference.ts';
import { editionHeader, editionName } from '../documents.ts';
import { readJsonBody } from '../json-body.ts';
import { mayCallMcp } from '../own-origin.ts';
import { RpcErrorSchema } from '../problem-schema.ts';
import { mountRoute, type App, type RouteAnswer, type Request as RouteRequest } from '../route.ts';

const params = z.object({ toolset: ToolsetReference });
const message = {
  description: 'One JSON-RPC message of MCP, at most 1 MB.',
  json: z.record(z.string(), z.unknown()).meta({ id: 'McpMessage' }),
};
const mcpHeaders = {
  'mcp-session-id': 'Of a session of the 2025 eras, as the answer to `initialize` gave it.',
  'mcp-protocol-version': 'The revision of MCP that the request is of.',
};
const stream: RouteAnswer = {
  description: 'What MCP answers: one message, or a stream of them.',
  schema: message.json,
  also: 'text/event-stream',
  headers: editionHeader,
};

const methods = [
  {
    method: 'post',
    name: 'send',
    summary: 'Speak MCP',
    description:
      'Any MCP client may use it (Streamable HTTP), in the revision 2026-07-28 and in those of 2024 and 2025. `tools/list` shows the tools under their names, `tools/call` takes any name that resolves. Errors are JSON-RPC. A page of another origin is refused.',
    answers: {
      200: stream,
      202: { description: 'Taken: a notification, or an answer of the client.' },
      406: { description: '`Accept` must hold both application/json and text/event-stream.', schema: RpcErrorSchema },
    },
    problems: [],
    rawBody: message,
  },
  {
    method: 'get',
    name: 'listen',
    summary: 'Listen to an MCP session',
    description:
      'The 2025 eras: what the session says by itself, such as changes of its lists. `Last-Event-ID` goes on after a cut. Without a session there is nothing to listen to.',
    answers: { 200: { description: 'The stream.', contentType: 'text/event-stream' } },
    problems: ['method_not_allowed'],
  },
  {
    method: 'delete',
    name: 'end',
    summary: 'End an MCP session',
    description: 'The 2025 eras. The 2026-07-28 revision has no sessions.',
    answers: { 200: { description: 'It is over.' } },
    problems: ['method_not_allowed'],
  },
] as const;

export function mountMcp(app: App): void {
  for (const { name, problems, ...spec } of methods) {
    const own = { tag: 'MCP', scopes: ['tools'] as const, headers: mcpHeaders, problems: ['not_found', 'forbidden', ...problems] as const };
    const common = { ...spec, ...own };
    mountRoute(app, { ...common, path: '/mcp/{toolset}', operationId: `${name}Mcp`, params }, (request) =>
      serve(request, request.params.toolset),
    );
    mountRoute(app, { ...common, path: '/mcp', operationId: `${name}EquippedMcp` }, (request) => serve(request, null));
  }
}

async function serve(
  { c, services, principal }: Pick<RouteRequest<unknown, unknown, unknown>, 'c' | 'services' | 'principal'>,
  target: string | null,
) {
  const origin = c.req.header('origin');
  if (origin !== undefined && !mayCallMcp(services.settings, origin))
    throw new Problem('forbidden', 'Pages of this origin may not call this service. MONIKER_ALLOWED_ORIGINS lists the origins that may.');
  const request = c.req.raw;
  const body = request.method === 'POST' ? await readJsonBody(request, limits.maxBodyBytes) : null;
  const { response, view } = await services.mcp({ principal, target, request, text: body?.text ?? '', body: body?.value });
  // An answer from another object cannot be written to.
  const answer = new Response(response.body, response);
  if (view.pointer !== null) answer.headers.set('x-moniker-edition', editionName(view.pointer));
  return answer;
}
