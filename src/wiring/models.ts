/** Requests to models: of turns, and those that are passed to a provider. */
import { createChatModel } from '../providers/chat-model.ts';
import { createModelRequests } from '../providers/model-requests.ts';
import { once } from '../core/memoize.ts';
import type { ReadLoggedReply } from '../engine/replay/recorded-case.ts';
import { rehearsalHttp } from '../providers/rehearsal/rehearsal.ts';
import type { ObjectParts } from './objects.ts';
import type { RuntimeParts } from './runtime.ts';
import type { ServerParts } from './servers.ts';
import { createJsonSeal } from '../storage/keys/signed-token.ts';
import { redactor } from './tools.ts';

export type ModelParts = ReturnType<typeof buildModels>;

export function buildModels(parts: RuntimeParts & ObjectParts & ServerParts) {
  const { runtime, outbound, directory, background, limiter, keptReplies: kept, cachedReplies: cached, recorder: usage } = parts;
  const { catalog: items, recordUsage } = parts;
  const model = createChatModel({ http: outbound, rehearsal: rehearsalHttp, ...runtime });
  const fileIds = createJsonSeal(parts.sealing, 'provider-file');
  return {
    model,
    /** For replays. */
    readReply: (async (...reply) => (await loadReadReply()).readLoggedReply(...reply)) satisfies ReadLoggedReply,
    /** Requests to providers outside of turns (`providers/model-requests.ts`). */
    ...createModelRequests({
      ...{ ...runtime, directory, outbound, model, kept, cached, fileIds, usage, background, redactor, limiter },
      ...{ items, recordUsage, host: parts.host },
    }),
  };
}

const loadReadReply = once(() => import('../providers/read-reply.ts'));
