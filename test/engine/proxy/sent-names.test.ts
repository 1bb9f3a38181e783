/** Names of a client's tools that some provider would refuse. */
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { withSentNames } from '../../../src/engine/proxy/sent-names.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';

const long = 'mcp__plugin_content-strategist_youtube-analytics__get_video_enhanced_transcript';
const access = { name: 'a', kind: 'openai' as const, baseUrl: 'https://a.example', headers: {}, models: [], profile: {} };
const offered = (name: string) => ({ name, description: '', inputSchema: { type: 'object' } });
const call = { type: 'tool-call' as const, callId: 'c', requested: long, canonical: null, via: null, arguments: {} };
const result = { type: 'tool-result' as const, callId: 'c', requested: long, canonical: null, isError: false, content: [] };
const request: ChatRequest = {
  ...{ access, model: 'm', settings: {}, toolChoice: { tool: long } },
  tools: [offered('plain'), offered(long), offered('3d_render')],
  messages: [
    { role: 'assistant', parts: [call] },
    { role: 'tool', parts: [result] },
  ],
};

it('are sent in a legal form everywhere, and the client sees its own in the calls', async () => {
  const { request: sent, shown } = withSentNames(request);
  const [plain, second = '', third = ''] = sent.tools.map(({ name }) => name);
  expect(plain).toBe('plain');
  for (const name of [second, third]) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  expect(sent.toolChoice).toEqual({ tool: second });
  expect(sent.messages.flatMap(({ parts }) => parts.map((part) => 'requested' in part && part.requested))).toEqual([second, second]);

  const start = (name: string): ChatEvent => ({ type: 'call-start', call: 0, name, nativeId: null });
  async function* replied() {
    yield [start(second), start(third), start('plain'), start('other')];
  }
  const names: string[] = [];
  for await (const batch of shown(replied())) for (const event of batch) if (event.type === 'call-start') names.push(event.name);
  expect(names).toEqual([long, '3d_render', 'plain', 'other']);
});

it('change nothing if all are legal', () => {
  const given = { ...request, tools: [offered('plain')] };
  expect(withSentNames(given).request).toBe(given);
});
