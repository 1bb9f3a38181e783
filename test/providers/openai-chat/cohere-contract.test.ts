/** Chat Completions, Cohere and Ollama satisfy the contract of every chat model, and complete a tool loop with the strict fake servers. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { rehearsalHttp } from '../../../src/providers/rehearsal/rehearsal.ts';
import { chatModelContract, collect } from '../../contracts/chat-model.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeCohere } from '../../fakes/upstreams/cohere.ts';
import { fakeOllama } from '../../fakes/upstreams/ollama.ts';
import { fakeOpenAi } from '../../fakes/upstreams/openai.ts';
import type { FakeUpstream, Script } from '../../fakes/upstreams/upstream.ts';
import { goldenConversation, goldenTools } from '../golden-conversation.ts';
import { partsOf } from '../said-parts.ts';

type Upstream = { name: string; access: ProviderAccess; model: string; create(script: Script): FakeUpstream };

const access = (kind: ProviderAccess['kind'], baseUrl: string): ProviderAccess => ({
  name: 'acme',
  kind,
  baseUrl,
  headers: { authorization: 'Bearer test' },
  models: [],
  profile: {},
});
const upstreams: Upstream[] = [
  { name: 'openai', access: access('openai', 'https://api.openai.com/v1'), model: 'gpt-4o', create: (script) => fakeOpenAi(script) },
  {
    name: 'deepseek',
    access: access('openai-compatible', 'https://api.deepseek.com'),
    model: 'deepseek-v4-flash',
    create: (script) => fakeOpenAi(script, { wantsReasoning: true }),
  },
  { name: 'cohere', access: access('cohere', 'https://api.cohere.com/v2'), model: 'command-a-03-2025', create: fakeCohere },
  {
    name: 'cohere, thinking',
    access: access('cohere', 'https://api.cohere.com/v2'),
    model: 'command-a-reasoning-08-2025',
    create: fakeCohere,
  },
  { name: 'ollama', access: access('ollama', 'http://127.0.0.1:11434'), model: 'qwen3:8b', create: fakeOllama },
];

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const calls = [
  { name: 'get_weather', arguments: { city: 'Paris' } },
  { name: 'list_files', arguments: {} },
];
const script: Script = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === 'user' && last.text === 'calls') return { reasoning: 'I look both up.', calls };
  return { reasoning: 'Easy.', text: 'Hello there.' };
};

for (const { name, access: place, model, create } of upstreams) {
  const request = (messages: Message[], fields: Partial<ChatRequest> = {}): ChatRequest => ({
    access: place,
    model,
    messages,
    tools: goldenTools,
    toolChoice: 'auto',
    settings: { reasoningEffort: 'low', temperature: 0.3, maxOutputTokens: 100 },
    ...fields,
  });
  const over = (upstream: FakeUpstream) => {
    const http: OutboundHttp = (sent) => upstream.handle(sent);
    return createChatModel({ http, clock: fakeClock(), rehearsal: rehearsalHttp });
  };

  chatModelContract(name, () => ({
    model: over(create(script)),
    text: request([user('hi')]),
    twoCalls: request([user('calls')]),
    refused: request([user('hi')], place.kind === 'ollama' ? { model: 'missing' } : { access: { ...place, headers: {} } }),
  }));

  describe(`a tool loop over ${name}`, () => {
    it('succeeds, and returns what is required', async () => {
      const upstream = create(script);
      const events = await collect(over(upstream), request([user('calls')]));
      const parts = partsOf(events);
      const results: Message = {
        role: 'tool',
        parts: [0, 1].map((index) => ({
          type: 'tool-result',
          callId: `call_${index}`,
          requested: 'any',
          canonical: 'any',
          isError: false,
          content: [{ type: 'text', text: `result ${index}` }],
        })),
      };
      const said: Message = { role: 'assistant', model: `acme/${model}`, parts };
      const last = await collect(over(upstream), request([user('calls'), said, results]));
      expect(last.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
      expect(upstream.refused).toEqual([]);
      const [, assistant, tool] = upstream.understood[1]?.messages ?? [];
      expect(assistant).toMatchObject({ role: 'assistant', calls, returned: name === 'openai' ? [] : ['I look both up.'] });
      expect(tool).toMatchObject({ results: [{ text: 'result 0' }, { text: 'result 1' }] });
    });

    it('accepts a conversation of an unknown and of another provider', async () => {
      const upstream = create(script);
      for (const messages of [goldenConversation(), goldenConversation({ model: 'other/model' })])
        await collect(over(upstream), request(messages));
      expect(upstream.refused).toEqual([]);
      expect(upstream.understood).toHaveLength(2);
    });
  });
}
