/**
 * A model that produces anything: text, reasoning, calls of all kinds, the same call twice, half a reply, nothing. Also checks its
 * requests: one that a provider would refuse is a violation.
 */
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { Message } from '../../src/core/model/message.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ChatModel, ChatRequest } from '../../src/ports/chat-model.ts';
import { givenFile, sayableNames } from './upstream.ts';
import type { Life, World } from './world.ts';

/** `requests` counts the model requests of all lives. */
export function createModel(world: World, life: Life, asked: (request: ChatRequest) => void): ChatModel {
  return {
    async *stream(request, signal) {
      await life.pause('a model request');
      signal.throwIfAborted();
      if (life.state === 'dead' || life.isMute) await new Promise(() => undefined);
      asked(request);
      const fault = faultOf(request.messages);
      if (fault !== null && life.state === 'alive') world.fail(`a provider would refuse this request: ${fault}`);
      if (world.random.chance(0.03)) throw new Problem('upstream_error', 'no credit');
      // Some stop sending; the timeout then ends the turn.
      if (world.random.chance(0.01)) await abortOf(signal);
      for (const batch of reply(world, request)) {
        await life.pause('the model sends');
        signal.throwIfAborted();
        yield batch;
      }
    },
  };
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function* reply(world: World, request: ChatRequest): Generator<ChatEvent[]> {
  const { random } = world;
  const kind = random.next();
  yield* words(world);
  if (kind < 0.05) return;
  if (kind < 0.1) {
    yield [{ type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: random.chance(0.7) }];
    return;
  }
  const calls = kind < 0.75 && (request.toolChoice !== 'none' || random.chance(0.2)) ? random.int(1, random.chance(0.1) ? 8 : 3) : 0;
  let earlier: Said | null = null;
  for (let call = 0; call < calls; call += 1) {
    const said: Said = earlier !== null && random.chance(0.25) ? earlier : sayCall(world);
    earlier = said;
    yield* toEvents(world, call, said);
  }
  if (random.chance(0.7)) yield [{ type: 'usage', usage: { inputTokens: random.int(1, 50), outputTokens: random.int(1, 50) } }];
  if (kind > 0.97) return;
  const reason = kind > 0.95 ? 'length' : kind > 0.94 ? 'content-filter' : calls > 0 ? 'tool-calls' : 'stop';
  yield [{ type: 'finish', reason, raw: null }];
}

/** Each word is used once in a run, so that a repeated one was shown twice. */
function* words(world: World): Generator<ChatEvent[]> {
  const { random } = world;
  if (random.chance(0.2)) yield [{ type: 'reasoning', text: `<${world.id('r')}>` }];
  const count = random.int(0, 2);
  for (let word = 0; word < count; word += 1) yield [{ type: 'text', text: `<${world.id('w')}>` }];
}

type Said = { name: string; args: Record<string, unknown>; state: 'ok' | 'closed' | 'repaired' | 'truncated' };

function sayCall({ random }: World): Said {
  const name = random.chance(0.5) ? 'note' : random.pick(sayableNames);
  const n = random.chance(0.05) ? 'not a number' : random.int(1, 9);
  const args = { n, safe: random.chance(0.5), path: givenFile };
  const odd = random.next();
  return { name, args, state: odd < 0.04 ? 'truncated' : odd < 0.08 ? 'repaired' : odd < 0.12 ? 'closed' : 'ok' };
}

function* toEvents({ random }: World, call: number, { name, args, state }: Said): Generator<ChatEvent[]> {
  const raw = JSON.stringify(args);
  const start: ChatEvent = { type: 'call-start', call, name, nativeId: `native_${call}` };
  const delta: ChatEvent = { type: 'call-delta', call, text: raw };
  const end: ChatEvent = { type: 'call-end', call, state, arguments: state === 'truncated' ? null : args, raw };
  if (random.chance(0.5)) return yield [start, delta, end];
  yield [start];
  yield [delta, end];
}

/** Returns the reason why a provider would refuse the request; null when it would not. */
export function faultOf(messages: readonly Message[]): string | null {
  const talk = messages.filter(({ role }) => role !== 'system');
  if (talk[0]?.role !== 'user') return `it begins with ${talk[0]?.role ?? 'nothing'}`;
  const seen = new Set<string>();
  const words = new Set<string>();
  let open: string[] = [];
  for (const message of talk) {
    if (message.role === 'tool') {
      const results = message.parts.map(({ callId }) => callId);
      if (results.join() !== open.join()) return `calls ${open.join()} are answered by results ${results.join()}`;
      open = [];
      continue;
    }
    if (open.length > 0) return `calls ${open.join()} have no results`;
    if (message.role === 'system') continue;
    for (const part of message.parts) {
      if (part.type === 'tool-call') {
        if (seen.has(part.callId)) return `the call ${part.callId} is in it twice`;
        seen.add(part.callId);
        open.push(part.callId);
      }
      if (part.type !== 'text' && part.type !== 'reasoning') continue;
      for (const [word] of part.text.matchAll(/<[^>]*>/g)) {
        if (words.has(word)) return `${word} is in it twice`;
        words.add(word);
      }
    }
  }
  return open.length > 0 ? `calls ${open.join()} have no results` : null;
}
