/**
 * Handlers for prompts, resources, templates and completions of a toolset's MCP servers. Lists call no server; all other requests call the
 * one server that the item belongs to.
 */
import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { Problem } from '../../core/problem.ts';
import type { ServedCaller } from '../../engine/mcp/serve-call.ts';
import type { ServedOffer } from '../../engine/mcp/offer-names.ts';
import type { OfferAnswer } from '../../engine/mcp/request-offer.ts';
import { complete, getPrompt, readServedOffers, readResource, subscribe } from '../../engine/mcp/serve-resources.ts';
import type { WithCaller, ServeContext } from './serve-context.ts';
import { givenOf, toInputRequired } from './client-channel.ts';
import { paginateList, listPageAt } from './list-cursor.ts';

export function registerResourceHandlers(server: Server, serving: ServeContext, answering: WithCaller): void {
  const { deps } = serving;
  const offersOf = (caller: ServedCaller) => readServedOffers(deps, caller.principal.workspace, caller.view);
  server.setRequestHandler(
    'prompts/list',
    answering(async ({ params }, caller) => listed('prompts', (await offersOf(caller)).prompts, params?.cursor)),
  );
  server.setRequestHandler(
    'resources/list',
    answering(async ({ params }, caller) => listed('resources', (await offersOf(caller)).resources, params?.cursor)),
  );
  server.setRequestHandler(
    'resources/templates/list',
    answering(async ({ params }, caller) => listed('resourceTemplates', (await offersOf(caller)).templates, params?.cursor)),
  );
  server.setRequestHandler(
    'prompts/get',
    answering(async ({ params }, caller, { mcpReq }) => {
      const asked = { name: params.name, ...(params.arguments && { arguments: params.arguments }) };
      return toAnswer(await getPrompt(deps, caller, asked, givenOf(mcpReq), mcpReq.signal));
    }),
  );
  server.setRequestHandler(
    'resources/read',
    answering(async ({ params }, caller, { mcpReq }) => {
      const reading = readResource(deps, caller, params.uri, givenOf(mcpReq), mcpReq.signal);
      return toAnswer(await withResourceNotFound(params.uri, reading));
    }),
  );
  server.setRequestHandler(
    'completion/complete',
    answering(async ({ params }, caller, { mcpReq }) => {
      // The server's response, already checked by the MCP client code.
      return (await complete(deps, caller, { ...params }, mcpReq.signal)) as never;
    }),
  );
  if (serving.subscriptions !== undefined) handleSubscriptions(server, serving, serving.subscriptions, answering);
}

/** Handlers of the 2025 eras: a session receives updates of a resource until it unsubscribes. */
function handleSubscriptions(
  server: Server,
  { deps }: ServeContext,
  subscriptions: NonNullable<ServeContext['subscriptions']>,
  answering: WithCaller,
): void {
  server.setRequestHandler(
    'resources/subscribe',
    answering(async ({ params: { uri } }, caller, { mcpReq }) => {
      subscriptions.add(await withResourceNotFound(uri, subscribe(deps, caller, uri, mcpReq.signal)));
      return {};
    }),
  );
  server.setRequestHandler(
    'resources/unsubscribe',
    answering(async ({ params: { uri } }) => {
      subscriptions.remove(uri);
      return {};
    }),
  );
}

async function withResourceNotFound<Result>(uri: string, work: Promise<Result>): Promise<Result> {
  return await work.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') throw new ResourceNotFoundError(uri, error.detail);
    throw error;
  });
}

/** Offers are foreign JSON, bounded when they were read; the SDK's type is the wire shape. */
function listed(list: string, offers: ReadonlyMap<string, ServedOffer>, cursor: string | undefined): never {
  const pages = paginateList([...offers.values()].map(({ shown }) => shown));
  const { items, ...more } = listPageAt(list, String(offers.size), pages, cursor);
  return { [list]: items, ...more } as never;
}

function toAnswer(answer: OfferAnswer): never {
  // As above: the server's response is already checked.
  return (answer.kind === 'input' ? toInputRequired(answer) : answer.result) as never;
}
