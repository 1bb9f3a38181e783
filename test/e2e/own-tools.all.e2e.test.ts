import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, parseEvents, removeDataDir, startService, type RunningService } from './service.ts';

type Messages = OpenAI.ChatCompletionMessageParam[];
type Answer = { message: OpenAI.ChatCompletionMessage; finish: string; usage: OpenAI.CompletionUsage; session: string; completion: string };

const pick: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'pickColour',
    description: 'Asks the person at the screen for a colour',
    parameters: { type: 'object', properties: { of: { type: 'string' } } },
  },
};

/** A server tool and one of the caller's in another spelling in one step; then a server tool again. */
const mixed = '/shell echo from the server\n/pick_colour of=three\n\n/shell echo after it';

describe('the stock openai client with its own tools', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let client: OpenAI;

  const start = async (): Promise<void> => {
    service = await startService(dataDir);
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  };
  beforeAll(start);
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });

  const restart = async (): Promise<void> => {
    await service.stop('SIGKILL');
    await start();
  };

  async function ask(
    messages: Messages,
    { streamed = false, headers = {}, tools = [pick] as OpenAI.ChatCompletionTool[] } = {},
  ): Promise<Answer> {
    const body = { model: 'agent/demo', messages, ...(tools.length > 0 && { tools }) };
    const ids = (response: Response) => ({
      session: response.headers.get('x-moniker-session') ?? '',
      completion: response.headers.get('x-moniker-completion') ?? '',
    });
    if (!streamed) {
      const { data, response } = await client.chat.completions.create(body, { headers }).withResponse();
      const [choice] = data.choices;
      if (choice === undefined || data.usage === undefined) throw new Error('no choice, or no usage');
      expect(data.id).toBe(ids(response).completion);
      return { message: choice.message, finish: choice.finish_reason, usage: data.usage, ...ids(response) };
    }
    const { data, response } = await client.chat.completions
      .create({ ...body, stream: true, stream_options: { include_usage: true } }, { headers })
      .withResponse();
    return { ...(await fold(data)), ...ids(response) };
  }

  const say = (content: string): Messages[number] => ({ role: 'user', content });
  const give = (answer: Answer, content: string): Messages => {
    const calls = answer.message.tool_calls ?? [];
    return [answer.message, ...calls.map((call) => ({ role: 'tool' as const, tool_call_id: call.id, content }))];
  };
  const callsOf = (answer: Answer) =>
    (answer.message.tool_calls ?? []).map((call) => (call.type === 'function' ? [call.function.name, call.function.arguments] : []));
  /** The sum over all model calls in the session's log. */
  const spentIn = async (session: string): Promise<number> => {
    const response = await fetch(`${service.url}/v1/sessions/${session}/events`, { headers: { authorization: `Bearer ${service.key}` } });
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.split('event: turn-end').length > 2 && text.endsWith('\n\n')) break;
    }
    const usages = parseEvents(text).flatMap(({ type, data }) =>
      type === 'usage' ? [data.usage as { inputTokens: number; outputTokens: number }] : [],
    );
    return usages.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  };

  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (_how, streamed) => {
    it.each([
      ['that is recognized by its history', 'resent'],
      ['that names its session and resends its history', 'both'],
      ['that names its session and sends the results alone', 'alone'],
    ])(
      'completes a turn that mixes a server tool and its own tool, with a kill and restart in between, by a client %s',
      async (_who, way) => {
        const first = await ask([say(mixed)], { streamed, headers: way === 'resent' ? {} : { 'x-moniker-session': 'new' } });
        expect([first.finish, first.message.content || null]).toEqual(['tool_calls', null]);
        expect(callsOf(first)).toEqual([['pickColour', '{"of":"three"}']]);
        await restart();

        const results = give(first, 'teal, it is');
        const headers: Record<string, string> = way === 'resent' ? {} : { 'x-moniker-session': first.session };
        const second = await ask(way === 'alone' ? results.slice(1) : [say(mixed), ...results], { streamed, headers });
        expect([second.finish, second.message.tool_calls ?? [], second.session]).toEqual(['stop', [], first.session]);
        for (const text of ['from the server', 'teal, it is', 'after it']) expect(second.message.content).toContain(text);

        const { json } = await service.call('GET', `/v1/sessions/${first.session}/messages`);
        const parts: { type: string; canonical?: string }[] = json.items.flatMap((message: { parts: object[] }) => message.parts);
        expect(parts.flatMap(({ type, canonical }) => (type === 'tool-result' ? [canonical] : []))).toEqual([
          'builtin.bash',
          'client.pickColour',
          'builtin.bash',
        ]);

        const third = await ask([say(mixed), ...results, second.message, say('/cat missing.txt')], { streamed, headers });
        expect([third.session, third.finish]).toEqual([first.session, 'stop']);
        const told = [first, second, third].reduce((sum, { usage }) => sum + usage.total_tokens, 0);
        expect(told).toBe(await spentIn(first.session));
      },
    );
  });

  it('gets the same response for results that it sends twice', async () => {
    const first = await ask([say('/pickColour')]);
    expect(callsOf(first)).toEqual([['pickColour', '{}']]);
    const again = [say('/pickColour'), ...give(first, 'red')];
    const second = await ask(again);
    const third = await ask(again);
    expect(third).toEqual(second);
  });

  it('continues without a result when the user sends another message instead', async () => {
    const first = await ask([say('/pickColour')]);
    const second = await ask([say('/pickColour'), first.message, say('/shell echo never mind')]);
    expect([second.session, second.finish]).toEqual([first.session, 'stop']);
    expect(second.message.content).toContain('never mind');
    const { json } = await service.call('GET', `/v1/sessions/${first.session}/messages`);
    expect(JSON.stringify(json)).toContain('aborted');
  });

  it('receives the call of its tool that has the name of a server tool, unless the agent is strict', async () => {
    const shell = { type: 'function' as const, function: { name: 'Terminal_Run', parameters: {} } };
    const asked = { messages: [say('/Terminal_Run')], tools: [shell] };
    const { choices } = await client.chat.completions.create({ model: 'agent/demo', ...asked });
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'Terminal_Run' } }] } });
    await service.call('PUT', '/v1/agents/strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    const refused = client.chat.completions.create({ model: 'agent/strict', ...asked });
    await expect(refused).rejects.toMatchObject({
      status: 422,
      code: 'invalid_request',
      param: 'tools[0].function.name',
      message: expect.stringMatching(/Terminal_Run.*builtin\.bash/),
    });
  });

  it('can force a call of a client tool', async () => {
    const body = { model: 'agent/demo', messages: [say('anything')], tools: [pick] };
    const { choices } = await client.chat.completions.create({
      ...body,
      tool_choice: { type: 'function', function: { name: 'pickColour' } },
    });
    expect([choices[0]?.finish_reason, choices[0]?.message.tool_calls?.length]).toEqual(['tool_calls', 1]);
  });

  it('starts a new session with its whole history when the session was deleted or belongs to another key', async () => {
    const first = await ask([say('/pickColour')], { headers: { 'x-moniker-session': 'new' } });
    const history = [say('/pickColour'), ...give(first, 'blue')];
    const { json } = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['chat'] });
    const other = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: json.key, maxRetries: 0 });
    const body = { model: 'agent/demo', messages: history, tools: [pick] };
    const theirs = await other.chat.completions.create(body).withResponse();
    expect(theirs.response.headers.get('x-moniker-session')).not.toBe(first.session);
    expect(theirs.data.choices[0]?.message.content).toContain('blue');

    expect((await service.call('DELETE', `/v1/sessions/${first.session}`)).status).toBe(204);
    const mine = await ask(history);
    expect(mine.session).not.toBe(first.session);
    expect(mine.message.content).toContain('blue');
  });

  it('is rejected when it sends results of two sessions at once', async () => {
    const [one, two] = [await ask([say('/pickColour')]), await ask([say('/pickColour of=two')])];
    const results = [...give(one, 'a').slice(1), ...give(two, 'b').slice(1)];
    await expect(client.chat.completions.create({ model: 'agent/demo', messages: results, tools: [pick] })).rejects.toMatchObject({
      status: 422,
      code: 'invalid_request',
    });
  });
});

type Folded = Pick<Answer, 'message' | 'finish' | 'usage'>;

/** Assembles chunks as clients do: by index, each field where it first occurs, one finish reason. */
async function fold(chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<Folded> {
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  const finishes: string[] = [];
  let content = '';
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const { choices, usage: told } of chunks) {
    const [choice] = choices;
    content += choice?.delta.content ?? '';
    for (const { index, id, function: named } of choice?.delta.tool_calls ?? []) {
      calls[index] ??= { id: id ?? '', type: 'function', function: { name: named?.name ?? '', arguments: '' } };
      calls[index].function.arguments += named?.arguments ?? '';
    }
    if (choice?.finish_reason) finishes.push(choice.finish_reason);
    usage = told ?? usage;
  }
  const [finish] = finishes;
  if (finishes.length !== 1 || finish === undefined || !usage) throw new Error(`${finishes.length} finish reasons, usage ${usage}`);
  return { message: { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) }, finish, usage };
}
