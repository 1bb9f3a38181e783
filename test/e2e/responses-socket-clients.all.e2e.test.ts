/**
 * A stock client of the WebSocket mode of Responses, the OpenAI Agents SDK: it runs its own tools in a loop over the wires of other
 * providers. Another client of it is in `codex.all.e2e.test.ts`.
 */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Understood } from '../fakes/upstreams/upstream.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
const wires = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] satisfies Wire[];
let fakes: FakeProviders;

beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
});
afterAll(() => fakes.close());

const resultsOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
const returnedOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'assistant' ? message.returned : []));

describe('the OpenAI Agents SDK', () => {
  const weather = tool({
    name: 'get_weather',
    description: 'Returns the weather of a city.',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `Rain in ${city}.`,
  });
  /** Nothing listens at the address of HTTP: only the WebSocket is used. */
  const provider = () =>
    new OpenAIProvider({
      ...{ apiKey: service.key, baseURL: 'http://127.0.0.1:9/v1', websocketBaseURL: `${service.url.replace('http', 'ws')}/v1` },
      ...{ useResponses: true, useResponsesWebSocket: true },
    });

  it.each(wires)('calls its own tools and continues over %s', async (wire) => {
    const story = fakes.start(`agents ${wire}`, {
      say: (heard) => {
        const [first, second] = resultsOf(heard);
        if (first === undefined)
          return {
            reasoning: 'Both.',
            text: 'I look.',
            calls: ['Oslo', 'Rome'].map((city) => ({ name: 'get_weather', arguments: { city } })),
          };
        return { text: heard.messages.at(-1)?.role === 'tool' ? `${first.text} ${second?.text}` : 'You are welcome.' };
      },
    });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model: refOf(wire), tools: [weather] });
      const first = await runner.run(agent, `How is it? ${story.mark}`);
      expect(first.finalOutput).toBe('Rain in Oslo. Rain in Rome.');
      const second = await runner.run(agent, [...first.history, { role: 'user', content: 'Thanks.' }], { stream: true });
      await second.completed;
      expect(second.finalOutput).toBe('You are welcome.');
      expect(story.understood.map(({ tools, system }) => [tools, system])).toEqual(Array(3).fill([['get_weather'], 'Be brief.']));
      if (wire !== 'openai') expect(returnedOf(story.understood[2] as Understood).length).toBeGreaterThan(0);
    } finally {
      await modelProvider.close();
    }
  });

  it('continues from the connection by the id of the response, with store: false', async () => {
    const story = fakes.start('agents continued', { say: (_heard, index) => ({ text: index === 0 ? 'One.' : 'Two.' }) });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const agent = new Agent({ name: 'Counter', model: refOf('anthropic'), modelSettings: { store: false } });
      const { lastResponseId } = await runner.run(agent, `Count. ${story.mark}`);
      const second = await runner.run(agent, 'On.', { previousResponseId: lastResponseId as string });
      expect(second.finalOutput).toBe('Two.');
      expect(story.understood[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    } finally {
      await modelProvider.close();
    }
  });

  it('ends a run with an error if a message is refused, and answers the next run', async () => {
    const story = fakes.start('agents refused', { say: () => ({ text: 'Here.' }) });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      await expect(runner.run(new Agent({ name: 'Lost', model: 'nowhere/m' }), 'x')).rejects.toThrow('terminal state "error"');
      const { finalOutput } = await runner.run(new Agent({ name: 'Found', model: refOf('anthropic') }), story.mark);
      expect(finalOutput).toBe('Here.');
    } finally {
      await modelProvider.close();
    }
  });
});
