/** Signed calls whose tools have another name than the model used: signed content is returned unchanged, or without its signature. */
import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message } from '../../src/core/model/message.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { ChatRequest } from '../../src/ports/chat-model.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';

/** Called as `cat`; the tool's name is `read_file` in the request. */
const call = {
  type: 'tool-call' as const,
  callId: 'call_1',
  requested: 'read_file',
  said: 'cat',
  canonical: 'local.read',
  via: 'alias' as const,
  arguments: {},
};
const result: Message = {
  role: 'tool',
  parts: [{ type: 'tool-result', callId: 'call_1', requested: 'read_file', canonical: 'local.read', isError: false, content: [] }],
};
const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Read it.' }] };
const standIn = 'skip_thought_signature_validator';

function bodyOf(kind: ProviderAccess['kind'], baseUrl: string, messages: Message[]): unknown {
  const access = { name: 'google', kind, baseUrl, headers: {}, models: [], profile: {} };
  const request: ChatRequest = { access, model: 'gemini-3-flash', messages, tools: [], toolChoice: 'auto', settings: {} };
  return toRequestBody(request);
}

function said(data: unknown, model = 'google/gemini-3-flash'): Message {
  const native: AssistantPart = { type: 'native', provider: 'google', data };
  return { role: 'assistant', model, parts: [call, native] };
}

const wires = [
  {
    name: 'Gemini',
    send: (messages: Message[]) => bodyOf('gemini', 'https://generativelanguage.googleapis.com/v1beta', messages),
    data: { api: 'gemini', of: 'call', thoughtSignature: 'signed' },
    sent: (name: string, signature: string) => ({
      contents: expect.arrayContaining([
        { role: 'model', parts: [{ functionCall: expect.objectContaining({ name }), thoughtSignature: signature }] },
        { role: 'user', parts: expect.arrayContaining([{ functionResponse: expect.objectContaining({ name }) }]) },
      ]),
    }),
  },
  {
    name: 'Chat Completions at Google',
    send: (messages: Message[]) => bodyOf('openai-compatible', 'https://generativelanguage.googleapis.com/v1beta/openai', messages),
    data: { api: 'openai-chat', callExtra: { google: { thought_signature: 'signed' } } },
    sent: (name: string, signature: string) => ({
      messages: expect.arrayContaining([
        expect.objectContaining({
          role: 'assistant',
          tool_calls: [
            expect.objectContaining({
              function: { name, arguments: '{}' },
              extra_content: { google: { thought_signature: signature } },
            }),
          ],
        }),
      ]),
    }),
  },
];

describe.each(wires)('a signed call with a renamed tool, at $name', ({ send, data, sent }) => {
  it('is returned unchanged in its turn, with its signature', () => {
    expect(send([user, said(data), result])).toMatchObject(sent('cat', 'signed'));
  });

  it('gets the current name in later turns, and a placeholder signature', () => {
    expect(send([user, said(data), result, user])).toMatchObject(sent('read_file', standIn));
  });

  it('of another model gets the current name immediately', () => {
    expect(send([user, said(data, 'other/model'), result])).toMatchObject(sent('read_file', standIn));
  });
});
