/**
 * Failures of providers over every API, through the running service: which requests are retried, which events a reader receives, which
 * calls never run, and which disconnects reach the provider.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Say } from '../fakes/upstreams/upstream.ts';
import { clients, type DialectClient } from './dialect-clients.ts';
import { type FakeProviders, type Fault, refOf, startFakeProviders, type StartedStory, type Wire, wires } from './fake-providers.ts';
import { fieldsOf, readLog } from './session-log.ts';
import { shareService } from './shared-service.ts';
import { breaks, inCall, isSilent, refuses, stops } from './upstream-faults.ts';
import { waitUntil } from '../wait-for.ts';

const jsonType = { 'content-type': 'application/json' };
const answer: Say = { text: 'Sunny weather, and a light wind.' };
const says = { say: () => answer };
const begun = /Sunny/;
const note: Say = { text: 'I note it.', calls: [{ name: 'save_note', arguments: { path: 'note.txt', content: 'one two three' } }] };

/** The fallback of each kind: a different kind. */
const nextOf = (wire: Wire): Wire => wires[(wires.indexOf(wire) + 1) % wires.length] ?? 'openai';

// Most of the time passes in timers.
vi.setConfig({ maxConcurrency: 16 });

describe('providers that fail, through the running service', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await make('/v1/toolsets/desk', { tools: [{ tool: 'builtin.write_file', aliases: ['save_note'] }] });
    for (const wire of wires) {
      await make(`/v1/agents/${wire}`, { model: refOf(wire), toolset: 'desk' });
      await make(`/v1/agents/${wire}-backed`, { model: refOf(wire), toolset: 'desk', fallbacks: [refOf(nextOf(wire))] });
      await make(`/v1/agents/${wire}-hasty`, { model: refOf(wire), toolset: 'desk', limits: { turnTimeoutMs: 4_000 } });
    }
  });
  afterAll(() => fakes.close());

  const make = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBe(201);
  };
  const begin = async (agent: string): Promise<string> => {
    const { status, text, json } = await service.call('POST', '/v1/sessions', { agent });
    expect(status, text).toBe(201);
    return json.id;
  };
  const turn = async (session: string, story: StartedStory) => {
    const { status, text, json } = await service.call('POST', `/v1/sessions/${session}/turns`, { input: `How is it? ${story.mark}` });
    expect(status, text).toBe(200);
    return json;
  };
  const startStory = (name: string, faults: Readonly<Record<number, Fault>>): StartedStory => fakes.start(name, { ...says, faults });
  /** A raw request without an SDK, which can disconnect. */
  const open = (path: string, body: object, signal: AbortSignal, accept = '*/*'): Promise<Response> =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { ...jsonType, authorization: `Bearer ${service.key}`, accept },
      body: JSON.stringify(body),
      signal,
    });

  describe.concurrent.each(wires)('%s', (wire) => {
    const hiccups: [string, Readonly<Record<number, Fault>>][] = [
      ['a 429 with retry-after', { 0: refuses(429, { 'retry-after': '1' }) }],
      ['two 503', { 0: refuses(503), 1: refuses(503) }],
      ['a connection that breaks before the first byte', { 0: breaks }],
      ['an overload in the stream before any text', { 0: stops(null, { by: 'is overloaded', wire }) }],
    ];

    it.each(hiccups)('is retried transparently after %s', async (name, faults) => {
      const count = Object.keys(faults).length + 1;
      const story = startStory(`${wire} ${name}`, faults);
      const session = await begin(wire);
      expect(await turn(session, story)).toMatchObject({ status: 'completed', text: answer.text });
      expect(story.heard).toHaveLength(count);
      expect(new Set(story.heard.map(({ text }) => text)).size).toBe(1);
      expect(fieldsOf(await readLog(service, session), 'step-restart', 'from')).toEqual([]);
      // A later retry is allowed, an earlier one is not.
      if (name.startsWith('a 429')) expect((story.heard[1]?.at ?? 0) - (story.heard[0]?.at ?? 0)).toBeGreaterThan(950);
    });

    it.each(hiccups)('is retried after %s on the plain path, too', async (name, faults) => {
      const ask = async (client: DialectClient): Promise<void> => {
        const story = startStory(`${client.name} ${wire} plain ${name}`, faults);
        const asking = { model: refOf(wire), system: 'Be brief.', items: [client.user(`How is it? ${story.mark}`)], streamed: true };
        expect(await client.ask(service, asking)).toMatchObject({ text: answer.text, finish: 'stop' });
        expect(story.heard).toHaveLength(Object.keys(faults).length + 1);
      };
      await Promise.all(clients.map(ask));
    });

    it.each(['breaks', 'ends', 'is overloaded'] as const)('is never treated as completed where its reply %s in the middle', async (by) => {
      const ask = async (client: DialectClient): Promise<void> => {
        const story = startStory(`${client.name} ${wire} half ${by}`, { 0: stops(begun, by === 'is overloaded' ? { by, wire } : { by }) });
        const asking = { model: refOf(wire), system: 'Be brief.', items: [client.user(`How is it? ${story.mark}`)], streamed: true };
        const ended = await client.ask(service, asking).catch((error: unknown) => error);
        // The stock client of Responses turns proxied bytes that end early into a response that is still in progress.
        if (client.ownWire === wire && by === 'ends') expect(ended).not.toMatchObject({ finish: 'stop' });
        else expect(ended).toBeInstanceOf(Error);
        expect(story.heard).toHaveLength(1);
      };
      await Promise.all(clients.map(ask));
    });

    it('falls back to the next model at once after a permanent error', async () => {
      const story = startStory(`${wire} refuses`, { 0: refuses(401) });
      expect(await turn(await begin(`${wire}-backed`), story)).toMatchObject({ status: 'completed', text: answer.text });
      expect(story.heard.map((heard) => heard.wire)).toEqual([wire, nextOf(wire)]);
    });

    it('restarts the step after an overload in the middle of a response, then falls back to the next model; no text is repeated', async () => {
      const fault = stops(begun, { by: 'is overloaded', wire });
      const story = startStory(`${wire} overloaded`, { 0: fault, 1: fault });
      const session = await begin(`${wire}-backed`);
      expect(await turn(session, story)).toMatchObject({ status: 'completed', text: answer.text });
      expect(story.heard.map((heard) => heard.wire)).toEqual([wire, wire, nextOf(wire)]);
      const events = await readLog(service, session);
      const restarts = fieldsOf(events, 'step-restart', 'from');
      const first = events.find(({ type }) => type === 'text-delta')?.id ?? 0;
      expect(restarts).toHaveLength(2);
      for (const from of restarts) expect(from).toBeLessThanOrEqual(first);
      expect(fieldsOf(events, 'step-end', 'model')).toEqual([refOf(nextOf(wire))]);
      const { json } = await service.call('GET', `/v1/sessions/${session}/messages`);
      expect(json.items.at(-1).parts.filter(({ type }: { type: string }) => type === 'text')).toEqual([
        { type: 'text', text: answer.text },
      ]);
    });

    it('after an overload in the middle: a plain chat response has the text once, a streamed one ends with an error', async () => {
      const fault = stops(begun, { by: 'is overloaded', wire });
      const ask = async (client: DialectClient, streamed: boolean): Promise<void> => {
        const story = startStory(`${client.name} ${wire} overloaded ${streamed}`, { 0: fault, 1: fault });
        const asking = { model: `agent/${wire}-backed`, system: '', items: [client.user(`How is it? ${story.mark}`)], streamed };
        if (streamed) await expect(client.ask(service, asking)).rejects.toThrow('answer was interrupted');
        else expect(await client.ask(service, asking)).toMatchObject({ text: answer.text, finish: 'stop' });
      };
      await Promise.all(clients.flatMap((client) => [ask(client, false), ask(client, true)]));
    });

    it.each(['breaks', 'ends', 'is overloaded'] as const)('never runs a call of a reply that %s in the middle of the call', async (by) => {
      const fault = stops(inCall[wire], by === 'is overloaded' ? { by, wire } : { by });
      const story = fakes.start(`${wire} call ${by}`, { say: () => note, faults: { 0: fault, 1: fault } });
      const session = await begin(wire);
      const { status, toolCalls } = await turn(session, story);
      expect(status).toBe('failed');
      expect(story.heard).toHaveLength(2);
      expect(toolCalls.filter(({ isError }: { isError: boolean }) => !isError)).toEqual([]);
      expect(fieldsOf(await readLog(service, session), 'tool-start', 'callId')).toEqual([]);
      expect((await service.call('GET', `/v1/sessions/${session}/files/workspace/note.txt`)).status).toBe(404);
    });

    it.each([
      ['before its head', isSilent],
      ['in mid-answer', stops(begun, { by: 'hangs' })],
    ] as const)('silent %s, it is disconnected when the turn’s time expires, as an upstream_timeout', async (name, fault) => {
      const story = startStory(`${wire} silent ${name}`, { 0: fault });
      expect(await turn(await begin(`${wire}-hasty`), story)).toMatchObject({
        status: 'failed',
        reason: 'timeout',
        problem: { code: 'upstream_timeout' },
      });
      await story.heard[0]?.left;
      expect(story.heard).toHaveLength(1);
    });

    it.each([
      ['before its head', isSilent],
      ['in mid-answer', stops(begun, { by: 'hangs' })],
    ] as const)('is disconnected by a cancel %s', async (name, fault) => {
      const story = startStory(`${wire} cancelled ${name}`, { 0: fault });
      const session = await begin(wire);
      const ended = turn(session, story);
      await waitUntil(() => story.heard.length > 0);
      expect((await service.call('POST', `/v1/sessions/${session}/cancel`)).json.cancelled).toBe(true);
      await story.heard[0]?.left;
      expect(await ended).toMatchObject({ status: 'cancelled' });
      expect(story.heard).toHaveLength(1);
    });

    describe.each(clients.map((client) => [client.name, client] as const))(
      'requested by a %s client on the plain path',
      (_name, client) => {
        const path = client.path(refOf(wire));

        it('is disconnected when the client disconnects in the middle of a response', async () => {
          const story = startStory(`${client.name} ${wire} left`, { 0: stops(begun, { by: 'repeats' }) });
          const caller = new AbortController();
          const body = client.plainBody(refOf(wire), `How is it? ${story.mark}`);
          await readUntil(await open(path, body, caller.signal), 'Sunny');
          expect(story.heard[0]?.hasLeft()).toBe(false);
          caller.abort();
          await story.heard[0]?.left;
        });

        // A client that closes gracefully may still be reading: the runtime notices the disconnect only when it writes.
        it("is disconnected when the client's connection breaks before the response head", async () => {
          const story = startStory(`${client.name} ${wire} broken`, { 0: isSilent });
          const asked = request(service.url + path, { method: 'POST', headers: { ...jsonType, authorization: `Bearer ${service.key}` } });
          asked.on('error', () => undefined); // The request is aborted on purpose.
          asked.end(JSON.stringify(client.plainBody(refOf(wire), `How is it? ${story.mark}`)));
          await waitUntil(() => story.heard.length > 0);
          expect(story.heard[0]?.hasLeft()).toBe(false);
          asked.socket?.resetAndDestroy();
          await story.heard[0]?.left;
        });
      },
    );

    it('completes its response when the caller of a session disconnects', async () => {
      const gate = Promise.withResolvers<void>();
      const story = startStory(`${wire} left in session`, { 0: stops(begun, { by: 'waits', gate: gate.promise }) });
      const session = await begin(wire);
      const caller = new AbortController();
      const input = `How is it? ${story.mark}`;
      const opened = await open(`/v1/sessions/${session}/turns`, { input }, caller.signal, 'text/event-stream');
      await readUntil(opened, 'Sunny');
      caller.abort();
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(story.heard[0]?.hasLeft()).toBe(false);
      gate.resolve();
      const events = await readLog(service, session);
      expect(fieldsOf(events, 'text-delta', 'text').join('')).toBe(answer.text);
      expect(events.at(-1)).toMatchObject({ type: 'turn-end', data: { status: 'completed' } });
    });
  });
});

async function readUntil(response: Response, word: string): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(word)) {
    const read = await reader?.read();
    if (read === undefined || read.done) throw new Error(`${word} was not sent: ${text}`);
    text += read.value;
  }
}
