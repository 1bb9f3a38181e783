/**
 * Handlers for prompts, resources, templates and completions of a toolset's MCP servers. Lists call no server; all other requests call the
 * one server that the item belongs to.
 */
import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits.ts';
import { Problem, quoted } from '../../core/problem.ts';
import type { ServedCaller } from '../../engine/mcp/serve-call.ts';
import { ownerOf, type ServedOffer } from '../../engine/mcp/serve-offers.ts';
import { complete, getPrompt, readServedOffers, readResource, type OfferAnswer } from '../../engine/mcp/serve-resources.ts';
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
      try {
        return toAnswer(await readResource(deps, caller, params.uri, givenOf(mcpReq), mcpReq.signal));
      } catch (error) {
        if (error instanceof Problem && error.code === 'not_found') throw new ResourceNotFoundError(params.uri, error.detail);
        throw error;
      }
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
    answering(async ({ params: { uri } }, caller) => {
      const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
      if (uri.length > limits.maxUrlLength || ownerOf(offers, uri) === null)
        throw new ResourceNotFoundError(uri, `Resource ${quoted(uri)} not found.`);
      subscriptions.add(uri);
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
