/**
 * Every request that Moniker sends to an MCP server, with what authorizes it. Everything that a caller can cause passes one function,
 * `engine/call/call-tool.ts`: rights, policy, approval, guard, limits, taint marks and audit. The MCP client sends only methods of this table
 * (`mcp/client/connection.ts`), so a new one needs a row.
 */

/**
 * - `call`: made for a caller, as one call of `call-tool.ts`.
 * - `continued`: continues or ends a call that was authorized, with an id that its server gave.
 * - `service`: made by the service itself, to connect to a server and to read its lists. It carries nothing of a caller.
 */
export type UpstreamAuthorization = 'call' | 'continued' | 'service';

export const upstreamMethods = {
  'tools/call': 'call',
  'resources/read': 'call',
  'prompts/get': 'call',
  'completion/complete': 'call',
  // Sent when a client listens, for each resource of which it may be notified.
  'resources/subscribe': 'call',
  'subscriptions/listen': 'call',
  'tasks/get': 'continued',
  'tasks/update': 'continued',
  'tasks/result': 'continued',
  'tasks/cancel': 'continued',
  initialize: 'service',
  'server/discover': 'service',
  // Before the request of a caller that has set a level.
  'logging/setLevel': 'service',
  'tools/list': 'service',
  'prompts/list': 'service',
  'resources/list': 'service',
  'resources/templates/list': 'service',
} as const satisfies Record<string, UpstreamAuthorization>;

export type UpstreamMethod = keyof typeof upstreamMethods;

/**
 * The methods besides `tools/call` that a client causes, each a call of a tool that stands for it (`EditionTool.offer`). A subscription of
 * either revision is a call of `resources/subscribe` for each resource.
 */
export const offerMethods = ['resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'] as const;
export type OfferMethod = (typeof offerMethods)[number];

export function isOfferMethod(name: unknown): name is OfferMethod {
  return offerMethods.some((method) => method === name);
}
