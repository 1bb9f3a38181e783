/** Feeds recorded replies to an adapter in many cuts, and normalizes the result for comparison. */
import { readFileSync } from 'node:fs';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { framings } from '../../src/net/framing.ts';
import type { Adapter } from '../../src/providers/adapter.ts';

export type ExpectedCall = {
  id?: string | null;
  name: string;
  arguments?: unknown;
  argumentsRaw?: string;
  truncated?: boolean;
  kind?: string;
  input?: string;
};
export type Recording = {
  file: string;
  api: string;
  streamed: boolean;
  httpStatus: number | null;
  transportChunks?: number[];
  request?: { tools?: string[] };
  exercises: string[];
  expected: {
    toolCalls?: ExpectedCall[];
    text: string;
    reasoning?: string;
    refusal?: string;
    toolPlan?: string;
    incompleteReason?: string;
    finishReason: string | null;
    error?: { message?: string; code?: string | number; type?: string };
  };
};

export const access: ProviderAccess = {
  name: 'recorded',
  kind: 'openai-compatible',
  baseUrl: 'https://provider.example/v1',
  headers: {},
  models: [],
  profile: {},
};

/** The body as bytes; files with one payload per line get their framing back, and the end marker that some APIs have. */
export function bodyOf(path: string, endMark = 'data: [DONE]\n\n'): Uint8Array {
  const bytes = readFileSync(path);
  if (!path.endsWith('.jsonl')) return bytes;
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return new TextEncoder().encode(`${lines.map((line) => `data: ${line}\n\n`).join('')}${endMark}`);
}

/** Reads a reply from the given cuts of its body. */
export function readCuts(adapter: Adapter, cuts: readonly Uint8Array[], streamed: boolean): ChatEvent[] {
  const reply = adapter.createReply(access);
  if (!streamed) return reply.takeWhole(JSON.parse(new TextDecoder().decode(Buffer.concat(cuts))));
  const events: ChatEvent[] = [];
  const parser = framings[cuts[0]?.[0] === 0x5b ? 'json' : (adapter.framing ?? 'sse')].create();
  for (const cut of cuts) for (const message of parser.push(cut)) events.push(...reply.take(message));
  for (const message of parser.end()) events.push(...reply.take(message));
  return [...events, ...reply.end()];
}

/** Joins adjacent deltas of one kind, so that the result does not depend on the cuts. */
export function merge(events: readonly ChatEvent[]): ChatEvent[] {
  const merged: ChatEvent[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (event.type === 'text' && last?.type === 'text' && event.refusal === last.refusal) last.text += event.text;
    else if (event.type === 'reasoning' && last?.type === 'reasoning') last.text += event.text;
    else if (event.type === 'call-delta' && last?.type === 'call-delta' && last.call === event.call) last.text += event.text;
    else merged.push({ ...event });
  }
  return merged;
}

export type Whole = {
  calls: { name: string; nativeId: string | null; state: string; arguments: unknown; raw: string; deltas: string }[];
  text: string;
  refusal: string;
  reasoning: string;
  finish: string | null | undefined;
  reason: string | undefined;
  error: string | undefined;
};

export function gather(events: readonly ChatEvent[]): Whole {
  const whole: Whole = { calls: [], text: '', refusal: '', reasoning: '', finish: undefined, reason: undefined, error: undefined };
  const calls = new Map<number, Whole['calls'][number]>();
  for (const event of events) {
    if (event.type === 'text') whole[event.refusal ? 'refusal' : 'text'] += event.text;
    if (event.type === 'reasoning') whole.reasoning += event.text;
    if (event.type === 'call-start') {
      const call = { name: event.name, nativeId: event.nativeId, state: 'open', arguments: undefined, raw: '', deltas: '' };
      calls.set(event.call, call);
      whole.calls.push(call);
    }
    const call = 'call' in event ? calls.get(event.call) : undefined;
    if (event.type === 'call-delta' && call) call.deltas += event.text;
    if (event.type === 'call-end' && call) Object.assign(call, { state: event.state, arguments: event.arguments, raw: event.raw });
    if (event.type === 'finish') Object.assign(whole, { finish: event.raw, reason: event.reason });
    if (event.type === 'error') whole.error = event.problem.detail;
  }
  return whole;
}

/** Whole, per byte, by sevens, seeded random cuts, and as recorded if known. */
export function cutsOf(body: Uint8Array, recording: Recording): Map<string, Uint8Array[]> {
  const bySize = (next: () => number): Uint8Array[] => {
    const cuts: Uint8Array[] = [];
    for (let at = 0; at < body.length; ) {
      const size = next();
      cuts.push(body.subarray(at, at + size));
      at += size;
    }
    return cuts;
  };
  const cuts = new Map([
    ['whole', [body]],
    ['per byte', bySize(() => 1)],
    ['by sevens', bySize(() => 7)],
  ]);
  for (let seed = 1; seed <= 6; seed++) {
    let state = seed * 7919;
    const next = (): number => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return 1 + (state % (seed * 60));
    };
    cuts.set(`random ${seed}`, bySize(next));
  }
  if (recording.transportChunks) {
    const sizes = [...recording.transportChunks];
    cuts.set(
      'as recorded',
      bySize(() => sizes.shift() ?? body.length),
    );
  }
  return cuts;
}
