import { createServer, type Server } from 'node:http';
import OpenAI from 'openai';
import type { FunctionTool, Response as Answered, ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

type Reply = { response: Answered; session: string; completion: string };
type Request = { previous?: string; headers?: Record<string, string>; streamed?: boolean; tools?: FunctionTool[]; model?: string };

const pick: FunctionTool = {
  type: 'function',
  name: 'pickColour',
  description: 'Asks the person at the screen for a colour',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
  strict: false,
};
/** A server tool and one of the caller's in another spelling in one step; then a server tool again. */
const mixed = '/shell echo from the server\n/pick_colour of=three\n\n/shell echo after it';

describe('the stock openai client, over responses', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let client: OpenAI;
  let upstream: Awaited<ReturnType<typeof startEcho>>;

  const start = async (): Promise<void> => {
    service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  };
  const restart = async (): Promise<void> => {
    await service.stop('SIGKILL');
    await start();
  };
  beforeAll(async () => {
    upstream = await startEcho();
    await start();
    const put = await service.call('PUT', '/v1/providers/native', {
      kind: 'openai-responses',
      baseUrl: upstream.url,
      apiKey: 'sk-x',
      profile: { exact: true },
    });
    expect(put.status, put.text).toBe(201);
    await service.call('PUT', '/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });
  afterAll(async () => {
    await service.stop();
    upstream.server.close();
    removeDataDir(dataDir);
  });

  async function ask(
    input: string | ResponseInput,
    { previous, headers = {}, streamed = false, tools = [pick], model }: Request = {},
  ): Promise<Reply> {
    const body = { model: model ?? 'agent/demo', input, tools, ...(previous !== undefined && { previous_response_id: previous }) };
    const ids = (response: Response) => ({
      session: response.headers.get('x-moniker-session') ?? '',
      completion: response.headers.get('x-moniker-completion') ?? '',
    });
    if (!streamed) {
      const { data, response } = await client.responses.create(body, { headers }).withResponse();
      return { response: data, ...ids(response) };
    }
    let head: Response | undefined;
    const watching = client.withOptions({
      fetch: async (url, init) => {
        head = await fetch(url as string, init as RequestInit);
        return head;
      },
    });
    // The SDK's accumulator throws for inconsistent events.
    const response = await watching.responses.stream(body, { headers }).finalResponse();
    if (head === undefined) throw new Error('no response');
    return { response, ...ids(head) };
  }
  const say = (content: string): ResponseInputItem => ({ role: 'user', content });
  const callsOf = ({ response }: Reply) => response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  const give = (first: Reply, output: string): ResponseInput =>
    callsOf(first).map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output }));
  // The client's output items are sent back unchanged.
  const whole = ({ response }: Reply): ResponseInput => response.output as ResponseInput;
  const usersOf = async (session: string): Promise<string[]> => {
    const { json } = await service.call('GET', `/v1/sessions/${session}/messages`);
    return json.items.flatMap(({ role, parts }: { role: string; parts: { text: string }[] }) => (role === 'user' ? [parts[0]?.text] : []));
  };

  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (_how, streamed) => {
    it('gets one message in which two aliased tools ran in parallel', async () => {
      const first = await ask('/shell echo one\n/save_file {"path": "two.txt", "content": "two"}', { streamed, tools: [] });
      const { response, completion } = first;
      expect([response.id, response.status, response.model]).toEqual([completion, 'completed', 'agent/demo']);
      expect(response.output.map(({ type }) => type)).toEqual(['message']);
      expect(response.output_text).toContain('one');
      expect(response.usage?.total_tokens).toBeGreaterThan(0);
      expect(response.usage?.total_tokens).toBe((response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0));
    });

    it.each([
      ['continues from the response', 'previous'],
      ['resends all items', 'resent'],
      ['names its session and sends the outputs alone', 'alone'],
    ])('completes a turn that mixes a server tool and its own tool, with a kill and restart in between, when it %s', async (_what, way) => {
      const first = await ask([say(mixed)], { streamed, headers: way === 'alone' ? { 'x-moniker-session': 'new' } : {} });
      expect(callsOf(first).map(({ name, arguments: args, status }) => [name, args, status])).toEqual([
        ['pickColour', '{"of":"three"}', 'completed'],
      ]);
      expect([first.response.status, first.response.output.length]).toEqual(['completed', 1]);
      await restart();

      const outputs = give(first, 'teal, it is');
      const headers: Record<string, string> = way === 'alone' ? { 'x-moniker-session': first.session } : {};
      const next = (first: Reply) => (way === 'previous' ? { streamed, previous: first.response.id } : { streamed, headers });
      const second = await ask(way === 'resent' ? [say(mixed), ...whole(first), ...outputs] : outputs, next(first));
      expect([second.session, callsOf(second), second.response.status]).toEqual([first.session, [], 'completed']);
      for (const text of ['from the server', 'teal, it is', 'after it']) expect(second.response.output_text).toContain(text);
      expect(second.response.previous_response_id).toBe(way === 'previous' ? first.response.id : null);

      const history = way === 'resent' ? [say(mixed), ...whole(first), ...outputs, ...whole(second)] : [];
      const third = await ask([...history, say('/shell echo more')], next(second));
      expect([third.session, third.response.output_text.includes('more')]).toEqual([first.session, true]);
      expect(await usersOf(first.session)).toEqual([mixed, '/shell echo more']);
    });

    it("receives calls of the client's tools, translated, when no server tools are involved", async () => {
      const first = await ask('/pickColour {"of": "two"}', { streamed, model: 'rehearsal/default' });
      expect([first.session, callsOf(first).map(({ name, arguments: args }) => [name, JSON.parse(args)])]).toEqual([
        '',
        [['pickColour', { of: 'two' }]],
      ]);
      const items = [say('/pickColour {"of": "two"}'), ...whole(first), ...give(first, 'mauve')];
      expect((await ask(items, { streamed, model: 'rehearsal/default' })).response.output_text).toContain('mauve');
    });
  });

  it('continues from an older response in a new session, and the first session is unchanged', async () => {
    const first = await ask('/shell echo first > a.txt', { tools: [] });
    const second = await ask('/pickColour of=second', { previous: first.response.id });
    const third = await ask([...give(second, 'red'), say('/shell echo third')], { previous: second.response.id });
    expect(new Set([first.session, second.session, third.session]).size).toBe(1);

    const branch = await ask('/shell echo other', { previous: first.response.id, streamed: true });
    expect(branch.session).not.toBe(first.session);
    expect(await usersOf(branch.session)).toEqual(['/shell echo first > a.txt', '/shell echo other']);
    const other = await ask(give(second, 'blue'), { previous: second.response.id });
    expect([other.session === first.session, other.response.output_text.includes('blue')]).toEqual([false, true]);
    const further = await ask('/shell echo further', { previous: other.response.id });
    expect(further.session).toBe(other.session);
    // Resending the whole history continues that conversation.
    const items = [
      say('/shell echo first > a.txt'),
      ...whole(first),
      say('/pickColour of=second'),
      ...whole(second),
      ...give(second, 'blue'),
    ];
    const resent = await ask([...items, ...whole(other), say('/shell echo further'), ...whole(further), say('and?')], {
      headers: { 'x-moniker-session': other.session },
    });
    expect(resent.session).toBe(other.session);
    expect((await usersOf(first.session)).length).toBe(3);
    expect((await ask('and?', { previous: third.response.id })).session).toBe(first.session);
  });

  it('gets the same response for outputs that it sends twice', async () => {
    const first = await ask('/pickColour');
    const second = await ask(give(first, 'red'), { previous: first.response.id });
    const again = await ask(give(first, 'red'), { previous: first.response.id });
    expect(again).toEqual(second);
  });

  it('receives the pending approval, and the rest when it continues', async () => {
    const first = await ask('/shell echo it ran', { model: 'agent/guarded', tools: [] });
    expect(first.response.output_text).toContain('builtin.bash');
    const callId = /\(call (call_[^)]+)\)/.exec(first.response.output_text)?.[1] ?? 'none';
    expect((await service.call('POST', `/v1/sessions/${first.session}/approvals/${callId}`, { decision: 'approve' })).status).toBe(200);
    const second = await ask('Thank you', { model: 'agent/guarded', tools: [], previous: first.response.id });
    expect([second.session, second.response.output_text.includes('it ran')]).toEqual([first.session, true]);
  });

  it('resumes a stream from any sequence number, byte for byte, and retrieves any response', async () => {
    const first = await ask('/shell printf "%s\\n" größe 日本語 🎉\n/pickColour of=zwölf', { streamed: true });
    const path = `/v1/responses/${first.response.id}`;
    const uncut = (await service.call('GET', `${path}?stream=true`)).text;
    const frames = uncut.split(/(?<=\n\n)/);
    for (const [number, frame] of frames.entries()) {
      expect(frame).toContain(`"sequence_number":${number},`);
      const id = /^id: (\S+)$/m.exec(frame)?.[1] ?? '';
      const rest = frames.slice(number + 1).join('');
      expect((await service.call('GET', `${path}?stream=true&starting_after=${number}`)).text).toBe(rest);
      expect((await service.call('GET', `${path}?after=${id}`)).text).toBe(rest);
    }
    const numbers: number[] = [];
    for await (const event of await client.responses.retrieve(first.response.id, { stream: true, starting_after: 3 }))
      numbers.push(event.sequence_number);
    expect(numbers).toEqual([...frames.keys()].slice(4));
    expect(first.response).toMatchObject(await client.responses.retrieve(first.response.id));
  });

  it('cancels a response', async () => {
    const events = await client.responses.create({ model: 'agent/demo', input: '/shell sleep 20', stream: true });
    let id = '';
    const seen: string[] = [];
    for await (const event of events) {
      seen.push(event.type);
      if (event.type === 'response.created') {
        id = event.response.id;
        expect((await client.responses.cancel(id)).status).toBe('cancelled');
      }
    }
    expect(seen.at(-1)).toBe('response.incomplete');
    expect((await client.responses.retrieve(id)).status).toBe('cancelled');
    expect((await client.responses.cancel(id)).status).toBe('cancelled');
    expect((await ask('/shell echo next', { previous: id, tools: [] })).response.output_text).toContain('next');
  });

  it('receives an error when the previous response is not finished, and when one cannot be cancelled yet', async () => {
    const body = { model: 'agent/demo', stream: true };
    const open = async (more: object): Promise<string> => {
      const { response } = await client.responses.create({ ...body, stream: true, ...more }).withResponse();
      void response.body?.cancel();
      return response.headers.get('x-moniker-completion') ?? '';
    };
    const running = await open({ input: '/shell sleep 20' });
    const queued = await open({ input: 'next', previous_response_id: running });
    const early = client.responses.create({ ...body, stream: false, input: 'x', previous_response_id: running });
    await expect(early).rejects.toMatchObject({ status: 409, code: 'conflict' });
    await expect(client.responses.cancel(queued)).rejects.toMatchObject({ status: 409, code: 'conflict' });
    expect((await client.responses.cancel(running)).status).toBe('cancelled');
    expect((await client.responses.retrieve(queued)).status).toBe('completed');
  });

  it('receives errors in the OpenAI format', async () => {
    const create = (body: object) => client.responses.create({ model: 'agent/demo', input: 'hi', ...body });
    await expect(create({ model: 'nobody/nothing' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    const strict = { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' };
    expect((await service.call('PUT', '/v1/agents/strict', strict)).status).toBe(201);
    await expect(create({ model: 'agent/strict', tools: [{ ...pick, name: 'Shell' }] })).rejects.toMatchObject({
      status: 422,
      param: 'tools[0].name',
    });
    await expect(create({ tools: [{ type: 'web_search' }] })).rejects.toMatchObject({ status: 422, param: 'tools[0]' });
    await expect(create({ previous_response_id: 'resp_theirs' })).rejects.toMatchObject({ status: 404, param: 'previous_response_id' });
    const plain = create({ model: 'rehearsal/default', previous_response_id: 'resp_theirs' });
    await expect(plain).rejects.toMatchObject({ status: 404, param: 'previous_response_id' });
    await expect(client.responses.retrieve('resp_theirs')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const first = await ask('hello');
    const { json } = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['chat'] });
    const other = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: json.key, maxRetries: 0 });
    await expect(other.responses.retrieve(first.response.id)).rejects.toMatchObject({ status: 404 });
    await expect(other.responses.cancel(first.response.id)).rejects.toMatchObject({ status: 404 });
    const body = { model: 'rehearsal/default', input: 'x', previous_response_id: first.response.id };
    await expect(other.responses.create(body)).rejects.toMatchObject({ status: 404, param: 'previous_response_id' });
  });

  it('receives the exact bytes of a provider with the same wire, which receives the exact request', async () => {
    const body = {
      model: 'native/gpt-x',
      input: 'hi',
      tools: [{ type: 'web_search' }],
      previous_response_id: 'resp_theirs',
      stream: true,
    };
    const answer = await service.call('POST', '/v1/responses', body);
    expect([answer.status, answer.text]).toEqual([200, upstream.reply]);
    // Listing the models, in another test, asks the provider for its list.
    expect(upstream.requests.filter(([path]) => path !== '/v1/models')).toEqual([
      ['/v1/responses', JSON.stringify({ ...body, model: 'gpt-x' })],
    ]);
  });
});

/** A provider that returns the same stream to every request, with unusual spacing and unknown events. */
async function startEcho(): Promise<{ server: Server; url: string; reply: string; requests: [string, string][] }> {
  const reply =
    'event: response.created\ndata:  {"type":"response.created","sequence_number":0 , "response":{}}\n\n: hm\n\ndata: {"type":"brand.new"}\n\ndata: {"type":"response.completed","response":{"status":"completed", "output":[]}}\n\n';
  const requests: [string, string][] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString('utf8');
    });
    request.on('end', () => {
      requests.push([request.url ?? '', body]);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(reply);
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return { server, url: `http://127.0.0.1:${port}/v1`, reply, requests };
}
