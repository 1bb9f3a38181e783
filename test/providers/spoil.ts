/** Recorded replies damaged on their way (cut, changed, with foreign bytes between), read as the service reads them, including framing. */
import { join } from 'node:path';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { ExchangeTimeout } from '../../src/providers/exchange-timeout.ts';
import { adapters } from '../../src/providers/registry.ts';
import { ReplyCursor } from '../../src/providers/transport.ts';
import { readJson } from '../fixtures.ts';
import { bodyOf, gather, type Recording, type Whole } from './replies.ts';

export type Spoilable = Recording & { body: Uint8Array<ArrayBuffer>; contentType: string; access: ProviderAccess };

const kinds: Readonly<Record<string, ProviderAccess['kind']>> = {
  'openai-chat': 'openai-compatible',
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
  gemini: 'gemini',
  'cohere-v2': 'cohere',
};

/** Every successful reply of the corpus: streams, lists that are streams, and unstreamed ones. */
export function recordedReplies(path: string): Spoilable[] {
  return readJson<Recording[]>(join(path, 'index.json'))
    .filter(({ httpStatus }) => (httpStatus ?? 200) === 200)
    .map((recording) => {
      const kind = kinds[recording.api];
      if (kind === undefined) throw new Error(`an API without an adapter: ${recording.api}`);
      const endMark = recording.api === 'openai-chat' ? undefined : '';
      const body = new Uint8Array(bodyOf(join(path, recording.file), endMark));
      const access = { name: 'recorded', kind, baseUrl: 'https://provider.example/v1', headers: {}, models: [], profile: {} };
      const contentType = recording.file.endsWith('.json') ? 'application/json' : 'text/event-stream';
      return { ...recording, body, contentType, access };
    });
}

/** Nothing waits here, so no timer ends a hanging test. */
const stillClock = { now: () => 0, after: () => () => undefined, sleep: async () => undefined };

export function responseOf(pieces: readonly Uint8Array[], contentType: string): Response {
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
  return new Response(body, { headers: { 'content-type': contentType } });
}

/** Everything that results, through the transport and the adapter. */
export async function readResponse(response: Response, access: ProviderAccess): Promise<ChatEvent[]> {
  const reply = adapters[access.kind].createReply(access);
  const cursor = new ReplyCursor({ response, idle: new ExchangeTimeout(stillClock), betweenBytesMs: 120_000 }, access, reply);
  const events: ChatEvent[] = [];
  try {
    for (let batch = await cursor.next(); batch !== null; batch = await cursor.next()) for (const event of batch) events.push(event);
  } finally {
    cursor.close();
  }
  return events;
}

export type Reading = Whole & {
  /** Calls that may run a tool with side effects, by their index in the reply. */
  runnable: Map<number, Whole['calls'][number]>;
};

/** Throws if the reply does not end exactly once with a typed event. */
export async function readSpoilt({ access, contentType }: Spoilable, pieces: readonly Uint8Array[]): Promise<Reading> {
  return toReading(await readResponse(responseOf(pieces, contentType), access));
}

export function toReading(events: readonly ChatEvent[]): Reading {
  const ends = events.filter(({ type }) => type === 'finish' || type === 'error');
  if (ends.length !== 1 || events.at(-1) !== ends[0]) throw new Error(`ends as ${ends.map(({ type }) => type).join(', ') || 'nothing'}`);
  const whole = gather(events);
  // A failed reply is dropped; a finished one is complete.
  if (whole.error === undefined && whole.calls.some(({ state }) => state === 'open')) throw new Error('a call never ends');
  const ran = whole.error === undefined && whole.reason !== 'length' && whole.reason !== 'content-filter';
  const runnable = [...whole.calls.entries()].filter(([, { state }]) => ran && isWhole(state));
  return { ...whole, runnable: new Map(runnable) };
}

/** Whether `engine/call/prepare-call.ts` and `core/turn/turn-budget.ts` let a call of an unsafe tool run. */
export function isWhole(state: string): boolean {
  return state === 'ok' || state === 'closed';
}

// ---- Ways to damage a reply ----

/** The same numbers in every run. */
export function seeded(seed: number): (below: number) => number {
  let state = (seed * 2654435761) % 4294967296;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

/** The end of every event: blank lines of a stream, elements of a list. An unstreamed reply has none. */
export function eventEnds({ body, contentType }: Spoilable): number[] {
  const ends: number[] = [];
  if (contentType === 'text/event-stream') {
    for (let at = 1; at < body.length; at++)
      if (body[at] === 0x0a && (body[at - 1] === 0x0a || (body[at - 1] === 0x0d && body[at - 2] === 0x0a))) ends.push(at + 1);
    return ends;
  }
  if (body[0] !== 0x5b) return ends;
  let depth = 0;
  let inString = false;
  for (let at = 1; at < body.length; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) ends.push(at + 1);
  }
  return ends;
}

export function flip(body: Uint8Array, at: number, bit: number): Uint8Array<ArrayBuffer> {
  const changed = new Uint8Array(body);
  changed[at] = (changed[at] ?? 0) ^ (1 << bit);
  return changed;
}

export function insert(body: Uint8Array, at: number, foreign: Uint8Array): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(body.length + foreign.length);
  longer.set(body.subarray(0, at));
  longer.set(foreign, at);
  longer.set(body.subarray(at), at + foreign.length);
  return longer;
}

/** In a few pieces of any size. */
export function inPieces(body: Uint8Array, random: (below: number) => number): Uint8Array[] {
  const places = Array.from({ length: random(4) }, () => random(body.length + 1)).sort((a, b) => a - b);
  return [...places, body.length]
    .map((to, index) => body.subarray(index === 0 ? 0 : places[index - 1], to))
    .filter((piece) => piece.length > 0);
}
