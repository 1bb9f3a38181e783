/**
 * Responses that a provider stores, because only it can run them in the background, or because the request says `store: true`: which provider has
 * one is stored for an hour, for the key that asked, and requests about it are passed to it. Wire: OpenAI API reference, "Responses: get", "list
 * input items", "cancel" and "delete"; guide "Background mode".
 */
import { timeoutsOf } from '../../core/model/timeouts.ts';
import { isRecord, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { KB } from '../../core/limits/units.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import type { Principal } from '../../core/people/principal.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import { openAiResponses } from '../../dialects/openai-responses/dialect.ts';
import { noMeter, startMeter } from '../../engine/proxy/call-meter.ts';
import type { KeptReplies } from '../../engine/proxy/kept-replies.ts';
import { readAllowedProvider } from '../../engine/plan/plan-models.ts';
import { isEventStream } from '../../net/sse.ts';
import { accessFor } from '../api-choice.ts';
import type { ProxyDeps } from '../proxy.ts';
import { answerHeaders } from './forward-chat.ts';
import { adapters } from '../registry.ts';
import { ofFirstKey } from '../provider-exchange.ts';
import { withRetries } from '../retry.ts';
import { openHead } from '../transport.ts';
import { forwardBody } from './forwarded-reply.ts';
import { startReply } from './reply-start.ts';

/** The first event of a stream has the id; with all that a response repeats of its request. */
const maxHeadCharacters = 512 * KB;
const idPattern = /^[\w-]{1,200}$/;
const nameOf = (id: string): string => `background ${id}`;

/** Returns the provider's response, unchanged, and stores where it can be read. `isCounted`: its use is, with this response. */
export async function noteResponse(
  kept: KeptReplies,
  { ref, isCounted }: { ref: string; isCounted: boolean },
  response: Response,
): Promise<Response> {
  const note = (id: unknown): void => {
    if (typeof id === 'string' && idPattern.test(id)) kept.put(nameOf(id), JSON.stringify({ ref, isCounted }));
  };
  if (!isEventStream(response)) {
    const text = await response.text();
    note(recordOf(tryParse(text)).id);
    return new Response(text, response);
  }
  const decoder = new TextDecoder();
  let head: string | null = '';
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (head !== null) {
        head += decoder.decode(bytes, { stream: true });
        const data = /^data: (.*)\r?$/m.exec(head.slice(0, head.lastIndexOf('\n') + 1))?.[1];
        if (data !== undefined) note(recordOf(recordOf(tryParse(data)).response).id);
        if (data !== undefined || head.length > maxHeadCharacters) head = null;
      }
      controller.enqueue(bytes);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, response);
}

/** The path below the response, and the method, of each request about it. */
const paths = {
  read: { below: '', method: 'GET' },
  input: { below: '/input_items', method: 'GET' },
  cancel: { below: '/cancel', method: 'POST' },
  delete: { below: '', method: 'DELETE' },
} as const;

/** `query`: of the request, such as `?stream=true`. */
export type StoredResponseRequest = { id: string; act: keyof typeof paths; query: string; requestId?: string | undefined };

/** Returns the provider's response; null: it is not one that this key has begun in the last hour. Throws as for chats. */
export async function readStoredResponse(
  deps: ProxyDeps,
  principal: Principal,
  { id, act, query, requestId }: StoredResponseRequest,
): Promise<Response | null> {
  const kept = deps.kept?.(principal);
  const noted = idPattern.test(id) && kept !== undefined ? tryParse((await kept.get(nameOf(id))) ?? '') : null;
  if (kept === undefined || !isRecord(noted)) return null;
  const ref = stringOf(noted.ref);
  const { outbound: http, clock } = deps;
  const found = await readAllowedProvider(deps.directory, principal, ref);
  const needs = { hasTools: false, effort: 'default', dialect: 'openai-responses' } as const;
  const { model } = splitModelRef(ref);
  const access = ofFirstKey(accessFor(found.access, model, needs, clock.now()));
  const { dialect, readUsage } = adapters[access.kind];
  // A reply that was translated is stored nowhere.
  if (dialect !== 'openai-responses') return null;
  const { below, method } = paths[act];
  const exchange = { access, model, path: `/responses/${id}${below}${query}`, body: {}, method };
  const response = await withRetries({ clock }, () => openHead({ http, clock }, exchange, { isWhole: true }));
  const headers = await answerHeaders(access, response);
  if (act === 'delete') kept.put(nameOf(id), 'null');
  const started = await startReply(response, { access, reply: null, firstByteMs: timeoutsOf(access.timeouts, undefined).wholeMs, clock });
  const meter = {
    ...noMeter,
    // The request that began it was answered before anything was used.
    usage(usage: Usage) {
      if (noted.isCounted === true) return;
      const used = startMeter(deps, { principal, ref, requestId, dialect: 'openai-responses' }, access);
      used.usage(usage);
      used.end();
      noted.isCounted = true;
      kept.put(nameOf(id), JSON.stringify({ ref, isCounted: true }));
    },
  };
  const body = await forwardBody(response, started, { access, meter, readUsage, heartbeat: openAiResponses.heartbeat, clock });
  return new Response(body, { status: 200, headers });
}
