/**
 * Which of OpenAI's two APIs gets a request to a provider of kind `openai` or `openai-compatible`: Chat Completions, or Responses under the
 * same base URL, key and model name. Since July 2026, Chat Completions refuses function tools of models that reason: "Function tools with
 * reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to
 * 'none'." (param `reasoning_effort`; BerriAI/litellm#34569, danny-avila/LibreChat#14355, pipecat-ai/pipecat#4043, genkit#6303).
 * Rows of models decide (`api` of a profile), and what providers answered: it is remembered in the memory of the isolate, for an hour.
 */
import { setNewest } from '../core/memoize.ts';
import { listOf, recordOf } from '../core/json/wire-value.ts';
import { memoizeByObject } from '../core/memoize.ts';
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { OpenAiApi } from '../core/model/provider-profile.ts';
import { Problem } from '../core/problem.ts';
import type { DialectName } from '../core/text/reference.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import type { Clock } from '../ports/runtime.ts';
import { profileFor } from './profiles.ts';
import { requestedReasoning } from './supported-settings.ts';

/** `dialect`: of a request that could be forwarded. */
export type ApiNeeds = { hasTools: boolean; effort: 'default' | 'none' | 'set'; dialect?: DialectName };

/** Returns the access to use: the given one, or the same provider as one of kind `openai-responses`. `now` null: by the profile alone. */
export function accessFor(access: ProviderAccess, model: string, needs: ApiNeeds, now: number | null): ProviderAccess {
  if (!hasChoice(access)) return access;
  const api = (now === null ? null : remembered(access, model, now)) ?? profileFor(access, model).api;
  return includes(api, leastFor(needs)) ? byResponses(access) : access;
}

function hasChoice({ kind }: ProviderAccess): boolean {
  return kind === 'openai' || kind === 'openai-compatible';
}

function includes(api: OpenAiApi, least: OpenAiApi): boolean {
  return OpenAiApi.options.indexOf(api) >= OpenAiApi.options.indexOf(least);
}

/** Returns the first value of the scale with which such a request is sent by Responses. */
function leastFor({ hasTools, effort, dialect }: ApiNeeds): OpenAiApi {
  if (dialect === 'openai-responses') return 'own';
  if (!hasTools) return 'responses';
  return effort === 'set' ? 'effort' : effort === 'default' ? 'reasoning' : 'tools';
}

const byResponses = memoizeByObject((access: ProviderAccess): ProviderAccess => ({ ...access, kind: 'openai-responses' }));

/**
 * Returns the access of the other API if that is what the provider's refusal of `sent` asks for, and remembers it; null: the failure stands.
 * A provider whose answers contradict each other gets Chat Completions.
 */
export function otherAccess({ access, model, needs, sent, error, now }: FailedRequest): ProviderAccess | null {
  if (!(error instanceof Problem)) return null;
  const wasChat = sent === access;
  if (wasChat ? !asksForResponses(error) : !isUnknownEndpoint(error, sent)) return null;
  const known = remembered(access, model, now);
  const least = wasChat ? leastFor(needs) : 'chat';
  // Another request may have been answered in the meantime.
  const isNews = known === null || !wasChat || (known !== 'chat' && !includes(known, least));
  if (isNews) remember(access, model, least, now);
  const other = accessFor(access, model, needs, now);
  return other === sent ? null : other;
}

type FailedRequest = { access: ProviderAccess; model: string; needs: ApiNeeds; sent: ProviderAccess; error: unknown; now: number };

/** Also "This model is only supported in v1/responses and not in v1/chat/completions.". */
function asksForResponses({ detail, extra }: Problem): boolean {
  return (extra.upstreamStatus === 400 || extra.upstreamStatus === 404) && /\bv1\/responses\b/.test(detail);
}

/** OpenAI itself has the endpoint: its 404 is about a model, an item or an earlier response. */
export function isUnknownEndpoint({ code, detail, extra }: Problem, { baseUrl }: ProviderAccess): boolean {
  if (![404, 405, 501].includes(Number(extra.upstreamStatus)) || code === 'model_not_found') return false;
  return !/with id\b/.test(detail) && !baseUrl.startsWith('https://api.openai.com/');
}

// ---- Memory ----

const rememberedMs = 60 * 60_000;
/** Clients choose models, so the memory must be bounded. */
const maxRemembered = 1_000;
const memory = new Map<string, { api: OpenAiApi; until: number }>();

const keyOf = ({ name, kind, baseUrl }: ProviderAccess, model: string): string => JSON.stringify([name, kind, baseUrl, model]);

function remembered(access: ProviderAccess, model: string, now: number): OpenAiApi | null {
  if (memory.size === 0) return null;
  const found = memory.get(keyOf(access, model));
  return found === undefined || found.until <= now ? null : found.api;
}

function remember(access: ProviderAccess, model: string, api: OpenAiApi, now: number): void {
  setNewest(memory, keyOf(access, model), { api, until: now + rememberedMs }, maxRemembered);
}

// ---- Requests ----

/** The needs of an unread request in one of OpenAI's formats. The deprecated functions are tools, too. */
export function needsOf({ tools, functions, ...body }: Readonly<Record<string, unknown>>, dialect: DialectName): ApiNeeds {
  const effort = body.reasoning_effort ?? recordOf(body.reasoning).effort;
  return { hasTools: listOf(tools).length > 0 || Array.isArray(functions), effort: effortNeed(effort ?? null), dialect };
}

function effortNeed(effort: unknown): ApiNeeds['effort'] {
  return effort === null ? 'default' : effort === 'none' || effort === 'off' ? 'none' : 'set';
}

/** Wraps a chat model: a request is sent by its API, and once more by the other one if the provider's refusal asks for that. */
export function withApiChoice(model: ChatModel, clock: Clock): ChatModel {
  return {
    stream(given, signal) {
      const { access, model: name, sentBy } = given;
      if (!hasChoice(access)) return model.stream(given, signal);
      const needs: ApiNeeds = { hasTools: given.tools.length > 0, effort: effortNeed(requestedReasoning(given.settings)) };
      let batches: AsyncIterator<readonly ChatEvent[]> | undefined;
      const begin = async (request: ChatRequest): Promise<IteratorResult<readonly ChatEvent[]>> => {
        batches = model.stream(request, signal)[Symbol.asyncIterator]();
        const first = await batches.next();
        if (request.access !== access) sentBy?.(request.access.kind);
        return first;
      };
      const beginEither = async (): Promise<IteratorResult<readonly ChatEvent[]>> => {
        const sent = accessFor(access, name, needs, clock.now());
        try {
          return await begin({ ...given, access: sent });
        } catch (error) {
          const other = otherAccess({ access, model: name, needs, sent, error, now: clock.now() });
          if (other === null) throw error;
          // It is reserved already.
          const { reserve: _reserved, ...again } = given;
          return await begin({ ...again, access: other }).catch((second: unknown) => {
            // The provider has only one of the two.
            const isMissing = otherAccess({ access, model: name, needs, sent: other, error: second, now: clock.now() }) !== null;
            throw isMissing ? error : second;
          });
        }
      };
      const reply: AsyncIterableIterator<readonly ChatEvent[]> = {
        [Symbol.asyncIterator]: () => reply,
        next: () => batches?.next() ?? beginEither(),
        return: async () => (await batches?.return?.()) ?? { done: true, value: undefined },
      };
      return reply;
    },
  };
}
