/**
 * Requests to providers outside of turns: chats that are proxied, token counts, lists of models, and the rest of OpenAI's API
 * (`passed-request.ts`).
 */
import type { Principal } from '../core/principal.ts';
import type { Logger } from '../ports/runtime.ts';
import type { createModelLists } from './model-list.ts';
import type { PassedRequest } from './passed-request.ts';
import { countRequestTokens, type ProxiedChat, type ProxyDeps, proxyModelRequest } from './proxy.ts';

export function createModelRequests(deps: ProxyDeps & { log: Logger }) {
  let lists: ReturnType<typeof createModelLists> | null = null;
  return {
    /**
     * Proxies a chat request. Passes the provider's bytes through where dialect and wire match; canonical frames where the profile requires
     * them or the dialect differs.
     */
    proxyChat: (principal: Principal, request: ProxiedChat) => proxyModelRequest(deps, principal, request),
    /** Returns the provider's own token count as it sent it; null when the provider does not count tokens. */
    countTokens: (principal: Principal, request: Omit<ProxiedChat, 'signal' | 'agent'>) => countRequestTokens(deps, principal, request),
    async passRequest(principal: Principal, request: PassedRequest) {
      const { passRequest } = await import('./passed-request.ts');
      return await passRequest(deps, principal, request);
    },
    /** Returns the models of all providers: those of the document, or those that the provider itself lists. */
    async models(workspace: string) {
      const { createModelLists: create } = await import('./model-list.ts');
      lists ??= create(deps);
      return await lists.models(workspace);
    },
  };
}
