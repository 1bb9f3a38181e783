/**
 * Coding agents over the APIs of other providers: two rounds of calls, a conversation that is resumed, files and images of the user and of
 * results, and a reply that is cancelled.
 */
import { describe, expect, it } from 'vitest';
import { listOf, recordOf } from '../../src/core/json/wire-value.ts';
import type { Provider } from '../../src/core/model/provider.ts';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { fakeCohere } from '../fakes/upstreams/cohere.ts';
import { fakeGemini } from '../fakes/upstreams/gemini.ts';
import { fakeOllama } from '../fakes/upstreams/ollama.ts';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import { fakeOpenAiResponses } from '../fakes/upstreams/openai-responses.ts';
import type { FakeUpstream, Say, Script } from '../fakes/upstreams/upstream.ts';
import { waitFor } from '../wait-for.ts';
import { type CodingAgent, codingAgents, pixel } from './coding-agents.ts';
import { rootKey } from './harness.ts';
import { createProxiedHarness } from './proxied-harness.ts';

type Wire = {
  own: CodingAgent['dialect'] | null;
  document: Provider;
  model: string;
  create(script: Script): FakeUpstream;
  /** The beginning of a reply. */
  begun: object[];
  /** Of what is no text, the model takes images alone, or nothing. */
  takes?: 'images' | 'none';
};

const wires: Readonly<Record<string, Wire>> = {
  'Chat Completions': {
    own: 'openai-chat',
    document: {
      ...{ kind: 'openai-compatible', baseUrl: 'https://acme.example/v1' },
      profile: { files: ['pdf'], imagesInResults: true },
    },
    model: 'served',
    create: (script) => fakeOpenAi(script),
    begun: [{ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] }],
  },
  Responses: {
    ...{ own: 'openai-responses', document: { kind: 'openai-responses' }, model: 'gpt-5.2', create: fakeOpenAiResponses },
    begun: [
      { type: 'response.created', response: { id: 'r', object: 'response', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', role: 'assistant', content: [] } },
      { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Hello' },
    ],
  },
  Messages: {
    ...{ own: 'anthropic-messages', document: { kind: 'anthropic' }, model: 'claude-sonnet-4-5', create: fakeAnthropic },
    begun: [
      {
        type: 'message_start',
        message: { id: 'x', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    ],
  },
  Gemini: {
    own: null,
    document: { kind: 'gemini', baseUrl: 'https://acme.generativelanguage.googleapis.com/v1beta' },
    model: 'gemini-3-flash-preview',
    create: fakeGemini,
    begun: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }] }],
  },
  Cohere: {
    ...{ own: null, document: { kind: 'cohere' }, model: 'command-a-reasoning-08-2025', create: fakeCohere, takes: 'none' },
    begun: [
      { type: 'message-start', id: 'x', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
    ],
  },
  Ollama: {
    ...{
      own: null,
      document: { kind: 'ollama', baseUrl: 'https://acme.example', profile: { imagesInResults: true } },
      model: 'qwen3:8b',
      create: fakeOllama,
    },
    begun: [{ model: 'qwen3:8b', created_at: '2026-08-22T10:00:00Z', message: { role: 'assistant', content: 'Hello' }, done: false }],
    takes: 'images',
  },
};

/** The arguments of each tool, by the name that the model is offered. */
const given: Readonly<Record<string, Record<string, unknown>>> = {
  apply_patch: { input: '*** Begin Patch\n*** End Patch' },
  tool_search: { query: 'jira' },
  local_shell: { command: ['ls', '-l'], working_directory: '/src' },
  shell: { commands: ['ls', 'pwd'], timeout_ms: 1000 },
};
const argumentsFor = ({ name: agent }: CodingAgent, name: string) =>
  name === 'apply_patch' && agent.startsWith('an agent')
    ? { type: 'create_file', path: 'a.txt', diff: '+a' }
    : (given[name] ?? { path: 'a.png' });

/** What the agent is to receive of each call. */
const expected: Readonly<Record<string, unknown>> = {
  local_shell: { type: 'exec', command: ['ls', '-l'], working_directory: '/src', env: {} },
  shell: { commands: ['ls', 'pwd'], timeout_ms: 1000, max_output_length: null },
};
const ownNames: Readonly<Record<string, string>> = { mcp__git__log: 'mcp__git/log', mcp__jira__find: 'mcp__jira/find' };

async function agentOver(agent: CodingAgent, { document, model, create }: Wire, script: Script) {
  const upstream = create(script);
  const h = await createProxiedHarness({ acme: { ...document, upstream } });
  const send = async (body: Record<string, unknown>) => await h.send('POST', agent.path, body, agent.headers);
  return { upstream, send, body: agent.body(`acme/${model}`) };
}

const pairs = codingAgents.flatMap((agent) => Object.entries(wires).map(([wire, of]) => ({ name: agent.name, wire, agent, of })));
const translated = pairs.filter(({ agent, of }) => of.own !== agent.dialect);
/** The stand-in of Responses has the tools of Codex. */
const ownOfCodex = pairs.filter(({ agent, of }) => of.own === agent.dialect && agent.name.startsWith('Codex'));

describe.each([...translated, ...ownOfCodex])('$name over $wire', ({ agent, of }) => {
  it('gets its calls as its own items, in two rounds, and continues the whole conversation', async () => {
    const isCodex = agent.dialect === 'openai-responses';
    const loads = agent.tools.includes('tool_search');
    const script = (_heard: unknown, index: number): Say => {
      if (index === 0) return { reasoning: 'So.', calls: agent.tools.map((name) => ({ name, arguments: argumentsFor(agent, name) })) };
      const [again = ''] = loads ? ['mcp__jira__find'] : agent.tools.slice(-1);
      if (index === 1) return { text: 'Once more.', calls: [{ name: again, arguments: argumentsFor(agent, again) }] };
      return { text: index === 2 ? 'Done.' : 'Resumed.' };
    };
    const { upstream, send, body } = await agentOver(agent, of, script);
    const first = agent.read(await (await send(body)).text());
    expect(upstream.refused).toEqual([]);
    expect(upstream.understood[0]?.tools).toEqual(agent.tools);
    expect(upstream.understood[0]?.messages.at(-1)).toMatchObject({
      role: 'user',
      images: of.document.kind === 'cohere' ? expect.anything() : 1,
    });
    const isSpaced = agent.name.includes('among the items');
    const shown = (name: string): string => {
      if (!isCodex) return name;
      return ownNames[name] ?? (isSpaced && name !== 'tool_search' ? `functions/${name}` : name);
    };
    expect(first.calls.map(({ name }) => name)).toEqual(agent.tools.map(shown));
    for (const [index, name] of agent.tools.entries()) {
      const args = argumentsFor(agent, name);
      const free = isCodex && name === 'apply_patch' && 'input' in args ? args.input : args;
      expect(first.calls[index]?.arguments, name).toEqual(expected[name] ?? free);
    }
    const second = agent.more(
      body,
      first,
      agent.tools.map((name) => `result of ${name}`),
    );
    const reply = agent.read(await (await send(second)).text());
    expect([upstream.refused, reply.text]).toEqual([[], 'Once more.']);
    const results = upstream.understood[1]?.messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
    expect(results).toHaveLength(agent.tools.length);
    for (const [index, name] of agent.tools.entries())
      expect(results?.[index]?.text, name).toContain(name === 'tool_search' ? 'mcp__jira__find' : `result of ${name}`);
    if (loads) expect(upstream.understood[1]?.tools).toEqual([...agent.tools, 'mcp__jira__find']);

    const third = agent.more(second, reply, ['the last result']);
    const last = agent.read(await (await send(third)).text());
    expect(last).toMatchObject({ text: 'Done.', calls: [] });
    const resumed = agent.more(third, last, [], 'And now?');
    expect(agent.read(await (await send(resumed)).text()).text).toBe('Resumed.');
    expect(upstream.refused).toEqual([]);
    expect(upstream.understood[3]?.messages.at(-1)).toMatchObject({ role: 'user', text: 'And now?' });
  });
});

describe.each(translated)('$name over $wire', ({ agent, of }) => {
  it('names in the response what the provider is not sent, and nothing that it is', async () => {
    const { send, body } = await agentOver(agent, of, () => ({ text: 'Hello' }));
    const dropped = (await send(body)).headers.get('x-moniker-dropped') ?? '';
    expect(dropped).not.toMatch(/tools\.(exec|apply|tool_search|mcp|local|shell|Read|Bash)|messages\[\]\.content(,|$)|input\[\]/);
    if (JSON.stringify(body).includes('"web_search')) expect(dropped).toMatch(/tools\.web_search/);
  });
});

describe.each(pairs.filter(({ agent, of }) => of.own === agent.dialect))('$name over its own API', ({ agent, of }) => {
  it('is passed on unchanged', async () => {
    const bodies: unknown[] = [];
    const upstream = {
      async handle(request: Request) {
        bodies.push(await request.json());
        return Response.json({ error: { message: 'The end of the test.' } }, { status: 400 });
      },
    };
    const h = await createProxiedHarness({ acme: { ...of.document, upstream } });
    const body = agent.body(`acme/${of.model}`);
    await (await h.send('POST', agent.path, body, agent.headers)).text();
    expect(bodies[0]).toMatchObject({ ...body, model: of.model });
  });
});

const pdf = 'JVBERi0xLjQKJSBhIHRlc3QK';
/** An image and a PDF in each API. */
const media: Readonly<Record<CodingAgent['dialect'], readonly object[]>> = {
  'openai-chat': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
  ],
  'openai-responses': [
    { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
  ],
  'anthropic-messages': [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'a.pdf' },
  ],
};

/** Returns the request with the image and the PDF in the content of its first message with parts, or of its last result. */
function withMedia(agent: CodingAgent, body: Record<string, unknown>, place: 'message' | 'result'): Record<string, unknown> {
  const copy = structuredClone(body);
  const messages = listOf(copy[agent.dialect === 'openai-responses' ? 'input' : 'messages']).map(recordOf);
  const parts = media[agent.dialect];
  if (place === 'message') {
    const message = messages.find(({ role, content }) => role === 'user' && Array.isArray(content));
    if (message !== undefined) message.content = [...listOf(message.content), ...parts];
    return copy;
  }
  const last = messages.at(-1) ?? {};
  if (agent.dialect === 'openai-responses') last.output = parts;
  else if (agent.dialect === 'openai-chat') last.content = parts;
  else recordOf(listOf(last.content).at(-1)).content = parts;
  return copy;
}

const refusal = (): Response => Response.json({ error: { message: 'The end of the test.' } }, { status: 400 });
const sees = ({ takes }: Wire): string => (takes === 'none' ? '[image: image/png]' : pixel);
const reads = ({ takes }: Wire): string => (takes === undefined ? pdf : '[file: application/pdf]');

describe.each(translated)('files and images of $name over $wire', ({ agent, of }) => {
  it('reach the model from the user, or a note does', async () => {
    const bodies: string[] = [];
    const upstream = {
      async handle(request: Request) {
        bodies.push(await request.text());
        return refusal();
      },
    };
    const h = await createProxiedHarness({ acme: { ...of.document, upstream } });
    const body = withMedia(agent, agent.body(`acme/${of.model}`), 'message');
    await (await h.send('POST', agent.path, body, agent.headers)).text();
    expect(bodies[0]).toContain(sees(of));
    expect(bodies[0]).toContain(reads(of));
  });

  // The shells of the API have results of text.
  it.runIf(agent.tools.includes('mcp__git__log'))('reach the model from the result of a call, or a note does', async () => {
    const fake = of.create(() => ({ calls: [{ name: 'mcp__git__log', arguments: { path: 'a.png' } }] }));
    const bodies: string[] = [];
    const upstream = {
      async handle(request: Request) {
        bodies.push(await request.clone().text());
        return bodies.length === 1 ? await fake.handle(request) : refusal();
      },
    };
    const h = await createProxiedHarness({ acme: { ...of.document, upstream } });
    const send = async (body: Record<string, unknown>): Promise<string> =>
      await (await h.send('POST', agent.path, body, agent.headers)).text();
    const first = agent.body(`acme/${of.model}`);
    const more = agent.more(first, agent.read(await send(first)), ['']);
    await send(withMedia(agent, more, 'result'));
    expect(fake.refused).toEqual([]);
    expect(bodies[1]?.split(sees(of)).length).toBeGreaterThan(bodies[0]?.split(sees(of)).length ?? 0);
    expect(bodies[1]).toContain(reads(of));
  });
});

describe.each(translated)('$name over $wire, when it disconnects', ({ agent, of }) => {
  it('ends the request to the provider', async () => {
    const sent: Request[] = [];
    const isLines = of.document.kind === 'ollama';
    const begun = of.begun.map((event) => (isLines ? `${JSON.stringify(event)}\n` : `data: ${JSON.stringify(event)}\n\n`)).join('');
    const upstream = {
      async handle(request: Request) {
        sent.push(request);
        const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(begun)) });
        return new Response(body, { headers: { 'content-type': isLines ? 'application/x-ndjson' : 'text/event-stream' } });
      },
    };
    const h = await createProxiedHarness({ acme: { ...of.document, upstream } });
    const client = new AbortController();
    const response = await h.app.fetch(
      new Request(`http://moniker.test${agent.path}`, {
        method: 'POST',
        headers: { ...agent.headers, authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(agent.body(`acme/${of.model}`)),
        signal: client.signal,
      }),
    );
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).not.toBe('');
    client.abort();
    await waitFor(() => sent[0]?.signal.aborted === true);
  });
});
