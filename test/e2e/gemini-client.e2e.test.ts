/** The stock `@google/genai` client: chats, automatic function calling, approvals, errors, models and embeddings. */
import { ApiError, type CallableTool, type FunctionCall, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { fakeGemini } from '../fakes/upstreams/gemini.ts';
import { listenUpstream, type ListeningUpstream, type Script } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';

/** Calls the tool, then says what it returned. */
const picks: Script = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: `It is ${last.results.map(({ text }) => text).join(' and ')}.` };
  return { reasoning: 'Which?', text: 'I ask.', calls: [{ name: 'pickColour', arguments: { of: 'three' } }] };
};

describe('the stock @google/genai client', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  const claude = fakeAnthropic(picks);
  const google = fakeGemini(picks);
  const upstreams: ListeningUpstream[] = [];

  beforeAll(async () => {
    const [atClaude, atGoogle] = [await listenUpstream(claude), await listenUpstream(google)];
    upstreams.push(atClaude, atGoogle);
    await service.call('PUT', '/v1/providers/claude', { kind: 'anthropic', baseUrl: `${atClaude.url}/v1`, apiKey: 'sk-claude' });
    await service.call('PUT', '/v1/providers/google', { kind: 'gemini', baseUrl: `${atGoogle.url}/v1beta`, apiKey: 'key-google' });
    await service.call('PUT', '/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded' });
    await service.call('PUT', '/v1/agents/plain', { model: 'google/gemini-3-flash-preview', instructions: 'Be brief.' });
  });
  afterAll(() => {
    for (const upstream of upstreams) upstream.close();
  });

  const client = (apiKey = service.key): GoogleGenAI => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: service.url } });
  const picker = (): CallableTool & { calls: FunctionCall[] } => ({
    calls: [],
    tool: async () => ({
      functionDeclarations: [{ name: 'pickColour', parametersJsonSchema: { type: 'object', properties: { of: {} } } }],
    }),
    async callTool(calls) {
      this.calls.push(...calls);
      return calls.map(({ id, name }) => ({ functionResponse: { id: id ?? '', name: name ?? '', response: { output: 'teal' } } }));
    },
  });

  it.each(['plain', 'streamed'])('chats with an agent whose tools run inside, in one session: %s', async (how) => {
    const chat = client().chats.create({ model: 'agent/demo' });
    const say = async (message: string): Promise<string> => {
      if (how === 'plain') return (await chat.sendMessage({ message })).text ?? '';
      let text = '';
      for await (const chunk of await chat.sendMessageStream({ message })) text += chunk.text ?? '';
      return text;
    };
    expect(await say(`/shell echo one > ${how}.txt`)).toContain('exit code: 0');
    expect(await say(`/shell cat ${how}.txt`)).toContain('one');
  });

  it.each(['claude/claude-sonnet-5', 'google/gemini-3-flash-preview'])('calls its functions itself with %s', async (model) => {
    const tool = picker();
    const response = await client().models.generateContent({
      model,
      contents: 'A colour?',
      config: { tools: [tool], thinkingConfig: { includeThoughts: true } },
    });
    expect(response.text).toBe('It is teal.');
    expect(tool.calls).toMatchObject([{ name: 'pickColour', args: { of: 'three' } }]);
    expect([...claude.refused, ...google.refused]).toEqual([]);
  });

  it('gets the name of an agent without tools as the version of the model, and its instructions reach the model', async () => {
    const tool = picker();
    for (const streamed of [false, true]) {
      const asked = { model: 'agent/plain', contents: 'A colour?', config: { tools: [await tool.tool()] } };
      const chunks: GenerateContentResponse[] = [];
      if (streamed) for await (const chunk of await client().models.generateContentStream(asked)) chunks.push(chunk);
      else chunks.push(await client().models.generateContent(asked));
      expect(new Set(chunks.map(({ modelVersion }) => modelVersion ?? 'agent/plain'))).toEqual(new Set(['agent/plain']));
      expect(chunks.flatMap(({ functionCalls }) => functionCalls ?? [])).toMatchObject([{ name: 'pickColour' }]);
    }
    expect(google.understood.slice(-2).map(({ system }) => system)).toEqual(['Be brief.', 'Be brief.']);
  });

  it('continues after an approval with its next message', async () => {
    const chat = client().chats.create({ model: 'agent/guarded' });
    const asked = await chat.sendMessage({ message: '/shell echo approved' });
    expect(asked.text).toContain('Waiting for approval of builtin.bash');
    const { json } = await service.call('GET', '/v1/approvals');
    const [{ session, callId }] = json.items as [{ session: string; callId: string }];
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
    expect((await chat.sendMessage({ message: 'Well?' })).text).toContain('approved');
  });

  it('gets errors in the form that it reads', async () => {
    const asked = { model: 'nothing/none', contents: 'x' };
    for (const [ask, status, reason] of [
      [() => client().models.generateContent(asked), 404, 'NOT_FOUND'],
      [() => client().models.generateContentStream(asked), 404, 'NOT_FOUND'],
      [() => client('wrong').models.generateContent(asked), 401, 'UNAUTHENTICATED'],
    ] as const) {
      const error: unknown = await ask().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status, message: expect.stringContaining(reason) });
    }
  });

  it('lists models, and counts tokens', async () => {
    const names: (string | undefined)[] = [];
    for await (const { name } of await client().models.list()) names.push(name);
    expect(names).toContain('models/agent/demo');
    expect((await client().models.get({ model: 'agent/demo' })).name).toBe('models/agent/demo');
    expect((await client().models.countTokens({ model: 'agent/demo', contents: 'x'.repeat(40) })).totalTokens).toBeGreaterThan(9);
  });
});
