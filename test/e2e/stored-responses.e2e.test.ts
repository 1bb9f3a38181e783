/** What clients of Responses store with the service, over the stock client: conversations, responses in the background, compacted input. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countedTokens } from '../fakes/upstreams/openai-responses.ts';
import { listenUpstream, type Say } from '../fakes/upstreams/upstream.ts';
import { eventually } from './eventually.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

describe('stored responses', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;
  let client: OpenAI;
  let other: OpenAI;

  const connect = (apiKey: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey, maxRetries: 0 });
  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate', aliases: ['reckon'] }] });
    await service.call('PUT', '/v1/agents/clerk', { model: refOf('openai'), toolset: 'desk', instructions: 'Be brief.' });
    const keys = await Promise.all(['one', 'two'].map((name) => service.call('POST', '/v1/keys', { name, scopes: ['chat'] })));
    const [one, two] = keys.map(({ json }) => connect(String(json.key)));
    if (one === undefined || two === undefined) throw new Error('no keys');
    [client, other] = [one, two];
  });
  afterAll(() => fakes.close());
  const start = (title: string, ...said: Say[]) => fakes.start(title, { say: (_heard, index) => said[index] ?? said.at(-1) ?? {} });
  const refusalOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof OpenAI.APIError ? [error.status, error.param] : error;
  };

  describe('a conversation', () => {
    it('is continued by responses of an agent and of a model, which get only the new items', async () => {
      const reckons: Say = { calls: [{ name: 'reckon', arguments: { expression: '6 * 7' } }] };
      const story = start('conversation', reckons, { text: 'It is 42.' }, { text: 'You are Ann.' });
      const { id } = await client.conversations.create({ items: [{ type: 'message', role: 'user', content: 'I am Ann.' }] });
      const first = await client.responses.create({ model: 'agent/clerk', conversation: id, input: `What is 6 * 7? ${story.mark}` });
      expect([first.output_text, first.conversation]).toEqual(['It is 42.', { id }]);
      const second = await client.responses.create({ model: refOf('anthropic'), conversation: id, input: `Who am I? ${story.mark}` });
      expect(second.output_text).toBe('You are Ann.');
      const heard = JSON.stringify(story.understood.at(-1)?.messages);
      for (const text of ['I am Ann.', 'It is 42.', 'Who am I?']) expect(heard).toContain(text);

      const listed = [];
      for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 })) listed.push(item);
      const shown = ['message', 'message', 'function_call', 'function_call_output', 'message', 'message', 'message'];
      expect(listed.map(({ type }) => type)).toEqual(shown);
      const newest = [];
      for await (const item of client.conversations.items.list(id, { limit: 3 })) newest.push(item);
      expect(newest).toEqual(listed.toReversed());

      expect((await client.conversations.retrieve(id)).object).toBe('conversation');
      expect(await client.conversations.delete(id)).toMatchObject({ id, deleted: true });
      expect(await refusalOf(client.conversations.retrieve(id))).toEqual([404, null]);
    });

    it('is not found by another key, in any way', async () => {
      const { id } = await client.conversations.create();
      expect(await refusalOf(other.conversations.retrieve(id))).toEqual([404, null]);
      expect(await refusalOf(other.conversations.delete(id))).toEqual([404, null]);
      expect(await refusalOf(other.conversations.items.list(id))).toEqual([404, null]);
      expect(await refusalOf(other.responses.create({ model: 'agent/clerk', conversation: id, input: 'x' }))).toEqual([404, null]);
      expect((await client.conversations.retrieve(id)).id).toBe(id);
    });

    it('is created once under an idempotency key, which another request cannot use', async () => {
      const options = { headers: { 'idempotency-key': 'conversation-1' } };
      const [first, again] = [await client.conversations.create({}, options), await client.conversations.create({}, options)];
      expect(again).toEqual(first);
      const different = { items: [{ type: 'message' as const, role: 'user' as const, content: 'Hi' }] };
      expect(await refusalOf(client.conversations.create(different, options))).toEqual([422, null]);
    });

    it('has the metadata that it was created with, or was given later', async () => {
      const { id, metadata } = await client.conversations.create({ metadata: { topic: 'demo' } });
      expect(metadata).toEqual({ topic: 'demo' });
      expect((await client.conversations.update(id, { metadata: { topic: 'tests', team: 'a' } })).metadata).toEqual({
        topic: 'tests',
        team: 'a',
      });
      expect((await client.conversations.retrieve(id)).metadata).toEqual({ topic: 'tests', team: 'a' });
      expect((await client.conversations.update(id, { metadata: null })).metadata).toEqual({});
      const many = Object.fromEntries(Array.from({ length: 17 }, (_value, index) => [`k${index}`, 'v']));
      expect(await refusalOf(client.conversations.update(id, { metadata: many }))).toEqual([422, 'metadata']);
    });

    it('takes items between its responses, which models of every wire are sent in order', async () => {
      const story = start('added', { text: 'Hello Ann.' }, { text: 'Blue.' });
      const { id } = await client.conversations.create();
      const said = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });
      await client.conversations.items.create(id, { items: [said('I am Ann.')] });
      await client.responses.create({ model: refOf('openai'), conversation: id, input: `Who am I? ${story.mark}` });
      const call = { type: 'function_call' as const, call_id: 'call_1', name: 'lookup', arguments: '{}' };
      const added = await client.conversations.items.create(id, {
        items: [said('My color is blue.'), call, { type: 'function_call_output', call_id: 'call_1', output: 'noted' }],
      });
      expect(added.data.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output']);
      const answer = await client.responses.create({ model: refOf('anthropic'), conversation: id, input: `My color? ${story.mark}` });
      expect(answer.output_text).toBe('Blue.');
      const asked = JSON.stringify(story.understood.at(-1)?.messages);
      const places = ['I am Ann.', 'Hello Ann.', 'My color is blue.', 'noted', 'My color?'].map((text) => asked.indexOf(text));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      expect(places).not.toContain(-1);

      const [first] = added.data;
      if (first?.id === undefined) throw new Error('no item');
      expect(await client.conversations.items.retrieve(first.id, { conversation_id: id })).toEqual(first);
      expect(await refusalOf(client.conversations.items.retrieve('msg_999_0_0', { conversation_id: id }))).toEqual([404, null]);
      expect(await refusalOf(client.conversations.items.retrieve('none', { conversation_id: id }))).toEqual([404, null]);
      expect(await refusalOf(client.conversations.items.delete(first.id, { conversation_id: id }))).toEqual([405, null]);
      for (const refusal of await Promise.all(
        [
          other.conversations.items.retrieve(first.id, { conversation_id: id }),
          other.conversations.items.create(id, { items: [said('x')] }),
          other.conversations.update(id, { metadata: {} }),
        ].map(refusalOf),
      ))
        expect(refusal).toEqual([404, null]);
      const listed = [];
      for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 3 })) listed.push(item);
      expect(listed).toHaveLength(8);
    });

    it('takes no items while a response runs, and none that it cannot have', async () => {
      const gate = Promise.withResolvers<void>();
      const wait = async (answer: () => Promise<Response>) => {
        await gate.promise;
        return await answer();
      };
      const { mark } = fakes.start('items of a running one', { say: () => ({ text: 'Late.' }), faults: { 0: wait } });
      const { id } = await client.conversations.create();
      await client.responses.create({ model: 'agent/clerk', conversation: id, background: true, input: `Wait. ${mark}` });
      const add = (item: object) => refusalOf(client.conversations.items.create(id, { items: [item as never] }));
      expect(await add({ role: 'user', content: 'x' })).toEqual([409, null]);
      gate.resolve();
      expect(await add({ type: 'item_reference', id: 'msg_1' })).toEqual([422, 'items[0].type']);
      expect(await add({ type: 'function_call_output', call_id: 'call_9', output: 'x' })).toEqual([422, 'items[0].call_id']);
      expect(await add({ role: 'developer', content: 'x' })).toEqual([422, 'items[0].role']);
    });

    it.each([
      ['instructions among its items', { items: [{ type: 'message' as const, role: 'system' as const, content: 'x' }] }, 'items[0].role'],
    ])('refuses %s with the place', async (_what, body, param) => {
      expect(await refusalOf(client.conversations.create(body))).toEqual([422, param]);
    });

    it.each([
      ['an unknown conversation', { conversation: 'conv_1', input: 'x' }, 'conversation'],
      ['a previous response beside it', { previous_response_id: 'resp_1', input: 'x' }, 'conversation'],
      ['items that it has', { input: [{ role: 'assistant' as const, content: 'x' }] }, 'input[0]'],
    ])('refuses a response with %s', async (_what, body, param) => {
      const { id } = await client.conversations.create();
      expect(await refusalOf(client.responses.create({ model: 'agent/clerk', conversation: id, ...body }))).toEqual([422, param]);
    });
  });

  describe('a stored response', () => {
    it('has the conversation that it answers as its input, in pages, for its key alone', async () => {
      const reckons: Say = { calls: [{ name: 'reckon', arguments: { expression: '6 * 7' } }] };
      const story = start('input', reckons, { text: 'It is 42.' }, { text: 'Twice.' }, { text: 'Not this.' });
      const first = await client.responses.create({ model: 'agent/clerk', input: `What is 6 * 7? ${story.mark}` });
      const body = { model: 'agent/clerk', previous_response_id: first.id };
      const second = await client.responses.create({ ...body, input: `And again? ${story.mark}` });
      await client.responses.create({ model: 'agent/clerk', previous_response_id: second.id, input: `Later. ${story.mark}` });
      const inputOf = async (id: string, order: 'asc' | 'desc') => {
        const items = [];
        for await (const item of client.responses.inputItems.list(id, { order, limit: 2 })) items.push(item);
        return items;
      };
      const textsIn = (items: object[]) => JSON.stringify(items).match(/What is|It is 42|And again|Twice|Later/g);
      expect(textsIn(await inputOf(first.id, 'asc'))).toEqual(['What is']);
      const input = await inputOf(second.id, 'asc');
      expect(input.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output', 'message', 'message']);
      expect(textsIn(input)).toEqual(['What is', 'It is 42', 'And again']);
      expect(await inputOf(second.id, 'desc')).toEqual(input.toReversed());
      expect(await refusalOf(other.responses.inputItems.list(second.id))).toEqual([404, null]);
      expect(await refusalOf(client.responses.inputItems.list(second.id, { after: 'x' }))).toEqual([422, 'after']);
    });

    it('that continues with the output of a call has it in its input', async () => {
      const asks: Say = { calls: [{ name: 'pick', arguments: {} }] };
      const story = start('output', asks, { text: 'Teal.' });
      const tools = [{ type: 'function' as const, name: 'pick', parameters: { type: 'object', properties: {} }, strict: false }];
      const first = await client.responses.create({ model: 'agent/clerk', input: `Pick. ${story.mark}`, tools });
      const call = first.output.find((item) => item.type === 'function_call');
      const input = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'teal' }];
      const second = await client.responses.create({ model: 'agent/clerk', previous_response_id: first.id, input, tools });
      const { data } = await client.responses.inputItems.list(second.id);
      expect(data.map(({ type }) => type)).toEqual(['function_call_output', 'function_call', 'message']);
    });

    it('is deleted by its key, and then is not found, continued or deleted again', async () => {
      const story = start('deleted', { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
      const first = await client.responses.create({ model: 'agent/clerk', input: `One. ${story.mark}` });
      const second = await client.responses.create({ model: 'agent/clerk', previous_response_id: first.id, input: `Two. ${story.mark}` });
      expect(await refusalOf(other.responses.delete(second.id))).toEqual([404, null]);
      expect((await client.responses.retrieve(second.id)).output_text).toBe('Two.');
      await client.responses.delete(second.id);
      for (const refusal of await Promise.all(
        [
          client.responses.retrieve(second.id),
          client.responses.inputItems.list(second.id),
          client.responses.cancel(second.id),
          client.responses.delete(second.id),
        ].map(refusalOf),
      ))
        expect(refusal).toEqual([404, null]);
      const again = { model: 'agent/clerk', previous_response_id: second.id, input: `Three. ${story.mark}` };
      expect(await refusalOf(client.responses.create(again))).toEqual([404, 'previous_response_id']);
      const third = await client.responses.create({ model: 'agent/clerk', previous_response_id: first.id, input: `Three. ${story.mark}` });
      expect(third.output_text).toBe('Three.');
    });

    it('that runs is not deleted before it is cancelled', async () => {
      const gate = Promise.withResolvers<void>();
      const wait = async (answer: () => Promise<Response>) => {
        await gate.promise;
        return await answer();
      };
      const { mark } = fakes.start('delete of a running one', { say: () => ({ text: 'Late.' }), faults: { 0: wait } });
      const begun = await client.responses.create({ model: 'agent/clerk', background: true, input: `Wait. ${mark}` });
      expect(await refusalOf(client.responses.delete(begun.id))).toEqual([409, null]);
      await client.responses.cancel(begun.id);
      gate.resolve();
      await client.responses.delete(begun.id);
    });

    it('of a provider of its wire is read, listed and deleted there if the request said that it is to be stored', async () => {
      const asked: string[] = [];
      const id = 'resp_kept';
      const document = {
        id,
        object: 'response',
        status: 'completed',
        output: [],
        model: 'gpt-5.2',
        usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
      };
      const item = { id: 'msg_1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
      const upstream = await listenUpstream({
        async handle(request) {
          const { pathname, search } = new URL(request.url);
          asked.push(`${request.method} ${pathname}${search}`);
          if (request.method === 'DELETE') return Response.json({ id, object: 'response', deleted: true });
          if (!pathname.endsWith('/input_items')) return Response.json(document);
          return Response.json({ object: 'list', data: [item], first_id: 'msg_1', last_id: 'msg_1', has_more: false });
        },
      });
      await service.call('PUT', '/v1/providers/keeping', { kind: 'openai-responses', baseUrl: `${upstream.url}/v1`, apiKey: 'key' });
      expect((await client.responses.create({ model: 'keeping/gpt-5.2', input: 'Hi', store: true })).id).toBe(id);
      for (const refusal of await Promise.all(
        [other.responses.retrieve(id), other.responses.inputItems.list(id), other.responses.delete(id)].map(refusalOf),
      ))
        expect(refusal).toEqual([404, null]);
      expect((await client.responses.retrieve(id)).status).toBe('completed');
      expect((await client.responses.inputItems.list(id, { limit: 5, order: 'asc', after: 'msg_0' })).data).toEqual([item]);
      await client.responses.delete(id);
      expect(await refusalOf(client.responses.retrieve(id))).toEqual([404, null]);
      expect(asked).toEqual([
        'POST /v1/responses',
        `GET /v1/responses/${id}`,
        `GET /v1/responses/${id}/input_items?limit=5&order=asc&after=msg_0`,
        `DELETE /v1/responses/${id}`,
      ]);
      // Of the request alone: the read has the same usage.
      const used = await eventually('the use is counted', async () => {
        const { totals } = (await service.call('GET', '/v1/usage?provider=keeping')).json;
        return totals.calls > 0 ? totals : undefined;
      });
      expect(used).toMatchObject({ calls: 1, inputTokens: 7 });
      upstream.close();
    });
  });

  describe('a response in the background', () => {
    it.each([
      ['an agent', 'agent/clerk'],
      ['a model', refOf('anthropic')],
    ])('of %s is cancelled, and keeps its status', async (name, model) => {
      const gate = Promise.withResolvers<void>();
      const wait = async (answer: () => Promise<Response>) => {
        await gate.promise;
        return await answer();
      };
      const { mark } = fakes.start(`cancelled ${name}`, { say: () => ({ text: 'Late.' }), faults: { 0: wait } });
      const begun = await client.responses.create({ model, background: true, input: `Wait. ${mark}` });
      expect(await refusalOf(other.responses.retrieve(begun.id))).toEqual([404, null]);
      expect(await refusalOf(other.responses.cancel(begun.id))).toEqual([404, null]);
      expect((await client.responses.retrieve(begun.id)).status).toBe('in_progress');
      expect((await client.responses.cancel(begun.id)).status).toBe('cancelled');
      gate.resolve();
      expect((await client.responses.retrieve(begun.id)).status).toBe('cancelled');
    });

    it('that failed says so, with the error', async () => {
      const fault = () => Promise.resolve(Response.json({ error: { message: 'too large' } }, { status: 400 }));
      const { mark } = fakes.start('failed', { say: () => ({}), faults: { 0: fault } });
      const begun = await client.responses.create({ model: refOf('openai'), background: true, input: `Fail. ${mark}` });
      const ended = await eventually('the response has failed', async () => {
        const read = await client.responses.retrieve(begun.id);
        return read.status === 'in_progress' ? undefined : read;
      });
      expect([ended.status, ended.error?.message]).toEqual(['failed', expect.stringContaining('too large')]);
    });

    it.each([
      ['plain', false],
      ['streamed', true],
    ])('that needs a tool of the provider is run by it, and read and cancelled there, %s', async (_how, stream) => {
      const asked: string[] = [];
      const [id, name] = stream ? ['resp_streamed', 'research-s'] : ['resp_plain', 'research'];
      const documentOf = (status: string) => ({
        ...{ id, object: 'response', status, output: [], model: 'o4-deep-research' },
        usage: status === 'completed' ? { input_tokens: 7, output_tokens: 5, total_tokens: 12 } : null,
      });
      const event = { type: 'response.created', sequence_number: 0, response: documentOf('queued') };
      const upstream = await listenUpstream({
        async handle(request) {
          const { pathname, search } = new URL(request.url);
          asked.push(`${request.method} ${pathname}${search} ${request.headers.get('authorization')}`);
          if (pathname.endsWith('/cancel')) return Response.json(documentOf('cancelled'));
          if (request.method === 'GET' && search === '') return Response.json(documentOf('completed'));
          if (request.method === 'POST' && !stream) return Response.json(documentOf('queued'));
          return new Response(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, {
            headers: { 'content-type': 'text/event-stream' },
          });
        },
      });
      const provider = { kind: 'openai-responses', baseUrl: `${upstream.url}/v1`, apiKey: 'key-of-research' };
      await service.call('PUT', `/v1/providers/${name}`, provider);
      const tools = [{ type: 'web_search' as const }];
      const begun = await client.responses.create({ model: `${name}/o4`, background: true, input: 'Search.', tools, stream });
      if ('controller' in begun) for await (const { type } of begun) expect(type).toBe('response.created');
      else expect([begun.id, begun.status]).toEqual([id, 'queued']);

      expect(await refusalOf(other.responses.retrieve(id))).toEqual([404, null]);
      expect(await refusalOf(other.responses.cancel(id))).toEqual([404, null]);
      expect(await refusalOf(client.responses.retrieve('resp_unknown'))).toEqual([404, null]);
      expect(await refusalOf(client.responses.cancel('..%2F..%2Ffiles'))).toEqual([404, null]);
      expect((await client.responses.retrieve(id)).status).toBe('completed');
      for await (const { type } of await client.responses.retrieve(id, { stream: true, starting_after: 3 })) expect(type).toBe(event.type);
      expect((await client.responses.cancel(id)).status).toBe('cancelled');
      const key = 'Bearer key-of-research';
      expect(asked).toEqual([
        `POST /v1/responses ${key}`,
        `GET /v1/responses/${id} ${key}`,
        `GET /v1/responses/${id}?stream=true&starting_after=3 ${key}`,
        `POST /v1/responses/${id}/cancel ${key}`,
      ]);
      // The begin, of an unknown use, and the first read that has the usage.
      const used = await eventually('the use is counted', async () => {
        const { totals } = (await service.call('GET', `/v1/usage?provider=${name}`)).json;
        return totals.calls >= 2 ? totals : undefined;
      });
      expect(used).toMatchObject({ calls: 2, inputTokens: 7, outputTokens: 5 });
      upstream.close();
    });

    it('that needs a tool of another provider is refused with its place', async () => {
      const tools = [{ type: 'web_search' as const }];
      const body = { model: refOf('anthropic'), background: true, input: 'Search.', tools };
      expect(await refusalOf(client.responses.create(body))).toEqual([422, 'background']);
    });

    it('must be stored', async () => {
      const body = { model: refOf('openai'), background: true, store: false, input: 'x' };
      expect(await refusalOf(client.responses.create(body))).toEqual([422, 'store']);
    });

    it('is run once under an idempotency key', async () => {
      const story = start('repeated', { text: 'Once.' });
      const options = { headers: { 'idempotency-key': 'background-1' } };
      const body = { model: refOf('openai'), background: true, input: `Once. ${story.mark}` };
      const [first, again] = [await client.responses.create(body, options), await client.responses.create(body, options)];
      expect(again.id).toBe(first.id);
      await eventually('the response has ended', async () => {
        const { status } = await client.responses.retrieve(first.id);
        return status === 'completed' || undefined;
      });
      expect(story.heard).toHaveLength(1);
    });
  });

  describe('input', () => {
    const count = (model: string) => client.responses.inputTokens.count({ model, input: `How are you? ${start('count', {}).mark}` });

    it('is counted by a provider that can, and otherwise estimated', async () => {
      expect(await count(refOf('openai-responses'))).toEqual({ object: 'response.input_tokens', input_tokens: countedTokens });
      for (const model of [refOf('anthropic'), 'agent/clerk'])
        expect(await count(model)).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number), estimated: true });
    });

    it('is estimated and summarized for a server that only resembles the API and lacks these paths', async () => {
      const missing = () => Promise.resolve(Response.json({ error: { message: 'Not Found' } }, { status: 404 }));
      const model = refOf('openai-responses');
      const counted = fakes.start('no count', { say: () => ({}), faults: { 0: missing } });
      const input = `How are you? ${counted.mark}`;
      expect(await client.responses.inputTokens.count({ model, input })).toMatchObject({ estimated: true });
      const compacted = fakes.start('no compaction', { say: () => ({ text: 'A summary.' }), faults: { 0: missing } });
      const { output } = await client.responses.compact({ model: model as never, input: `Long. ${compacted.mark}` });
      expect(compacted.heard.map(({ path }) => path)).toEqual(['/v1/responses/compact', '/v1/responses']);
      expect(output.at(-1)).toMatchObject({ type: 'compaction', encrypted_content: expect.stringMatching(/^moniker\./) });
    });

    it('of a session is compacted up to the response that it continues', async () => {
      const story = start('session', { text: 'Hello Ann.' }, { text: 'Not this.' }, { text: 'She is Ann.' });
      const first = await client.responses.create({ model: 'agent/clerk', input: `I am Ann. ${story.mark}` });
      await client.responses.create({ model: 'agent/clerk', previous_response_id: first.id, input: `A secret. ${story.mark}` });
      const body = { model: 'agent/clerk', previous_response_id: first.id } as const;
      const compacted = await client.responses.compact(body as never);
      expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
      const asked = JSON.stringify(story.understood.at(-1)?.messages);
      expect([asked.includes('Hello Ann.'), asked.includes('A secret.')]).toEqual([true, false]);
      expect(await refusalOf(other.responses.compact(body as never))).toEqual([404, null]);
    });

    it('that a provider has compacted is refused for others, with its place', async () => {
      const { mark } = start('foreign', { text: 'A summary.' });
      const { output } = await client.responses.compact({ model: refOf('openai-responses') as never, input: `Long. ${mark}` });
      const input = [...output, { role: 'user' as const, content: `And now? ${mark}` }] as OpenAI.Responses.ResponseInput;
      expect(await refusalOf(client.responses.create({ model: refOf('anthropic'), input }))).toEqual([422, 'input[1].encrypted_content']);
    });

    it('compacted here is read by a provider with Responses, too', async () => {
      const story = start('carried', { text: 'Ann likes tea.' }, { text: 'Tea.' });
      const { output } = await client.responses.compact({ model: refOf('anthropic') as never, input: `I like tea. ${story.mark}` });
      const input = [...output, { role: 'user' as const, content: `What do I like? ${story.mark}` }] as OpenAI.Responses.ResponseInput;
      expect((await client.responses.create({ model: refOf('openai-responses'), input })).output_text).toBe('Tea.');
      expect(JSON.stringify(story.understood.at(-1)?.messages)).toContain('Ann likes tea.');
    });
  });
});
