import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf } from '../dialects/messages-stream.ts';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { listenUpstream, type ListeningUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';

type Messages = Anthropic.MessageParam[];
type Answer = Pick<Anthropic.Message, 'content' | 'stop_reason' | 'usage' | 'model'> & {
  text: string;
  session: string;
  completion: string;
};

const pick: Anthropic.Tool = { name: 'pickColour', input_schema: { type: 'object', properties: { of: { type: 'string' } } } };
const say = (content: string): Messages[number] => ({ role: 'user', content });
const back = ({ content }: Pick<Answer, 'content'>): Messages[number] => ({ role: 'assistant', content });
const callsOf = ({ content }: Pick<Answer, 'content'>) => content.filter((block) => block.type === 'tool_use');
const give = (answer: Answer, content: string): Messages => [
  back(answer),
  { role: 'user', content: callsOf(answer).map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content })) },
];

describe('the stock @anthropic-ai/sdk client', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let upstream: ListeningUpstream;
  const claude = fakeAnthropic(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return { text: `It is ${last.results.map(({ text }) => text).join(' and ')}.` };
    return { reasoning: 'Which?', text: 'I ask.', calls: [{ name: 'pickColour', arguments: { of: 'three' } }] };
  });

  beforeAll(async () => {
    upstream = await listenUpstream(claude);
    await service.call('PUT', '/v1/providers/claude', { kind: 'anthropic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk-claude' });
    await service.call('PUT', '/v1/toolsets/guarded', {
      tools: [
        { tool: 'builtin.bash', name: 'shell', approval: 'always' },
        { tool: 'builtin.list_directory', name: 'ls' },
      ],
    });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
    await service.call('PUT', '/v1/agents/claude', { model: 'claude/claude-sonnet-5', toolset: 'demo', instructions: 'Be brief.' });
  });
  afterAll(() => upstream.close());

  /** Sends its key as x-api-key; only the base URL is set. */
  const clientOf = (apiKey = service.key): Anthropic => new Anthropic({ baseURL: service.url, apiKey, maxRetries: 0 });

  const ask = async (
    messages: Messages,
    { streamed = false, headers = {}, tools = [] as Anthropic.ToolUnion[], model = 'agent/demo' } = {},
  ): Promise<Answer> => {
    const body = { model, max_tokens: 1024, messages, ...(tools.length > 0 && { tools }) };
    const { message, response } = streamed ? await streamOf(body, headers) : await plain(body, headers);
    const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    const named = (name: string): string => response.headers.get(name) ?? '';
    return { ...message, text, session: named('x-moniker-session'), completion: named('x-moniker-completion') };
  };
  const plain = async (body: Anthropic.MessageCreateParamsNonStreaming, headers: Record<string, string>) => {
    const { data, response } = await clientOf().messages.create(body, { headers }).withResponse();
    return { message: data, response };
  };
  const streamOf = async (body: Anthropic.MessageCreateParamsNonStreaming, headers: Record<string, string>) => {
    const stream = clientOf().messages.stream(body, { headers });
    const { response } = await stream.withResponse();
    return { message: await stream.finalMessage(), response };
  };

  describe.each([
    ['plain', false],
    ['streamed', true],
  ])('%s', (_how, streamed) => {
    it('gets one message, in which two aliased server tools ran in parallel', async () => {
      const answer = await ask([say('/shell echo one\n/save_file {"path": "two.txt", "content": "two"}')], { streamed });
      expect([answer.model, answer.stop_reason, callsOf(answer)]).toEqual(['agent/demo', 'end_turn', []]);
      expect(answer.text).toContain('one');
      expect(answer.usage.output_tokens).toBeGreaterThan(0);
    });

    it('continues a session by its header, with and without resending the history', async () => {
      const first = await ask([say('/save_file {"path": "kept.txt", "content": "kept words"}')], {
        streamed,
        headers: { 'x-moniker-session': 'new' },
      });
      const headers = { 'x-moniker-session': first.session };
      const second = await ask([say('/save_file {"path": "kept.txt", "content": "kept words"}'), back(first), say('/cat kept.txt')], {
        streamed,
        headers,
      });
      expect([second.session, second.text.includes('kept words')]).toEqual([first.session, true]);
      const third = await ask([say('/cat kept.txt')], { streamed, headers });
      expect([third.session, third.text.includes('kept words')]).toEqual([first.session, true]);
    });

    it("receives calls of the client's tools when no server tools are involved, from a model of another wire", async () => {
      const answer = await ask([say('/pickColour {"of": "two"}')], { streamed, tools: [pick], model: 'rehearsal/default' });
      expect([answer.stop_reason, answer.session, answer.model]).toEqual(['tool_use', '', 'rehearsal/default']);
      expect(callsOf(answer)).toMatchObject([{ name: 'pickColour', input: { of: 'two' } }]);
      const next = await ask([say('/pickColour {"of": "two"}'), ...give(answer, 'teal')], {
        streamed,
        tools: [pick],
        model: 'rehearsal/default',
      });
      expect([next.stop_reason, next.text.includes('teal')]).toEqual(['end_turn', true]);
    });

    it.each([
      ['that is recognized by its history', 'resent'],
      ['that names its session and resends its history', 'both'],
      ['that names its session and sends the results alone', 'alone'],
    ])('completes a turn that mixes a server tool and its own tool, with a kill and restart in between: %s', async (_who, way) => {
      const mixed = '/shell echo from the server\n/pickColour {"of": "three"}\n\n/shell echo after it';
      const tools = [pick];
      const first = await ask([say(mixed)], { streamed, tools, headers: way === 'resent' ? {} : { 'x-moniker-session': 'new' } });
      expect([first.stop_reason, callsOf(first).map(({ name, input }) => [name, input])]).toEqual([
        'tool_use',
        [['pickColour', { of: 'three' }]],
      ]);
      await service.restart();

      const results = give(first, 'teal, it is');
      const headers: Record<string, string> = way === 'resent' ? {} : { 'x-moniker-session': first.session };
      const second = await ask(way === 'alone' ? results.slice(1) : [say(mixed), ...results], { streamed, tools, headers });
      expect([second.stop_reason, callsOf(second), second.session]).toEqual(['end_turn', [], first.session]);
      for (const text of ['from the server', 'teal, it is', 'after it']) expect(second.text).toContain(text);

      const third = await ask([say(mixed), ...results, back(second), say('/cat missing.txt')], { streamed, tools, headers });
      expect([third.session, third.stop_reason]).toEqual([first.session, 'end_turn']);
    });

    it('talks to a provider of the same wire: raw bytes without a session, a session with an agent; thinking is returned unchanged', async () => {
      const bare = await ask([say('Which?')], { streamed, tools: [pick], model: 'claude/claude-sonnet-5' });
      expect([bare.model, bare.content.map(({ type }) => type)]).toEqual(['claude-sonnet-5', ['thinking', 'text', 'tool_use']]);
      const next = await ask([say('Which?'), ...give(bare, 'blue')], { streamed, tools: [pick], model: 'claude/claude-sonnet-5' });
      expect(next.text).toBe('It is blue.');

      const first = await ask([say('Which?')], { streamed, tools: [pick], model: 'agent/claude' });
      expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
      const second = await ask([say('Which?'), ...give(first, 'green')], { streamed, tools: [pick], model: 'agent/claude' });
      expect([second.text, second.session, claude.refused]).toEqual(['It is green.', first.session, []]);
      const heard = claude.understood.at(-1)?.messages.find(({ role }) => role === 'assistant');
      expect(heard).toMatchObject({ text: 'I ask.', calls: [{ name: 'pickColour', arguments: { of: 'three' } }] });
    });

    it('receives the pending approval, and the rest of the turn with its next request', async () => {
      const history = [say('/shell echo it ran')];
      const first = await ask(history, { streamed, model: 'agent/guarded', headers: { 'x-moniker-session': 'new' } });
      const callId = /\(call (call_[^)]+)\)/.exec(first.text)?.[1] ?? 'none';
      expect([first.stop_reason, callsOf(first), first.text]).toEqual(['end_turn', [], expect.stringContaining('builtin.bash')]);
      const decided = await service.call('POST', `/v1/sessions/${first.session}/approvals/${callId}`, { decision: 'approve' });
      expect(decided.status).toBe(200);
      const headers = { 'x-moniker-session': first.session };
      const second = await ask([...history, back(first), say('/ls path=.')], { streamed, model: 'agent/guarded', headers });
      expect(second.session).toBe(first.session);
      expect(second.text).toContain('it ran');
    });
  });

  it('resumes a cut stream from any event, byte for byte', async () => {
    const body = { model: 'agent/demo', max_tokens: 4096, stream: true, messages: [say('/shell seq 1 900\n\n/shell printf größe')] };
    const answer = await service.call('POST', '/v1/messages', body);
    eventsOf(answer.text);
    const path = `/v1/messages/${answer.headers.get('x-moniker-completion')}`;
    const ids = [...answer.text.matchAll(/^id: (\S+)$/gm)].map(([, id = '']) => id);
    expect(ids.length).toBeGreaterThanOrEqual(8);
    await service.restart();
    for (const id of ids) {
      const rest = await service.call('GET', `${path}?after=${id}`);
      const end = answer.text.indexOf('\n\n', answer.text.indexOf(`id: ${id}\n`)) + 2;
      expect(rest.text, id).toBe(answer.text.slice(end));
    }
    const whole = await service.call('GET', path);
    expect(whole.json).toMatchObject({ type: 'message', stop_reason: 'end_turn', content: [{ type: 'text' }] });
  });

  it('gets the same response under the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [one, two] = [await ask([say('/shell date +%N')], { headers }), await ask([say('/shell date +%N')], { headers })];
    expect(two).toEqual(one);
  });

  it('counts tokens, with an estimate for providers that cannot count them', async () => {
    const count = await clientOf().messages.countTokens({ model: 'agent/demo', messages: [say('x'.repeat(400))] });
    expect(count).toMatchObject({ input_tokens: expect.any(Number), estimated: true });
    expect(count.input_tokens).toBeGreaterThanOrEqual(100);
  });

  it('receives errors in the Anthropic format', async () => {
    const unknown = ask([say('hi')], { model: 'nobody/nothing' });
    await expect(unknown).rejects.toMatchObject({ status: 404, type: 'not_found_error', errorCode: 'model_not_found' });
    const stranger = clientOf('not-a-key').messages.create({ model: 'agent/demo', max_tokens: 1, messages: [say('hi')] });
    await expect(stranger).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    const strict = { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' };
    expect((await service.call('PUT', '/v1/agents/strict', strict)).status).toBe(201);
    const taken = ask([say('hi')], { model: 'agent/strict', tools: [{ name: 'Shell', input_schema: { type: 'object' } }] });
    await expect(taken).rejects.toMatchObject({
      status: 422,
      type: 'invalid_request_error',
      apiMessage: expect.stringMatching(/^tools\[0\]\.name/),
    });
    const hosted = ask([say('hi')], { tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
    await expect(hosted).rejects.toMatchObject({ status: 422, apiMessage: expect.stringMatching(/^tools\[0\]/) });
  });
});
