/** One agent, one toolset and one session over every model API: from the PUT of the provider to the answer and the log. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Say, UnderstoodMessage } from '../fakes/upstreams/upstream.ts';
import {
  apis,
  type FakeProviders,
  keyOf,
  providerOf,
  refOf,
  startFakeProviders,
  type StartedStory,
  type Wire,
  wires,
} from './fake-providers.ts';
import { parseEvents } from './service.ts';
import { fieldsOf, readLog, deltaTexts } from './session-log.ts';
import { shareService } from './shared-service.ts';

const sum = { expression: '6 * 7' };
const note = { path: 'note.txt', content: 'déjà vu – 42' };
const says: Say[] = [
  {
    reasoning: 'A sum, and a note of it.',
    text: 'I look at both.',
    calls: [
      { name: 'reckon', arguments: sum },
      { name: 'save_note', arguments: note },
    ],
  },
  { reasoning: 'Both are done.', text: 'It is 42, and noted.' },
];
const inTwoSteps = { say: (_heard: unknown, index: number): Say => says[index] ?? { text: 'Nothing more.' } };
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const nativeWires = wires.filter((wire) => wire !== 'text');

/** As the stand-ins count them; a turn of two steps has twice as many. */
const usageOf: Readonly<Record<Wire, object>> = {
  openai: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  'openai-responses': { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  anthropic: { inputTokens: 15, outputTokens: 7, cachedInputTokens: 3, cacheWriteInputTokens: 2 },
  gemini: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  cohere: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
  text: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 64, reasoningTokens: 10 },
};

describe('every model API, through the running service', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    const tools = [
      { tool: 'local.calculate', aliases: ['sum_up', 'reckon'] },
      { tool: 'builtin.write_file', aliases: ['save_note'] },
    ];
    await make('/v1/toolsets/desk', { tools });
    const common = { toolset: 'desk', instructions: 'Be brief.' };
    for (const wire of wires) await make(`/v1/agents/${wire}`, { ...common, model: refOf(wire), settings: { reasoningEffort: 'medium' } });
  });
  afterAll(() => fakes.close());

  const make = async (path: string, body: object): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBe(201);
  };
  const begin = async (body: object): Promise<string> => {
    const { status, text, json } = await service.call('POST', '/v1/sessions', body);
    expect(status, text).toBe(201);
    return json.id;
  };
  const turn = async (session: string, input: unknown) => {
    const { status, text, json } = await service.call('POST', `/v1/sessions/${session}/turns`, { input });
    expect(status, text).toBe(200);
    expect(json.status, text).toBe('completed');
    return json;
  };

  describe.concurrent.each(wires)('%s', (wire) => {
    it('runs a turn (reasoning, text, two parallel calls by alias, their results, the answer) and logs all of it', async () => {
      const story = fakes.start(`turn of ${wire}`, inTwoSteps);
      const session = await begin({ agent: wire });
      const input = `Sum up. ${story.mark}`;
      const { status, text } = await service.call('POST', `/v1/sessions/${session}/turns`, { input }, { accept: 'text/event-stream' });
      expect(status, text).toBe(200);
      const events = parseEvents(text);
      expect(events.at(-1)).toMatchObject({ type: 'turn-end', data: { status: 'completed', reason: 'stop' } });
      expect(deltaTexts(events, 'reasoning-delta')).toEqual(says.map(({ reasoning }) => reasoning));
      expect(deltaTexts(events, 'text-delta')).toEqual(says.map((say) => say.text));
      expect(fieldsOf(events, 'tool-input-start', 'name')).toEqual(['reckon', 'save_note']);
      expect(fieldsOf(events, 'tool-input-start', 'canonical')).toEqual(['local.calculate', 'builtin.write_file']);
      expect(fieldsOf(events, 'tool-input-start', 'via')).toEqual(['alias', 'wire']);
      expect(fieldsOf(events, 'tool-input-end', 'arguments')).toEqual([sum, note]);
      expect(fieldsOf(events, 'tool-result', 'isError')).toEqual([false, false]);
      const usage = usageOf[wire];
      expect(fieldsOf(events, 'usage', 'usage')).toEqual([usage, usage]);
      expect(events.at(-1)?.data.usage).toEqual(Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, 2 * count])));

      expect(await readLog(service, session)).toEqual(events);
      const { json } = await service.call('GET', `/v1/sessions/${session}/messages`);
      const parts = json.items.flatMap(({ role, parts }: { role: string; parts: { type: string }[] }) =>
        parts.map(({ type }) => [role, type]),
      );
      expect(parts).toEqual([
        ['user', 'text'],
        ...['reasoning', 'text', 'tool-call', 'tool-call'].map((type) => ['assistant', type]),
        ['tool', 'tool-result'],
        ['tool', 'tool-result'],
        ...['reasoning', 'text'].map((type) => ['assistant', type]),
      ]);
      expect((await service.call('GET', `/v1/sessions/${session}/files/workspace/note.txt`)).text).toBe(note.content);
      checkSecondStep(wire, story);
      checkHeaders(wire, story);
      expect(fakes.refused()).toEqual([]);
    });

    it('receives an image of the input', async () => {
      const story = fakes.start(`image for ${wire}`, { say: () => ({ text: 'A dot.' }) });
      const seeing = wire === 'cohere' ? 'command-a-vision-07-2025' : apis[wire].model;
      const session = await begin({ model: `${providerOf(wire)}/${seeing}` });
      const image = { type: 'image', mediaType: 'image/png', data: pixel };
      expect((await turn(session, [{ type: 'text', text: `What is it? ${story.mark}` }, image])).text).toBe('A dot.');
      expect(story.understood[0]?.messages).toEqual([{ role: 'user', text: `What is it? ${story.mark}`, images: 1 }]);
      expect(story.heard[0]?.text).toContain(pixel);
    });

    it("receives the agent's settings in its own fields", async () => {
      const story = fakes.start(`settings for ${wire}`, { say: () => ({ text: 'Fine.' }) });
      const { plainModel, sampling, effort } = settingsOf[wire];
      const common = { instructions: 'Be brief.' };
      await make(`/v1/agents/${wire}-cool`, {
        ...common,
        model: `${providerOf(wire)}/${plainModel}`,
        settings: { temperature: 0.3, maxOutputTokens: 300 },
      });
      await make(`/v1/agents/${wire}-hard`, { ...common, model: refOf(wire), settings: { reasoningEffort: 'low' } });
      for (const agent of [`${wire}-cool`, `${wire}-hard`]) await turn(await begin({ agent }), `Hello. ${story.mark}`);
      expect(story.heard.map(({ text }) => JSON.parse(text))).toMatchObject([sampling, effort]);
      expect(story.understood.map(({ system }) => system)).toEqual(['Be brief.', 'Be brief.']);
    });

    it('lists the tools of a toolset as the provider receives them, by its kind and by its name', async () => {
      const story = fakes.start(`tools of ${wire}`, { say: () => ({ text: 'Fine.' }) });
      await turn(await begin({ agent: wire }), `Hello. ${story.mark}`);
      const sent = story.heard[0]?.text ?? '';
      for (const provider of [wire === 'text' ? 'text' : apis[wire].kind, providerOf(wire)]) {
        const { status, text, json } = await service.call('GET', `/v1/toolsets/desk/tools?provider=${provider}`);
        expect(status, text).toBe(200);
        expect(json.tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual(['sum_up', 'save_note']);
        if (wire === 'text') expect(sent).toContain(JSON.stringify(json.prompt).slice(1, -1));
        else for (const { definition } of json.tools) expect(sent).toContain(JSON.stringify(definition));
      }
    });
  });

  it.concurrent.each(nativeWires)('%s lists tools in the prompt where the agent uses the text protocol', async (wire) => {
    const call = '<tool_call>{"name": "reckon", "arguments": {"expression": "6 * 7"}}</tool_call>';
    const story = fakes.start(`${wire} in words`, { say: (_heard, index) => ({ text: index === 0 ? `I look.\n${call}` : 'It is 42.' }) });
    await make(`/v1/agents/${wire}-words`, { model: refOf(wire), toolset: 'desk', protocol: 'text' });
    const answer = await turn(await begin({ agent: `${wire}-words` }), `Sum up. ${story.mark}`);
    expect(answer).toMatchObject({ text: 'It is 42.', toolCalls: [{ requested: 'reckon', canonical: 'local.calculate', isError: false }] });
    expect(story.understood.map(({ tools }) => tools)).toEqual([[], []]);
    expect(story.understood[0]?.system).toContain('"name":"sum_up"');
    expect(story.understood[1]?.messages.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringMatching(/<tool_response>.*42.*<\/tool_response>/),
    });
  });

  it('continues with every other model in one session, turn by turn, through /v1/chat/completions', async () => {
    const order: Wire[] = ['gemini', 'text', 'anthropic', 'cohere', 'openai-responses', 'openai', 'gemini', 'anthropic'];
    let session = 'new';
    const marks: string[] = [];
    for (const [at, wire] of order.entries()) {
      const story = fakes.start(`turn ${at} by ${wire}`, inTwoSteps);
      // Each turn's text holds only its own mark; the history holds the others', and the last one counts.
      marks.push(story.mark);
      const headers = { 'x-moniker-session': session, 'x-moniker-toolset': 'desk' };
      const body = { model: refOf(wire), messages: [{ role: 'user', content: `Turn ${at}. ${story.mark}` }] };
      const answer = await service.call('POST', '/v1/chat/completions', body, headers);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json.choices[0].message.content).toBe(says.map(({ text }) => text).join('\n\n'));
      session = answer.headers.get('x-moniker-session') ?? '';
      const heard = story.understood.at(-1)?.messages ?? [];
      const words = heard.flatMap((message) => (message.role === 'user' ? [message.text] : []));
      for (const mark of marks) expect(words.filter((text) => text.includes(mark))).toHaveLength(1);
      const whole = JSON.stringify(heard);
      expect(whole.split('It is 42, and noted.').length - 1).toBe(at);
      expect(whole.split('6 * 7').length - 1).toBeGreaterThan(at);
    }
    expect(fakes.refused()).toEqual([]);
    const models = fieldsOf(await readLog(service, session, order.length), 'step-end', 'model');
    expect(models).toEqual(order.flatMap((wire) => [refOf(wire), refOf(wire)]));
  });
});

/** The results in order, at the calls as the model made them, with its opaque data. */
function checkSecondStep(wire: Wire, { understood }: StartedStory): void {
  const [first, second] = understood;
  expect(first?.model).toBe(apis[wire].model);
  expect(first?.streamed).toBe(true);
  expect(first?.system.startsWith('Be brief.')).toBe(true);
  const messages = second?.messages ?? [];
  if (wire === 'text') {
    expect(first?.system).toContain('"name":"sum_up"');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    return;
  }
  expect(first?.tools).toEqual(['sum_up', 'save_note']);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  const [, said, results] = messages as [UnderstoodMessage, UnderstoodMessage, UnderstoodMessage];
  if (said.role !== 'assistant' || results.role !== 'tool') throw new Error('unexpected roles');
  expect(said.calls.map((call) => call.arguments)).toEqual([sum, note]);
  expect(results.results.map(({ id }) => id)).toEqual(said.calls.map(({ id }) => id));
  expect(results.results.map(({ text }) => text)).toEqual([expect.stringContaining('42'), expect.stringContaining('note.txt')]);
  // Chat Completions accepts only its text.
  expect(said.returned.length > 0).toBe(wire !== 'openai');
}

/** Its own credential once, and nothing of the caller's. */
function checkHeaders(wire: Wire, { heard }: StartedStory): void {
  const [name, toValue] = apis[wire].credential;
  // `x-moniker-hop` prevents loops.
  const usual = ['accept', 'content-length', 'content-type', 'host', 'x-moniker-hop'];
  const expected = [...usual, name, ...(wire === 'anthropic' ? ['anthropic-version'] : [])].sort();
  for (const { headers } of heard) {
    expect([...headers.keys()].sort()).toEqual(expected);
    expect(headers.get(name)).toBe(toValue(keyOf(wire)));
  }
}

/** `plainModel` does not reason. */
const settingsOf: Readonly<Record<Wire, { plainModel: string; sampling: object; effort: object }>> = {
  openai: {
    plainModel: 'gpt-4o',
    sampling: { temperature: 0.3, max_completion_tokens: 300 },
    effort: { reasoning_effort: 'low' },
  },
  'openai-responses': {
    plainModel: 'gpt-4o',
    sampling: { temperature: 0.3, max_output_tokens: 300 },
    effort: { reasoning: { effort: 'low' } },
  },
  anthropic: {
    plainModel: 'claude-3-5-haiku-latest',
    sampling: { temperature: 0.3, max_tokens: 300 },
    effort: { thinking: { type: 'enabled', budget_tokens: 2048 } },
  },
  gemini: {
    plainModel: 'gemini-2.0-flash',
    sampling: { generationConfig: { temperature: 0.3, maxOutputTokens: 300 } },
    effort: { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } } },
  },
  cohere: {
    plainModel: 'command-r-08-2024',
    sampling: { temperature: 0.3, max_tokens: 300 },
    effort: { thinking: { type: 'enabled' } },
  },
  text: {
    plainModel: 'hermes-2',
    sampling: { temperature: 0.3, max_tokens: 300 },
    effort: { reasoning_effort: 'low' },
  },
};
