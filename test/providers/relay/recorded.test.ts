/**
 * Every recorded stream of the client APIs, relayed and encoded anew: stock clients read the same from both. Most pass as they are, byte for
 * byte.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { GenerateContentResponse } from '@google/genai';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { geminiDialect } from '../../../src/dialects/gemini/dialect.ts';
import { openAiChat } from '../../../src/dialects/openai-chat/dialect.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import { createReplyEncoder } from '../../../src/dialects/reply-encoder.ts';
import { SseParser } from '../../../src/net/sse.ts';
import { proxyChat } from '../../../src/providers/passed/forward-chat.ts';
import { adapters } from '../../../src/providers/registry.ts';
import { Relay } from '../../../src/providers/relay/relay.ts';
import type { WatchedWire, WireWatch } from '../../../src/providers/relay/wire-watch.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { describeCorpus } from '../../fixtures.ts';
import { readResponse, recordedReplies, responseOf, type Spoilable } from '../spoil.ts';
import { runs } from '../../selection.ts';
import { printStatistics } from '../../statistics.ts';

const dialects: Readonly<Record<string, Dialect>> = {
  'openai-chat': openAiChat,
  anthropic: anthropicMessages,
  'openai-responses': openAiResponses,
  gemini: geminiDialect,
};

type Said = { text: string; calls: { id: string; name: string; arguments: string }[]; end: unknown } | { error: true };

/** What a stock client reads. */
const clients: Readonly<Record<string, (fetch: () => Promise<Response>) => Promise<Said>>> = {
  async 'openai-chat'(fetch) {
    const client = new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch });
    const said = { text: '', calls: [] as { id: string; name: string; arguments: string }[], end: null as unknown };
    const stream = await client.chat.completions.create({ model: 'm', messages: [], stream: true });
    for await (const { choices = [] } of stream) {
      const choice = choices.find(({ index }) => index === 0);
      if (choice === undefined) continue;
      said.text += choice.delta?.content ?? '';
      for (const { index, id = '', function: named, ...more } of choice.delta?.tool_calls ?? []) {
        const custom = (more as { custom?: { name?: string; input?: string } }).custom;
        const call = said.calls[index] ?? { id: '', name: '', arguments: '' };
        said.calls[index] = call;
        call.id += id;
        call.name += named?.name ?? custom?.name ?? '';
        call.arguments += named?.arguments ?? custom?.input ?? '';
      }
      said.end = choice.finish_reason ?? said.end;
    }
    return said;
  },
  async anthropic(fetch) {
    const client = new Anthropic({ apiKey: 'unused', maxRetries: 0, fetch });
    const message = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage();
    const calls = message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input) }] : [],
    );
    const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { text, calls, end: message.stop_reason };
  },
  async 'openai-responses'(fetch) {
    const client = new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch });
    const response = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
    );
    return { text: response.output_text, calls, end: response.status };
  },
  async gemini(fetch) {
    const said = { text: '', calls: [] as { id: string; name: string; arguments: string }[], end: null as unknown };
    const parser = new SseParser();
    for (const { data } of [...parser.take(await (await fetch()).text()), ...parser.end()]) {
      const { candidates, error } = JSON.parse(data) as GenerateContentResponse & { error?: object };
      if (error !== undefined) throw new Error(data);
      const candidate = candidates?.find(({ index = 0 }) => index === 0);
      for (const { text = '', thought, functionCall: call } of candidate?.content?.parts ?? []) {
        if (thought !== true) said.text += text;
        if (call?.name !== undefined) said.calls.push({ id: 'any', name: call.name, arguments: JSON.stringify(call.args ?? {}) });
      }
      said.end = candidate?.finishReason ?? said.end;
    }
    return said;
  },
};

async function relayed({ api, body, access }: Spoilable): Promise<string> {
  const dialect = dialects[api] as Dialect;
  const asked = { model: 'recorded/m', stream: true, stream_options: { include_usage: true }, tools: [{}] };
  const http = async () => responseOf([body], 'text/event-stream');
  const open = { access, model: 'm', dialect, body: asked, http, clock: fakeClock(), ids: countedIds() };
  return await (await proxyChat(open)).text();
}

function encoded(events: readonly ChatEvent[], dialect: Dialect): string {
  const identity = {
    id: dialect === openAiResponses ? 'resp_1' : 'msg_1',
    model: 'm',
    created: 1,
    includeUsage: true,
    isOwnWire: true as const,
  };
  const encoder = createReplyEncoder(dialect, identity);
  return events.map(encoder.encode).join('');
}

function readerOf(reply: Spoilable): (text: string) => Promise<Said> {
  const read = clients[reply.api] as (typeof clients)[string];
  return async (text) => {
    try {
      return await read(asStream(text));
    } catch (error) {
      if (process.env.V) console.log(reply.file, error, text);
      return { error: true };
    }
  };
}

/** What the client gets, and what was read, in pieces of this size. `parsed`: each message is parsed, also one like those before. */
async function relayedIn({ access, body, api }: Spoilable, size: number, parsed: boolean): Promise<{ text: string; events: ChatEvent[] }> {
  const adapter = adapters[access.kind];
  const reply = adapter.createReply(access);
  const wire = (await adapter.watched?.()) as WatchedWire;
  const identity = { id: 'none', model: 'm', created: 1, includeUsage: true, isOwnWire: true as const };
  const encoder = () => createReplyEncoder(dialects[api] as Dialect, identity);
  const relay = new Relay({ access, reply, wire: parsed ? { ...wire, pieceOf: () => null } : wire, encoder });
  const taken: ChatEvent[] = [];
  let text = '';
  const take = (events: ChatEvent[]): void => {
    taken.push(...events);
    text += relay.output(events);
  };
  for (let at = 0; at < body.byteLength; at += size) take(relay.bytes(body.slice(at, at + size)));
  take(relay.end());
  return { text, events: taken };
}

/** Adjacent pieces of the same text are one. */
function joined(events: readonly ChatEvent[]): object[] {
  const all: { type: string; text?: string; call?: number; refusal?: boolean | undefined }[] = [];
  for (const event of events) {
    const last = all.at(-1);
    const isPiece = event.type === 'text' || event.type === 'reasoning' || event.type === 'call-delta';
    const isSame = isPiece && last?.type === event.type && last.refusal === (event as { refusal?: boolean }).refusal;
    if (isSame && last.call === (event as { call?: number }).call) last.text += event.text;
    else all.push({ ...event });
  }
  return all;
}

/** The relayed stream if the message with this number is odd. */
async function mendedFrom({ access, body }: Spoilable, dialect: Dialect, odd: number): Promise<string> {
  const adapter = adapters[access.kind];
  const reply = adapter.createReply(access);
  const wire = (await adapter.watched?.()) as WatchedWire;
  const watch = wire.createWatch();
  let count = 0;
  const take: WireWatch['take'] = (message, events) => {
    count += 1;
    return watch.take(message, events) && count !== odd;
  };
  const watched: WireWatch = {
    take,
    isSettled: () => watch.isSettled(),
    end: () => null,
    show: (shown) => watch.show(shown),
    align: (shown) => watch.align(shown),
  };
  const identity = () => ({
    id: reply.id ?? 'none',
    model: 'm',
    created: reply.created ?? 1,
    includeUsage: true,
    isOwnWire: true as const,
  });
  const relay = new Relay({
    access,
    reply,
    wire: { ...wire, createWatch: () => watched, pieceOf: () => null },
    encoder: () => createReplyEncoder(dialect, identity()),
  });
  return relay.output(relay.bytes(body)) + relay.output(relay.end());
}

/** Recorded replies that encoding loses something of: what a relayed one has instead. */
const kept: Readonly<Record<string, object>> = {
  'anthropic/sonnet-4-5-pause-turn-web-search.sse': { end: 'pause_turn' },
  // In the form that its client asked for (`streamFunctionCallArguments`), which this one does not read.
  'gemini/gemini-3-pro-partial-args-single-event.jsonl': { calls: [{ id: 'any', name: 'customDivide', arguments: '{}' }] },
};

const asStream = (text: string) => async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });

/** Ids that this service made contain that of the answer. */
function comparable(said: Said): unknown {
  if ('error' in said) return said;
  const calls = said.calls.map(({ id, ...call }) => ({ ...call, arguments: canonical(call.arguments), hasId: id !== '' }));
  return { ...said, calls };
}
function canonical(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describeCorpus('providers', (path) => {
  const replies = recordedReplies(path).filter(({ api, streamed }) => streamed && dialects[api] !== undefined);
  let same = 0;
  let met = 0;

  it.each(replies.map((reply) => [reply.file, reply] as const))('%s reads the same relayed as encoded anew', async (_file, reply) => {
    const events = await readResponse(responseOf([reply.body], reply.contentType), reply.access);
    met += 1;
    const reads = readerOf(reply);
    const expected = await reads(encoded(events, dialects[reply.api] as Dialect));
    const text = await relayed(reply).catch(() => null);
    // A failure before any output is an error status.
    if (text === null) expect(events[0]?.type).toBe('error');
    else expect(comparable(await reads(text))).toEqual(comparable({ ...expected, ...kept[reply.file] } as Said));
    const received = new TextDecoder().decode(reply.body);
    if (text !== null && received.startsWith(text)) same += 1;
  });

  it.each(replies.map((reply) => [reply.file, reply] as const))(
    '%s reads the same from any message on that is encoded',
    async (_file, reply) => {
      const dialect = dialects[reply.api] as Dialect;
      const events = await readResponse(responseOf([reply.body], reply.contentType), reply.access);
      if (events[0]?.type === 'error') return;
      const reads = readerOf(reply);
      const expected = await reads(encoded(events, dialect));
      const messages = new TextDecoder().decode(reply.body).split(/\n\n|\r\n\r\n/).length;
      const step = Math.max(1, Math.floor(messages / runs(12)));
      for (let odd = 1; odd < messages; odd += step) {
        const text = await mendedFrom(reply, dialect, odd);
        expect(comparable(await reads(text)), `from message ${odd} on`).toEqual(comparable(expected));
      }
    },
  );

  it.each(replies.map((reply) => [reply.file, reply] as const))(
    '%s passes the same whether its messages are compared or parsed',
    async (_file, reply) => {
      for (const size of [reply.body.byteLength, 4_096, 317, 41]) {
        const [compared, parsed] = [await relayedIn(reply, size, false), await relayedIn(reply, size, true)];
        expect(compared.text).toBe(parsed.text);
        expect(joined(compared.events)).toEqual(joined(parsed.events));
      }
    },
  );

  it('passes most of them byte for byte', () => {
    printStatistics(`relayed: ${same} of ${met} recorded streams byte for byte`);
    expect(same).toBeGreaterThan(met / 2);
  });
});
