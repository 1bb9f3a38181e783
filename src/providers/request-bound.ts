/** The most tokens that a request to a provider can use (`core/model/token-bound.ts`), by the body that is sent. */
import { choicesOf, inputBound, type TokenBound } from '../core/model/token-bound.ts';
import { isCount, type Json } from '../core/json/wire-value.ts';
import type { ChatRequest } from '../ports/chat-model.ts';
import { profileFor } from './profiles.ts';
import { adapters } from './registry.ts';

/** A limit that the API would not accept or read is none. Of several, the largest counts, since servers differ in which one applies. */
export function requestBound({ access, model }: Pick<ChatRequest, 'access' | 'model'>, body: Json): TokenBound {
  const profile = profileFor(access, model);
  const given = adapters[access.kind].outputLimits(body, profile).filter((limit) => isCount(limit) && limit > 0) as number[];
  const each = given.length === 0 ? profile.maxOutputTokens : Math.max(...given);
  return { inputTokens: inputBound(body, profile.imageTokens), outputTokens: each * choicesOf(body) };
}
