/**
 * Citations in translated replies: what a model of each wire cites is received by the stock client of every dialect in its own form. The
 * replies are written in the shapes of the references: OpenAI "Chat Completions" (`annotations`) and "Responses" (`url_citation`),
 * Perplexity "Chat Completions" (`search_results`), Anthropic "Web search tool" (`web_search_result_location`), and Gemini
 * "GroundingMetadata", whose places count bytes of UTF-8.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { anthropic, gemini, openai, type Participant, responses } from '../switching-speakers.ts';
import { translatedFetch } from './translated-fetch.ts';

const text = 'Größe: 7. Ja.';
const source = { url: 'https://a.example/x', title: 'A' };
/** Of "Größe: 7." */
const place = { start_index: 0, end_index: 9 };
const whole = { start_index: 0, end_index: text.length };

const sse = (events: readonly object[], named = false): string =>
  events.map((event) => `${named ? `event: ${(event as { type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`).join('');
const chunk = (delta: object, more: object = {}) => ({ id: 'c', created: 1, choices: [{ index: 0, delta, finish_reason: null }], ...more });
const end = { id: 'c', created: 1, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const annotation = { type: 'url_citation', ...source, ...place };
const message = (annotations: object[]) => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations }],
});
const block = (index: number) => ({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields });
const webCitation = { type: 'web_search_result_location', ...source, cited_text: 'is 7', encrypted_index: 'e' };

const replies: [string, Participant, string, object, string][] = [
  [
    'Chat Completions',
    openai,
    sse([chunk({ content: text }), chunk({ annotations: [{ type: 'url_citation', url_citation: { ...source, ...place } }] }), end]),
    place,
    '',
  ],
  ['Perplexity', openai, sse([chunk({ content: text }, { search_results: [source] }), { ...end, search_results: [source] }]), whole, ''],
  [
    'Responses',
    responses,
    sse(
      [
        { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', output_index: 0, item: { ...message([]), content: [] } },
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: text },
        { type: 'response.output_item.done', output_index: 0, item: message([annotation]) },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [message([annotation])] } },
      ],
      true,
    ),
    place,
    '',
  ],
  [
    'Messages',
    anthropic,
    sse(
      [
        { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
        block(0),
        delta(0, { type: 'citations_delta', citation: webCitation }),
        delta(0, { type: 'text_delta', text: 'Größe: 7.' }),
        { type: 'content_block_stop', index: 0 },
        block(1),
        delta(1, { type: 'text_delta', text: ' Ja.' }),
        { type: 'content_block_stop', index: 1 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
        { type: 'message_stop' },
      ],
      true,
    ),
    place,
    'is 7',
  ],
  [
    'Gemini',
    gemini,
    sse([
      { candidates: [{ index: 0, content: { parts: [{ text }] } }] },
      {
        candidates: [
          {
            index: 0,
            content: { parts: [{ text: '' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              groundingChunks: [{ web: { uri: source.url, title: 'A' } }],
              groundingSupports: [{ segment: { endIndex: 11, text: 'Größe: 7.' }, groundingChunkIndices: [0] }],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
      },
    ]),
    place,
    '',
  ],
];

describe.each(replies)('citations of %s', (_name, participant, reply, at, quote) => {
  const options = { apiKey: 'unused', maxRetries: 0, fetch: translatedFetch(participant, reply) };

  it('are annotations of Chat Completions', async () => {
    const annotations: unknown[] = [];
    let said = '';
    const stream = await new OpenAI(options).chat.completions.create({
      model: 'x/m',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    for await (const { choices } of stream) {
      said += choices[0]?.delta.content ?? '';
      annotations.push(...((choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? []));
    }
    expect([said, annotations]).toEqual([text, [{ type: 'url_citation', url_citation: { ...source, ...at } }]]);
  });

  it('are annotations of Responses', async () => {
    const added: unknown[] = [];
    const stream = new OpenAI(options).responses.stream({ model: 'x/m', input: 'Hi' });
    for await (const event of stream) if (event.type === 'response.output_text.annotation.added') added.push(event.annotation);
    const { output } = await stream.finalResponse();
    // Data of Anthropic divides the text.
    const said = output.flatMap((item) => (item.type === 'message' ? item.content : [])).filter((part) => part.type === 'output_text');
    const expected = [{ type: 'url_citation', ...source, ...at }];
    expect([said.map((part) => part.text).join(''), said.flatMap(({ annotations }) => annotations)]).toEqual([text, expected]);
    expect(added).toEqual(expected);
  });

  it('are citations of Messages', async () => {
    const { content } = await new Anthropic(options).messages
      .stream({ model: 'x/m', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
      .finalMessage();
    const blocks = content.flatMap((one) => (one.type === 'text' ? [one] : []));
    expect(blocks.map((one) => one.text).join('')).toBe(text);
    expect(blocks.flatMap(({ citations }) => citations ?? [])).toEqual([
      { type: 'web_search_result_location', ...source, cited_text: quote, encrypted_index: 'moniker.unsigned' },
    ]);
  });
});
