import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/model/message.ts';
import { createDropped } from '../../../src/core/model/dropped.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import { readMessagesRequest } from '../../../src/dialects/anthropic/request.ts';
import { readChatRequest } from '../../../src/dialects/openai-chat/request.ts';
import { readResponsesRequest } from '../../../src/dialects/openai-responses/request.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { access } from '../replies.ts';

const data = 'JVBERi0xLjQK';
const url = 'https://files.example/a.pdf';
const to = (kind: ProviderAccess['kind'], model: string) => ({ access: { ...access, kind }, model });
const anthropic = to('anthropic', 'claude-sonnet-4-5');
const chat = to('openai', 'gpt-5');
const responses = to('openai-responses', 'gpt-5');
const gemini = to('gemini', 'gemini-2.5-pro');
const textModel = to('openai-compatible', 'some-model');

function sent(target: ReturnType<typeof to>, messages: readonly Message[]) {
  const dropped = createDropped();
  const body = toRequestBody({ ...target, messages, tools: [], toolChoice: 'auto', settings: {}, dropped });
  return { text: JSON.stringify(body.messages ?? body.input ?? body.contents), dropped: dropped.items().map(({ name }) => name) };
}

const read = {
  chat: (content: unknown) => readChatRequest({ model: 'a/b', messages: [{ role: 'user', content }] }),
  messages: (content: unknown) => readMessagesRequest({ model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content }] }),
  responses: (content: unknown) => readResponsesRequest({ model: 'a/b', input: [{ role: 'user', content }] }),
};
const dataUrl = `data:application/pdf;base64,${data}`;
const files: [string, () => ReturnType<typeof read.chat>][] = [
  ['Chat Completions', () => read.chat([{ type: 'file', file: { filename: 'a.pdf', file_data: dataUrl } }])],
  ['Responses', () => read.responses([{ type: 'input_file', filename: 'a.pdf', file_data: dataUrl }])],
  [
    'Messages',
    () => read.messages([{ type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data } }]),
  ],
];

describe.each(files)('a PDF of %s', (_, request) => {
  const { history } = request().conversation({ whole: true });

  it.each([
    ['Messages', anthropic, { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, title: 'a.pdf' }],
    ['Chat Completions', chat, { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl } }],
    ['Responses', responses, { type: 'input_file', filename: 'a.pdf', file_data: dataUrl }],
    ['Gemini', gemini, { inlineData: { mimeType: 'application/pdf', data } }],
  ])('is a part of %s', (_wire, target, part) => {
    const { text, dropped } = sent(target, history);
    expect(text).toContain(JSON.stringify(part).slice(1, -1));
    expect(dropped).toEqual([]);
  });

  it('is a line of text for a model that does not read it, and named', () => {
    const { text, dropped } = sent(textModel, history);
    expect([text.includes('[file: application/pdf]'), text.includes(data), dropped]).toEqual([true, false, ['application/pdf']]);
  });
});

describe('a file', () => {
  it('by URL is a link where the API fetches it', () => {
    const { history } = read.messages([{ type: 'document', source: { type: 'url', url } }]).conversation({ whole: true });
    expect(sent(anthropic, history).text).toContain(`{"type":"document","source":{"type":"url","url":"${url}"}}`);
    expect(sent(responses, history).text).toContain(`{"type":"input_file","file_url":"${url}"}`);
    expect(sent(gemini, history).text).toContain(`{"fileData":{"mimeType":"application/pdf","fileUri":"${url}"}}`);
    expect(sent(chat, history)).toEqual({ text: expect.stringContaining(`[file: ${url}]`), dropped: ['application/pdf'] });
  });

  it('of sound goes to models that hear', () => {
    const { history } = read.chat([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }]).conversation({ whole: true });
    expect(sent(gemini, history).text).toContain('{"inlineData":{"mimeType":"audio/mpeg","data":"AAAA"}}');
    expect(sent(to('openai', 'gpt-4o-audio-preview'), history).text).toContain('"input_audio":{"data":"AAAA","format":"mp3"}');
    expect(sent(responses, history)).toEqual({ text: expect.stringContaining('[file: audio/mpeg]'), dropped: ['audio/mpeg'] });
  });

  it('of text is text for every model, and a document with citations where they are asked for', () => {
    const file = { filename: 'a.csv', file_data: 'data:text/csv;base64,YSxiCjEsMg==' };
    const { history } = read.chat([{ type: 'file', file }]).conversation({ whole: true });
    for (const target of [textModel, anthropic, chat, responses, gemini]) expect(sent(target, history).text).toContain('a.csv\\na,b\\n1,2');
    const cited = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'abc' },
      title: 't',
      context: 'c',
      citations: { enabled: true },
    };
    const asked = read.messages([cited]).conversation({ whole: true }).history;
    expect(sent(anthropic, asked).text).toContain(JSON.stringify(cited));
    expect(sent(chat, asked).text).toContain('t\\nc\\nabc');
  });
});

describe('a tool result', () => {
  const result = (content: Extract<Message, { role: 'tool' }>['parts'][number]['content']): Message[] => [
    { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', parts: [{ type: 'tool-call', callId: 'c1', requested: 'read', canonical: null, via: null, arguments: {} }] },
    { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', requested: 'read', canonical: null, isError: false, content }] },
  ];
  const pdf = result([{ type: 'resource', resource: { uri: 'file:///docs/a.pdf', mimeType: 'application/pdf', blob: data } }]);

  it.each([
    ['Messages', anthropic, '"source":{"type":"base64","media_type":"application/pdf"'],
    ['Chat Completions', chat, '"file":{"filename":"a.pdf","file_data":"data:application/pdf'],
    ['Responses', responses, '"output":[{"type":"input_file","filename":"a.pdf"'],
    ['Gemini', gemini, '{"inlineData":{"mimeType":"application/pdf"'],
  ])('with a PDF reaches a model of %s', (_, target, part) => {
    expect(sent(target, pdf).text).toContain(part);
  });

  it('with a file that the model does not take is a note in the result', () => {
    const sound = result([{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }]);
    for (const target of [anthropic, responses, textModel, chat])
      expect(sent(target, sound)).toEqual({ text: expect.stringContaining('[file: audio/wav]'), dropped: ['audio/wav'] });
    const archive = result([{ type: 'resource', resource: { uri: 'file:///a.zip', mimeType: 'application/zip', blob: 'AAAA' } }]);
    expect(sent(anthropic, archive)).toEqual({
      text: expect.stringContaining('a.zip\\n[file: application/zip]'),
      dropped: ['application/zip'],
    });
  });
});
