/**
 * Clients other than the plain SDKs against the running service: the AI SDK with its own loop, the runners and parsers of the vendors'
 * SDKs, and the requests of coding agents (`coding-agents.ts`), over every provider kind.
 */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Say, Script, Understood } from '../fakes/upstreams/upstream.ts';
import { type AgentRequest, chatAgent, claudeCode, codex } from './coding-agents.ts';
import { apis, type FakeProviders, type Fault, refOf, startFakeProviders, type Wire, wires } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

// The SDK warns about model names that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const native = wires.filter((wire) => wire !== 'text');
const City = z.object({ city: z.string() });
const Answer = z.object({ city: z.string(), degrees: z.number().nullable() });
const answered = '{"city":"Oslo","degrees":3}';

/** Two steps with calls, the first of them parallel, then the final text. `resultsIn`: the number of result messages after a step. */
const loop: Script = (heard) => {
  const steps = [
    { reasoning: 'One.', text: 'I look.', calls: [call('Oslo'), call('Rome')] },
    { reasoning: 'Two.', calls: [call('Bern')] },
    { text: 'Done.' },
  ];
  return steps[resultsIn(heard)] ?? { text: 'Too far.' };
};
const call = (city: string) => ({ name: 'get_weather', arguments: { city } });
const resultsIn = ({ messages }: Understood): number => messages.filter(({ role }) => role === 'tool').length;
const resultTexts = ({ messages }: Understood): string[][] =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.results.map(({ text }) => text)] : []));

describe('real clients', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;
  const openAi = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  const anthropic = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate', aliases: ['sum_up', 'reckon'] }] });
    await service.call('PUT', '/v1/toolsets/shell', { tools: [{ tool: 'builtin.bash' }, { tool: 'local.calculate', name: 'reckon' }] });
    for (const wire of native) {
      const agent = { model: refOf(wire), toolset: 'desk', instructions: 'Be brief.' };
      const { status, text } = await service.call('PUT', `/v1/agents/at-${wire}`, agent);
      expect(status, text).toBe(201);
      await service.call('PUT', `/v1/agents/shell-${wire}`, { ...agent, toolset: 'shell' });
    }
  });
  afterAll(() => fakes.close());

  describe.concurrent.each(['chat', 'responses', 'messages'] as const)('the AI SDK by its %s model', (kind) => {
    const settings = () => ({ baseURL: `${service.url}/v1`, apiKey: service.key });
    const modelOf = (ref: string): LanguageModel =>
      kind === 'messages' ? createAnthropic(settings())(ref) : createOpenAI(settings())[kind](ref);
    const asking = { maxRetries: 0, stopWhen: isStepCount(6) };
    // By default, the SDK's model for Responses refers to items, which OpenAI's stand-in does not store.
    const whole = { ...asking, ...(kind === 'responses' && { providerOptions: { openai: { store: false } } }) };
    const tools = { get_weather: tool({ inputSchema: City, execute: ({ city }) => `${city} is sunny` }) };

    describe.concurrent.each(native)('over %s', (wire) => {
      it.each(['generateText', 'streamText'] as const)('%s runs its tools over several steps', async (how) => {
        const story = fakes.start(`ai ${kind} ${wire} ${how}`, { say: loop });
        const own = wire === 'openai-responses' ? whole : asking;
        const request = { ...own, model: modelOf(refOf(wire)), tools, prompt: `Well? ${story.mark}` };
        const failures: unknown[] = [];
        const onError = ({ error }: { error: unknown }) => void failures.push(error);
        const result = how === 'generateText' ? await generateText(request) : streamText({ ...request, onError });
        expect([await result.text, (await result.steps).length, await result.finishReason]).toEqual(['Done.', 3, 'stop']);
        expect(failures).toEqual([]);
        expect(resultTexts(story.understood[2] as Understood)).toEqual([['Oslo is sunny', 'Rome is sunny'], ['Bern is sunny']]);
      });

      it('returns an object of its schema', async () => {
        const say = ({ tools: offered }: Understood): Say =>
          offered.includes('json') ? { calls: [{ name: 'json', arguments: JSON.parse(answered) }] } : { text: answered };
        const story = fakes.start(`ai ${kind} ${wire} object`, { say });
        const request = { ...asking, model: modelOf(refOf(wire)), prompt: `Well? ${story.mark}` };
        const { output } = await generateText({ ...request, output: Output.object({ schema: Answer }) });
        expect(output).toEqual(JSON.parse(answered));
      });

      it('mixes its tools with those of an agent', async () => {
        const say: Script = (heard) => {
          if (resultsIn(heard) > 0) return { text: 'Both.' };
          return {
            reasoning: 'Both at once.',
            text: 'I look.',
            calls: [{ name: 'reckon', arguments: { expression: '6*7' } }, call('Oslo')],
          };
        };
        const story = fakes.start(`ai ${kind} ${wire} agent`, { say });
        const result = streamText({ ...asking, model: modelOf(`agent/at-${wire}`), tools, prompt: `Well? ${story.mark}` });
        expect([await result.text, (await result.steps).length]).toEqual(['Both.', 2]);
        expect(resultTexts(story.understood[1] as Understood)).toEqual([[expect.stringContaining('42'), 'Oslo is sunny']]);
      });
    });
  });

  describe.concurrent.each(native)('over %s', (wire) => {
    it.each([
      ['plain', false],
      ['streamed', true],
    ])('the runner of openai runs its tools: %s', async (how, stream) => {
      const story = fakes.start(`runTools ${wire} ${how}`, { say: loop });
      const runs = { ...call(''), parse: JSON.parse, function: ({ city }: z.infer<typeof City>) => `${city} is sunny`, description: '' };
      const request = {
        model: refOf(wire),
        messages: [{ role: 'user' as const, content: `Well? ${story.mark}` }],
        tools: [
          { type: 'function' as const, function: { ...runs, parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
        ],
      };
      const { completions } = openAi().chat;
      const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request);
      expect(await runner.finalContent()).toBe('Done.');
      expect(story.understood).toHaveLength(3);
    });

    it.each([
      ['plain', false],
      ['streamed', true],
    ])('the tool runner of @anthropic-ai/sdk continues without a thread and runs its tools: %s', async (how, stream) => {
      const story = fakes.start(`toolRunner ${wire} ${how}`, { say: loop });
      const runs = betaZodTool({ name: 'get_weather', description: '', inputSchema: City, run: ({ city }) => `${city} is sunny` });
      const messages = [{ role: 'user' as const, content: `Well? ${story.mark}` }];
      const { content } = await anthropic().beta.messages.toolRunner({
        model: refOf(wire),
        max_tokens: 4000,
        messages,
        tools: [runs],
        stream,
      });
      expect(content.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'Done.' }]);
      expect(resultTexts(story.understood[2] as Understood)).toEqual([['Oslo is sunny', 'Rome is sunny'], ['Bern is sunny']]);
    });

    it('the parsers of openai return their objects', async () => {
      const story = fakes.start(`parse ${wire}`, { say: () => ({ text: answered }) });
      const [model, content] = [refOf(wire), `Well? ${story.mark}`];
      const format = { format: zodTextFormat(Answer, 'answer') };
      const parsed = await openAi().chat.completions.parse({
        model,
        messages: [{ role: 'user', content }],
        response_format: zodResponseFormat(Answer, 'answer'),
      });
      expect(parsed.choices[0]?.message.parsed).toEqual(JSON.parse(answered));
      expect((await openAi().responses.parse({ model, input: content, text: format })).output_parsed).toEqual(JSON.parse(answered));
      const stream = openAi().responses.stream({ model, input: content, text: format });
      expect((await stream.finalResponse()).output_parsed).toEqual(JSON.parse(answered));
      for (const { text } of story.heard) expect(text).toContain('"degrees"');
    });
  });

  it('both SDKs read the list of models and a single model', async () => {
    const ids = (await openAi().models.list()).data.map(({ id }) => id);
    expect(ids).toContain('agent/demo');
    const listed: Anthropic.ModelInfo[] = [];
    for await (const model of anthropic().models.list({ limit: 2 })) listed.push(model);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    const model = await anthropic().models.retrieve('agent/demo');
    expect([model.type, model.display_name, Number.isNaN(Date.parse(model.created_at))]).toEqual(['model', 'agent/demo', false]);
    expect((await openAi().models.retrieve('agent/demo')).object).toBe('model');
  });

  it('both methods of Anthropic’s SDK count tokens', async () => {
    const request = { model: 'agent/demo', messages: [{ role: 'user' as const, content: 'x'.repeat(400) }] };
    for (const { messages } of [anthropic(), anthropic().beta])
      expect((await messages.countTokens(request)).input_tokens).toBeGreaterThan(99);
  });

  describe.concurrent.each(wires)('a coding agent over %s', (wire) => {
    const startStory = (name: string, said: Say, ownWire: Wire) =>
      fakes.start(`${name} ${wire}`, { say: () => said, ...(wire === ownWire && { faults: { 0: anything(wire) } }) });
    const check = async (
      { path, headers, body, tools }: AgentRequest,
      story: ReturnType<typeof startStory>,
      ownWire: Wire,
    ): Promise<string> => {
      const sent = JSON.stringify(body);
      const answer = await service.call('POST', path, sent, headers);
      expect(answer.status, answer.text).toBe(200);
      // Requests of the provider's own wire are proxied unchanged.
      if (wire === ownWire) {
        expect(story.heard.map(({ text }) => text)).toEqual([sent.replace(JSON.stringify(refOf(wire)), JSON.stringify(apis[wire].model))]);
        return '';
      }
      expect(story.understood).toHaveLength(1);
      if (wire !== 'text') expect(story.understood[0]?.tools).toEqual(tools);
      return answer.text;
    };

    it('works as Claude Code', async () => {
      const story = startStory(
        'claude',
        { reasoning: 'Hm.', text: 'I see.', calls: [{ name: 'Bash', arguments: { path: 'ls' } }] },
        'anthropic',
      );
      const text = await check(claudeCode(refOf(wire), story.mark), story, 'anthropic');
      if (wire === 'anthropic') return;
      for (const part of ['"type":"text_delta"', '"name":"Bash"', '"type":"input_json_delta"', '"stop_reason":"tool_use"', 'message_stop'])
        expect(text).toContain(part);
    });

    it.skipIf(wire === 'text')('works as Claude Code with an agent that has a tool of the same name', async () => {
      const story = fakes.start(`claude agent ${wire}`, { say: () => ({ calls: [{ name: 'Bash', arguments: { path: 'ls' } }] }) });
      const { path, headers, body, tools } = claudeCode(`agent/shell-${wire}`, story.mark);
      const answer = await service.call('POST', path, body, headers);
      expect([answer.status, answer.headers.get('x-moniker-replaced-tools')], answer.text).toEqual([200, 'builtin.bash=Bash']);
      expect(story.understood[0]?.tools).toEqual(['reckon', ...tools]);
      for (const part of ['"name":"Bash"', '"stop_reason":"tool_use"', 'message_stop']) expect(answer.text).toContain(part);
    });

    it('works as Codex', async () => {
      const calls = [
        { name: 'mcp__git__log', arguments: { path: '.' } },
        { name: 'apply_patch', arguments: { input: '*** Begin Patch' } },
      ];
      const story = startStory('codex', { text: 'I edit.', calls }, 'openai-responses');
      const text = await check(codex(refOf(wire), story.mark), story, 'openai-responses');
      if (wire === 'openai-responses') return;
      const last = text.split('\n').findLast((line) => line.startsWith('data: {')) ?? '';
      const { type, response } = JSON.parse(last.slice(6)) as { type: string; response: OpenAI.Responses.Response };
      expect(type).toBe('response.completed');
      // The provider's opaque data is in between.
      expect(response.output.filter((item) => item.type !== 'reasoning')).toMatchObject([
        { type: 'message' },
        { type: 'function_call', namespace: 'mcp__git', name: 'log', arguments: '{"path":"."}' },
        { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch' },
      ]);
    });

    it('works as a client of Chat Completions', async () => {
      const story = startStory('chat', { text: 'I read.', calls: [{ name: 'read_file', arguments: { path: 'b' } }] }, 'openai');
      const text = await check(chatAgent(refOf(wire), story.mark), story, 'openai');
      if (wire === 'openai') return;
      for (const part of ['"name":"read_file"', '"finish_reason":"tool_calls"', '"prompt_tokens"', 'data: [DONE]'])
        expect(text).toContain(part);
    });
  });

  it('the stand-ins rejected no translated request', () => {
    expect(fakes.refused()).toEqual([]);
  });
});

/** Responds with the same text to every request, since the stand-ins are stricter than what the proxy passes on unread. */
function anything(wire: Wire): Fault {
  const events: Partial<Record<Wire, object[]>> = {
    openai: [
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
      },
    ],
    anthropic: [
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
    'openai-responses': [
      {
        type: 'response.completed',
        response: { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [] },
      },
    ],
  };
  const frames = (events[wire] ?? []).map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return () => Promise.resolve(new Response(`${frames}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } }));
}
