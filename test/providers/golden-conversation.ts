/**
 * One conversation with everything that a request mapping must handle: system text, an image, reasoning, two parallel calls, their results
 * in call order (one a failure, one with an image), and a follow-up. Each API has one expected body for it.
 */
import type { AssistantPart, Message } from '../../src/core/model/message.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { ChatRequest, OfferedTool } from '../../src/ports/chat-model.ts';

export const goldenTools: OfferedTool[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Its name.' }, unit: { enum: ['C', 'F'] } },
      required: ['city'],
      additionalProperties: false,
    },
  },
  { name: 'list_files', description: 'What files there are.', inputSchema: { type: 'object' } },
];

/**
 * `own`: native parts of the tested provider, after the reasoning part, after the text, or after the call, by position in the reply.
 * Without `model` the author of the message is unknown.
 */
export function goldenConversation(
  own: { model?: string; reasoning?: AssistantPart[]; text?: AssistantPart[]; firstCall?: AssistantPart[]; end?: AssistantPart[] } = {},
): Message[] {
  return [
    { role: 'system', parts: [{ type: 'text', text: 'You are brief.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'What is the weather where this was taken?' },
        { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
    },
    {
      role: 'assistant',
      ...(own.model !== undefined && { model: own.model }),
      parts: [
        { type: 'reasoning', text: 'That is Paris. I look it up.' },
        ...(own.reasoning ?? []),
        { type: 'text', text: 'Let me look.' },
        ...(own.text ?? []),
        {
          type: 'tool-call',
          callId: 'call_01first',
          requested: 'get_weather',
          canonical: 'local.weather',
          via: 'wire',
          arguments: { city: 'Paris' },
        },
        ...(own.firstCall ?? []),
        { type: 'tool-call', callId: 'call_02second', requested: 'list_files', canonical: 'builtin.list', via: 'wire', arguments: {} },
        ...(own.end ?? []),
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'call_01first',
          requested: 'get_weather',
          canonical: 'local.weather',
          isError: false,
          content: [
            { type: 'text', text: '18 °C, "fair" & <dry>' },
            { type: 'image', data: 'R0lGODlhAQABAAAAACw=', mimeType: 'image/gif' },
          ],
        },
        {
          type: 'tool-result',
          callId: 'call_02second',
          requested: 'list_files',
          canonical: 'builtin.list',
          isError: true,
          code: 'tool_error',
          content: [{ type: 'text', text: 'The disk is gone.' }],
        },
      ],
    },
    { role: 'assistant', ...(own.model !== undefined && { model: own.model }), parts: [{ type: 'text', text: '18 °C and fair.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'And tomorrow?' }] },
  ];
}

export function goldenRequest(access: Partial<ProviderAccess>, fields: Partial<ChatRequest> = {}): ChatRequest {
  return {
    access: { name: 'golden', kind: 'openai', baseUrl: 'https://golden.example/v1', headers: {}, models: [], profile: {}, ...access },
    model: 'golden-1',
    messages: goldenConversation(),
    tools: goldenTools,
    toolChoice: 'auto',
    settings: { temperature: 0.5, topP: 0.9, maxOutputTokens: 500, stop: ['END'] },
    ...fields,
  };
}
