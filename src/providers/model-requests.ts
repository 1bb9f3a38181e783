/**
 * Requests to providers outside of turns: chats that are proxied, token counts, lists of models, and the rest of OpenAI's API
 * (`passed-request.ts`).
 */
import { once } from '../core/memoize.ts';
import type { Dropped } from '../core/model/dropped.ts';
import type { ModelSettings } from '../core/model/model-settings.ts';
import { modelsOf, targetHeader } from '../core/model/route.ts';
import { wireOf } from '../core/model/wire-settings.ts';
import type { Principal } from '../core/people/principal.ts';
import { splitModelRef } from '../core/turn/agent.ts';
import type { PassedDeps } from './passed/own-items.ts';
import type { FileRequest, PassedListRequest } from './passed/passed-files.ts';
import type { compactByProvider, PassedRequest } from './passed/passed-request.ts';
import type { StoredResponseRequest } from './passed/stored-response.ts';
import type { UnsentRules } from '../engine/chat/run-chat.ts';
import type { AskedChat } from '../engine/proxy/translate-chat.ts';
import { accessFor } from './api-choice.ts';
import { profileFor } from './profiles.ts';
import { supportedSettings } from './supported-settings.ts';
import { countRequestTokens } from './passed/count-tokens.ts';
import { proxyModelRequest } from './proxy.ts';

type CompactionArguments = Parameters<typeof compactByProvider> extends [unknown, ...infer Rest] ? Rest : never;

export type ModelRequests = ReturnType<typeof createModelRequests>;

export function createModelRequests(deps: PassedDeps) {
  const lists = once(async () => (await import('./lists/model-list.ts')).createModelLists(deps));
  return {
    /**
     * Proxies a chat request. Passes the provider's bytes through where dialect and wire match; canonical frames where the profile requires
     * them or the dialect differs.
     */
    async proxyChat(principal: Principal, request: AskedChat) {
      const reply = await proxyModelRequest(deps, principal, request);
      const { background, store } = request.body;
      const isStored = request.dialect.name === 'openai-responses' && (background === true || store === true);
      const kept = isStored ? deps.kept?.(principal) : undefined;
      if (kept === undefined) return reply;
      const { noteResponse } = await import('./passed/stored-response.ts');
      const [first = ''] = modelsOf(request.ref);
      const ref = reply.headers.get(targetHeader)?.split(';')[0] ?? first;
      return await noteResponse(kept, { ref, isCounted: background !== true }, reply);
    },
    /** Reports which settings of a turn its model will not be sent: the response begins before the first step. */
    async reportUnsent({ workspace }: Principal, ref: string, settings: ModelSettings, dropped: Dropped, turn: UnsentRules) {
      const { provider, model } = splitModelRef(ref);
      const needs = { hasTools: true, effort: settings.reasoningEffort === undefined ? 'default' : 'set' } as const;
      const access = accessFor(await deps.directory.provider(workspace, provider), model, needs, deps.clock.now());
      supportedSettings(
        { settings, dropped, reserve: turn.isLimited || undefined },
        profileFor(access, model),
        wireOf(access.kind),
        turn.hasTools,
      );
    },
    /** Returns the provider's own token count as it sent it; null when the provider does not count tokens. */
    countTokens: (principal: Principal, request: Omit<AskedChat, 'signal' | 'agent'>) => countRequestTokens(deps, principal, request),
    async compactByProvider(...request: CompactionArguments) {
      const { compactByProvider } = await import('./passed/passed-request.ts');
      return await compactByProvider(deps, ...request);
    },
    async readStoredResponse(principal: Principal, request: StoredResponseRequest) {
      const { readStoredResponse } = await import('./passed/stored-response.ts');
      return await readStoredResponse(deps, principal, request);
    },
    async passRequest(principal: Principal, request: PassedRequest) {
      const { passRequest } = await import('./passed/passed-request.ts');
      return await passRequest(deps, principal, request);
    },
    async passFiles(principal: Principal, request: FileRequest) {
      const { passFiles } = await import('./passed/passed-files.ts');
      return await passFiles(deps, principal, request);
    },
    async listPassed(principal: Principal, request: PassedListRequest) {
      const { listPassed } = await import('./passed/passed-files.ts');
      return await listPassed(deps, principal, request);
    },
    /** Returns the models of all providers: those of the document, or those that the provider itself lists. */
    models: async (workspace: string) => await (await lists()).models(workspace),
  };
}
