import { describe, expect, it } from 'vitest';
import { ChatCompletionRequest, toConversation, toSettings } from '../../src/dialects/openai-chat-request.ts';

const request = (fields: Record<string, unknown>) =>
  ChatCompletionRequest.parse({ model: 'rehearsal/default', messages: [{ role: 'user', content: 'hi' }], ...fields });

describe('a chat request', () => {
  it('lets fields pass that it does not know', () => {
    expect(request({ store: true, metadata: { a: 1 }, service_tier: 'auto' })).toMatchObject({ store: true, metadata: { a: 1 } });
  });

  it.each([
    [{ messages: [] }, ['messages']],
    [{ messages: [{ role: 'robot', content: 'x' }] }, ['messages', 0, 'role']],
    [{ messages: [{ role: 'user' }] }, ['messages', 0, 'content']],
    [{ messages: [{ role: 'tool', content: 'x' }] }, ['messages', 0, 'tool_call_id']],
    [{ temperature: 99 }, ['temperature']],
    [{ model: 7 }, ['model']],
    [{ stream: 'yes' }, ['stream']],
    [{ max_tokens: 0 }, ['max_tokens']],
    [{ tools: [{ type: 'function', function: {} }] }, ['tools', 0, 'function', 'name']],
  ])('names the fault of %j by its path', (fields, path) => {
    const result = ChatCompletionRequest.safeParse({ model: 'a/b', messages: [{ role: 'user', content: 'hi' }], ...fields });
    expect(result.error?.issues.map((issue) => issue.path)).toContainEqual(path);
  });

  it('becomes neutral messages, with the system text apart', () => {
    const { system, messages } = toConversation(
      request({
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
              { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
              { id: 'c2', type: 'function', function: { name: 'shell', arguments: '{"comm' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
          { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'bad' }] },
          { role: 'assistant', content: 'One file.' },
          { role: 'user', content: 'Thanks' },
        ],
      }),
    );
    expect(system).toBe('Be kind.\n\nBe brief.');
    expect(messages).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'See' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'image', url: 'https://a.example/b.png' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', callId: 'c1', requested: 'shell', canonical: null, via: null, nativeId: 'c1', arguments: { command: 'ls' } },
          {
            type: 'tool-call',
            callId: 'c2',
            requested: 'shell',
            canonical: null,
            via: null,
            nativeId: 'c2',
            arguments: null,
            raw: '{"comm',
          },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'c1',
            requested: 'shell',
            canonical: null,
            isError: false,
            content: [{ type: 'text', text: 'a.txt' }],
          },
          {
            type: 'tool-result',
            callId: 'c2',
            requested: 'shell',
            canonical: null,
            isError: false,
            content: [{ type: 'text', text: 'bad' }],
          },
        ],
      },
      { role: 'assistant', parts: [{ type: 'text', text: 'One file.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Thanks' }] },
    ]);
  });

  it('refuses what a turn cannot take, each at its path', () => {
    const bad = request({
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] },
        { role: 'tool', tool_call_id: 'nobody', content: 'x' },
        { role: 'function', name: 'f', content: 'x' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,no base64' } }] },
      ],
    });
    expect(() => toConversation(bad)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        extra: {
          issues: [
            'messages[0].content[0].type',
            'messages[1].tool_call_id',
            'messages[2].role',
            'messages[3].tool_calls[0]',
            'messages[4].content[0].image_url',
          ].map((path) => expect.objectContaining({ path })),
        },
      }),
    );
  });

  it('gives its settings in neutral words', () => {
    expect(
      toSettings(
        request({
          temperature: 0,
          top_p: 0.5,
          max_tokens: 5,
          max_completion_tokens: 9,
          stop: 'x',
          seed: 1,
          frequency_penalty: 0.5,
          presence_penalty: -0.5,
          reasoning_effort: 'low',
          parallel_tool_calls: false,
          response_format: { type: 'json_object' },
          tool_choice: { type: 'function', function: { name: 'shell' } },
        }),
      ),
    ).toEqual({
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 9,
      stop: ['x'],
      seed: 1,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
      reasoningEffort: 'low',
      parallelToolCalls: false,
      responseFormat: { type: 'json_object' },
      toolChoice: { tool: 'shell' },
    });
    expect(toSettings(request({ temperature: null, response_format: { type: 'text' } }))).toEqual({});
  });
});
