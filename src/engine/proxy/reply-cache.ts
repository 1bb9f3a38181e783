/**
 * Answers a request to a provider with the stored reply of an equal one, if its alias, its key or its header asks for it. Only complete replies
 * without an error are stored. A hit is metered as a call that cost nothing, with what it saved. `storage/cached-replies.ts` stores the replies.
 */
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { isRecord, listOf, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import { setNewest } from '../../core/memoize.ts';
import { cacheHeader, type DecidedCache, decideCache, readCacheHeader } from '../../core/model/cache/cache-decision.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import { findModelAlias } from '../../core/model/model-alias.ts';
import type { Principal } from '../../core/people/principal.ts';
import { toCachedUse, type UsageReport } from '../../core/records/usage.ts';
import { joinBytes } from '../../core/text/bytes.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { abandoned, joinWork, withTimeout } from '../timeout.ts';
import { copyThrough } from './body-log.ts';
import type { CallMeter } from './call-meter.ts';
import type { KeptReplies } from './kept-replies.ts';

/** `kept`: what the conversation needs again of this reply. `usage` null: the provider reported none. */
export type CachedReply = {
  at: number;
  keyId: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  usage: Usage | null;
  kept: readonly (readonly [id: string, text: string])[];
};

/** The replies of a workspace by names: `<key or all>:<hash of the request>`. */
export type CachedReplies = {
  /** null: none, or it cannot be read now. */
  get(workspace: string, name: string): Promise<CachedReply | null>;
  /** In the background. */
  put(workspace: string, name: string, reply: CachedReply, ttlSeconds: number): void;
  /**
   * Erases what a key got, or the results of a toolset's tools (`ports/result-store.ts`); without both, all replies and results. `isDone` false: repeat it.
   * What is left is not used any more; so are replies for all keys and results that the key got, which expire.
   */
  erase(workspace: string, of: { key?: string | undefined; toolset?: string | undefined }): Promise<{ erased: number; isDone: boolean }>;
};

/** Of requests that are being answered, what they will store; null: nothing. */
type InFlight = Map<string, Promise<CachedReply | null>>;

export type CacheDeps = {
  /** Absent: those of the isolate. */
  inFlight?: InFlight;
  directory: Pick<Directory, 'modelAliases'>;
  clock: Clock;
  cached: CachedReplies;
  background?: ((work: Promise<unknown>) => void) | undefined;
};

export type CacheableRequest = {
  /** The header of the request. */
  asked: string | undefined;
  body: Readonly<Record<string, unknown>> & { model?: unknown };
  dialect: string | null;
  /** Besides body and dialect, all that decides what is sent and how the reply is written. */
  keyed: readonly unknown[];
  /** Called when a stored reply is used, so that the model is not asked. */
  hit?(): void;
};

type Recorder = Pick<UsageRecorder, 'gather'>;
type Send = (kept: KeptReplies | undefined) => Promise<Response>;

/** `usage`: for the meter of the request. */
export type OpenCache = {
  usage(recorder: Recorder | undefined): Recorder | undefined;
  answer(meter: CallMeter, kept: KeptReplies | undefined, send: Send): Promise<Response>;
};

/** The whole reply, as the client gets it. Longer ones are not stored. */
const maxReplyBytes = 1 * MB;
/** The format of a stored reply, and of what its hash is made of. */
const format = 1;
/** An equal request waits so long for one that is in flight, also for a stream, whose whole is stored. Then it asks the model itself. */
const maxJoinMs = 20_000;
/** Models take seconds, and each look costs CPU. */
const joinLookMs = 100;
/** Those whose request was dropped stay until an equal one joins them. */
const maxInFlight = 1_000;
const ofIsolate: InFlight = new Map();
/** Kept parts are stored for an hour (`storage/reply-store.ts`). */
const keptMs = 1_800_000;

/** null: nothing asks for the cache. Throws `invalid_request` for a header that is none. */
export async function openReplyCache(deps: CacheDeps, principal: Principal, request: CacheableRequest): Promise<OpenCache | null> {
  const { body, dialect, keyed } = request;
  const alias = findModelAlias(await deps.directory.modelAliases(principal.workspace), String(body.model));
  const decided = decideCache(readCacheHeader(request.asked), { alias: alias?.cache, key: principal.cache });
  if (decided === null) return null;
  const reason = 'bypass' in decided ? decided.bypass : effectOf(body);
  if (reason !== null || 'bypass' in decided) return bypass(reason ?? '');
  const hash = await sha256Hex(canonicalJson([format, dialect, body, ...keyed]));
  const name = `${decided.scope === 'key' ? principal.keyId : 'all'}:${hash}`;
  return cacheAt(deps, principal, { ...decided, name, dialect, hit: () => request.hit?.() });
}

/** A request that changes something at its provider, or lets it call tools, is not answered without it. null: it does not. */
function effectOf({ background, conversation, tools, mcp_servers: servers }: CacheableRequest['body']): string | null {
  if (background === true) return 'background';
  if (conversation != null) return 'conversation';
  const isRunThere = (tool: unknown): boolean => !['function', 'custom', undefined].includes(recordOf(tool).type as string | undefined);
  return listOf(tools).some(isRunThere) || listOf(servers).length > 0 ? 'provider-tools' : null;
}

function bypass(reason: string): OpenCache {
  return {
    usage: (recorder) => recorder,
    answer: async (_meter, kept, send) => noted(await send(kept), `bypass; reason=${reason}`),
  };
}

function noted(response: Response, value: string): Response {
  response.headers.set(cacheHeader, value);
  return response;
}

type Place = Exclude<DecidedCache, { bypass: string }> & { name: string; dialect: string | null; hit(): void };

function cacheAt(deps: CacheDeps, { workspace, keyId }: Principal, { name, ttl, isRefresh, dialect, hit }: Place): OpenCache {
  const { clock, cached, inFlight = ofIsolate, background = () => undefined } = deps;
  const place = `${workspace}\n${name}`;
  const isFresh = (reply: CachedReply | null): reply is CachedReply => reply !== null && clock.now() - reply.at < ttl * 1_000;
  const reported = Promise.withResolvers<UsageReport>();
  let isHit = false;

  const replay = (reply: CachedReply, meter: CallMeter, kept: KeptReplies | undefined): Response => {
    isHit = true;
    hit();
    const age = clock.now() - reply.at;
    if (kept !== undefined && (age > keptMs || reply.keyId !== keyId)) background(keepAgain(kept, reply.kept));
    meter.begun();
    if (reply.usage !== null) meter.usage(reply.usage);
    meter.end();
    return noted(new Response(reply.body, { headers: reply.headers }), `hit; age=${Math.floor(age / 1_000)}`);
  };
  const store = async (copied: Promise<string | null>, headers: Headers, kept: CachedReply['kept']): Promise<CachedReply | null> => {
    const ended = Promise.all([copied, reported.promise]);
    const found = await withTimeout(clock, ended, limits.providerWholeTimeoutMs, () => null);
    const [body, report] = found ?? [null, null];
    if (body === null || report?.request?.status !== 'completed' || !isWhole(body, headers.get('content-type') ?? '', dialect)) return null;
    const [use] = report.models;
    const usage = use === undefined || use.unreported > 0 ? null : use.usage;
    const reply = { at: clock.now(), keyId, headers: shown(headers), body, usage, kept };
    cached.put(workspace, name, reply, ttl);
    return reply;
  };
  /** Null if the one in flight has nothing for this request: it failed, may not be stored, was dropped or takes too long. */
  const join = async (other: Promise<CachedReply | null>): Promise<CachedReply | null> => {
    const joined = await joinWork(clock, other, maxJoinMs, joinLookMs);
    if (joined !== abandoned) return joined;
    if (inFlight.get(place) === other) inFlight.delete(place);
    return null;
  };
  /** Returns how it ends. Only values are passed on: a response of another request cannot be read. */
  const begin = (): ((reply: CachedReply | null) => void) => {
    const { promise, resolve } = Promise.withResolvers<CachedReply | null>();
    setNewest(inFlight, place, promise, maxInFlight);
    return (reply) => {
      if (inFlight.get(place) === promise) inFlight.delete(place);
      resolve(reply);
    };
  };
  const ask = async (kept: KeptReplies | undefined, send: Send, end: (reply: CachedReply | null) => void): Promise<Response> => {
    const added: [id: string, text: string][] = [];
    const put = (id: string, text: string): void => {
      added.push([id, text]);
      kept?.put(id, text);
    };
    const response = await send(kept && { ...kept, put });
    const { body, headers } = response;
    if (body === null) {
      end(null);
      return noted(response, 'miss');
    }
    const copy = createCopy();
    background(store(copy.text, new Headers(headers), added).then(end));
    return noted(new Response(copyThrough(body, copy.push, copy.end), response), 'miss');
  };
  return {
    usage: (recorder) =>
      recorder && {
        gather(of, report) {
          reported.resolve(report);
          recorder.gather(of, isHit && report.request !== null ? asCached(report, report.request) : report);
        },
      },
    async answer(meter, kept, send) {
      if (isRefresh) return await ask(kept, send, () => undefined);
      const other = inFlight.get(place);
      const joined = other === undefined ? null : await join(other);
      if (isFresh(joined)) return replay(joined, meter, kept);
      // After a failure, those that waited for it go on at the same time; later ones join the first of them.
      const end = inFlight.has(place) ? () => undefined : begin();
      try {
        const found = other === undefined ? await cached.get(workspace, name) : null;
        if (!isFresh(found)) return await ask(kept, send, end);
        end(found);
        return replay(found, meter, kept);
      } catch (error) {
        end(null);
        throw error;
      }
    },
  };
}

async function keepAgain(kept: KeptReplies, parts: CachedReply['kept']): Promise<void> {
  for (const [id, text] of parts) if ((await kept.get(id)) === null) kept.put(id, text);
}

function asCached(report: UsageReport, request: NonNullable<UsageReport['request']>): UsageReport {
  return { ...report, models: report.models.map(toCachedUse), request: { ...request, cached: true } };
}

/** Headers of the reply itself; rate limits are of the moment. */
function shown(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => /^(?:content-type|cache-control|x-moniker-.+)$/.test(name)));
}

/** Collects the text of a body. `text`: null if it is too long, or did not arrive whole. */
function createCopy() {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    text: promise,
    push(piece: Uint8Array): void {
      bytes += piece.byteLength;
      if (bytes <= maxReplyBytes) pieces.push(piece);
      else pieces.length = 0;
    },
    end: (isWholeBody: boolean) => resolve(isWholeBody && bytes <= maxReplyBytes ? new TextDecoder().decode(joinBytes(pieces)) : null),
  };
}

/** The last message of a stream, without which it was cut off. */
const lastMessages: Readonly<Record<string, RegExp>> = {
  'openai-chat': /data: ?\[DONE\]\s*$/,
  'openai-responses': /"type": ?"response\.completed"/,
  'anthropic-messages': /"type": ?"message_stop"\s*\}\s*$/,
};

function isWhole(body: string, type: string, dialect: string | null): boolean {
  if (/^text\/event-stream/i.test(type)) return lastMessages[dialect ?? '']?.test(body) === true;
  const reply = /^application\/json/i.test(type) ? tryParse(body) : null;
  if (!isRecord(reply) || reply.error != null || reply.type === 'error') return false;
  return dialect !== 'openai-responses' || reply.status === 'completed';
}
