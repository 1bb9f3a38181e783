/**
 * Images that models make, in translated replies: the stock client of every dialect receives them in the form that its users expect. The replies
 * are written in the shapes of Gemini (`inlineData`), OpenRouter (`images` of Chat Completions) and OpenAI (`image_generation_call`).
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { gemini, openai, type Participant, responses } from '../switching-speakers.ts';
import { translatedFetch } from './translated-fetch.ts';

const data = 'aGVsbG8=';
const url = `data:image/png;base64,${data}`;
const image = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'png', result: data };
const message = {
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Here.', annotations: [] }],
};
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  created: 1,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const sse = (events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

const replies: [string, Participant, string][] = [
  [
    'Gemini',
    gemini,
    sse([
      { candidates: [{ index: 0, content: { parts: [{ text: 'Here.' }] } }] },
      {
        candidates: [{ index: 0, content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
      },
    ]),
  ],
  [
    'OpenRouter',
    openai,
    sse([chunk({ content: 'Here.' }), chunk({ images: [{ type: 'image_url', index: 0, image_url: { url } }] }), chunk({}, 'stop')]),
  ],
  [
    'Responses',
    responses,
    sse([
      { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.output_item.done', output_index: 1, item: image },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [message, image] } },
    ]),
  ],
];

describe.each(replies)('an image of %s', (_name, participant, reply) => {
  const options = { apiKey: 'unused', maxRetries: 0, fetch: translatedFetch(participant, reply) };
  const user = { role: 'user' as const, content: 'Draw.' };

  it('is in `images` of Chat Completions', async () => {
    let said = '';
    const images: unknown[] = [];
    for await (const { choices } of await new OpenAI(options).chat.completions.create({ model: 'x/m', messages: [user], stream: true })) {
      said += choices[0]?.delta.content ?? '';
      images.push(...((choices[0]?.delta as { images?: unknown[] } | undefined)?.images ?? []));
    }
    expect([said, images]).toEqual(['Here.', [{ type: 'image_url', index: 0, image_url: { url } }]]);
  });

  it('is an item of Responses, which the client may resend', async () => {
    const client = new OpenAI(options);
    const { output } = await client.responses.stream({ model: 'x/m', input: 'Draw.' }).finalResponse();
    const [made] = output.filter(({ type }) => type === 'image_generation_call');
    expect(made).toMatchObject({ status: 'completed', result: data });
    const input = [user, ...output.filter(({ type }) => type !== 'reasoning'), user] as OpenAI.Responses.ResponseInput;
    expect((await client.responses.stream({ model: 'x/m', input }).finalResponse()).status).toBe('completed');
  });

  it('is a note in Messages, which have no images in answers', async () => {
    const { content } = await new Anthropic(options).messages.stream({ model: 'x/m', max_tokens: 100, messages: [user] }).finalMessage();
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    expect(texts).toEqual(['Here.', '[image: image/png]']);
  });
});

it('is a note if its type is no image type', async () => {
  const odd = sse([
    { candidates: [{ index: 0, content: { parts: [{ inlineData: { mimeType: 'image/<b>', data } }] }, finishReason: 'STOP' }] },
  ]);
  const client = new OpenAI({ apiKey: 'unused', maxRetries: 0, fetch: translatedFetch(gemini, odd) });
  let said = '';
  const asked = { model: 'x/m', messages: [{ role: 'user' as const, content: 'Draw.' }], stream: true as const };
  for await (const { choices } of await client.chat.completions.create(asked)) said += choices[0]?.delta.content ?? '';
  expect(said).toBe('[file: image/<b>]');
});
