/** The most tokens that a request can use: at least what any tokenizer makes of its text, and what it refers to. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json/wire-value.ts';
import { choicesOf, formBound, inputBound as inputBoundOf } from '../../../src/core/model/token-bound.ts';

const added = 1_000;
const image = 10_000;
const reference = 100_000;
const inputBound = (body: Json) => inputBoundOf(body, image);
/** Base64 of 300 kB. */
const data = 'QUJD'.repeat(100_000);
const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const asked = (...content: object[]) => ({ input: [{ role: 'user', content }] });

describe('the bound of the input', () => {
  it.each([
    ['English', 'Hello there, how are you today? '.repeat(50)],
    ['Chinese', '今天天气很好我们去公园散步吧'.repeat(50)],
    ['emoji', '🧑‍🚀👩‍👩‍👧‍👦'.repeat(50)],
    ['bytes that no vocabulary has', '\u0000\u{10ffff}\u200b'.repeat(50)],
  ])('is at least one token for each byte of text (%s)', (_what, text) => {
    const bytes = new TextEncoder().encode(text).byteLength;
    for (const body of [
      { messages: [{ role: 'user', content: text }] },
      { input: text },
      { instructions: text },
      { tools: [{ description: text }] },
    ])
      expect(inputBound(body)).toBeGreaterThanOrEqual(bytes + added);
  });

  it.each([
    ['an image of Chat Completions', said({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })],
    ['an image by URL', said({ type: 'image_url', image_url: { url: 'https://here/x.png' } })],
    ['an image of Responses', asked({ type: 'input_image', image_url: `data:image/png;base64,${data}` })],
    ['an image of Messages', said({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })],
    [
      'a screenshot',
      { input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: 'https://here/x.png' } }] },
    ],
    ['an image of a tool result', said({ type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data } }] })],
    ['an image of Gemini', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }],
    [
      'an image of a result of Gemini',
      { contents: [{ parts: [{ functionResponse: { response: {}, parts: [{ inlineData: { mimeType: 'image/png', data } }] } }] }] },
    ],
  ])('counts %s as an image and not as text', (_what, body) => {
    expect(inputBound(body)).toBeGreaterThanOrEqual(image + added);
    expect(inputBound(body)).toBeLessThan(image + added + 500);
  });

  it.each([
    ['a file by id', asked({ type: 'input_file', file_id: 'file-1' })],
    ['a file by URL', asked({ type: 'input_file', file_url: 'https://here/x.pdf' })],
    ['a document of Messages', said({ type: 'document', source: { type: 'url', url: 'https://here/x.pdf' } })],
    ['a stored item', { input: [{ type: 'item_reference', id: 'rs_1' }] }],
    ['a file of Gemini', { contents: [{ parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'gs://x' } }] }] }],
    ['a previous response', { input: 'hi', previous_response_id: 'resp_1' }],
    ['a conversation', { input: 'hi', conversation: 'conv_1' }],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }],
    ['servers that the provider calls', { messages: [], mcp_servers: [{ url: 'https://here' }] }],
  ])('counts %s as what may be read there', (_what, body) => {
    expect(inputBound(body)).toBeGreaterThanOrEqual(reference + added);
    expect(inputBound(body)).toBeLessThan(reference + added + 500);
  });

  it('counts data of a file as text, and of sound a part of it', () => {
    // Its pages may be read as images.
    expect(inputBound(said({ type: 'document', source: { type: 'base64', data: data.slice(0, 4_000) } }))).toBeGreaterThan(reference);
    expect(inputBound(said({ type: 'document', source: { type: 'base64', data } }))).toBeGreaterThanOrEqual(data.length);
    const sound = inputBound(said({ type: 'input_audio', input_audio: { data, format: 'wav' } }));
    expect(sound).toBeGreaterThanOrEqual(data.length / 16);
    expect(sound).toBeLessThan(data.length / 10);
  });

  it.each([
    ['arguments of a call', said({ type: 'tool_use', input: { type: 'image', source: { type: 'base64', data } } })],
    ['arguments of a call that are a list', said({ type: 'tool_use', input: [{ type: 'image', data }] })],
    ['a result of Gemini', { contents: [{ parts: [{ functionResponse: { response: { content: [{ type: 'image', data }] } } }] }] }],
    ['a schema', { tools: [{ input_schema: { content: [{ type: 'image', data }] } }] }],
    ['a text beside an image', said({ type: 'image', source: { type: 'url', url: 'https://x' }, text: 'a b '.repeat(100_000) })],
    ['a message with the type of an image', { messages: [{ role: 'user', type: 'image', content: data }] }],
    ['a text without blanks beside an image', asked({ type: 'input_image', image_url: 'https://x', text: data })],
    ['content of an item with the type of an image', { input: [{ type: 'image', content: data }] }],
    ['an unknown block', said({ type: 'mystery', source: { type: 'base64', data } })],
  ])('counts what only looks like an image as text: %s', (_what, body) => {
    expect(inputBound(body)).toBeGreaterThanOrEqual(400_000);
  });

  it('is not read of what is nested too deeply', () => {
    let content: unknown = 'deep';
    for (let level = 0; level < 50_000; level += 1) content = [content];
    expect(() => inputBound({ messages: content })).toThrow(/body: has more than \d+ levels/);
  });

  it('is read of a body of 10 MB', () => {
    const body = { messages: Array.from({ length: 1_000 }, () => ({ role: 'user', content: 'word '.repeat(2_000) })) };
    expect(inputBound(body)).toBeGreaterThan(10_000_000);
  });

  it('of a form has the size of its files', () => {
    expect(formBound(['whisper', { size: 25_000_000 }], image)).toBeGreaterThanOrEqual(25_000_000 / 16);
    expect(formBound([{ size: 10 }], image)).toBe(added + image);
  });
});

it.each([
  [undefined, 1],
  [null, 1],
  [1, 1],
  [8, 8],
  ['8', 8],
  [2.5, 3],
  [0, 1],
  [-4, 1],
  ['many', 1],
  [{}, 1],
])('a request with n = %j asks for %i answers', (n, choices) => {
  expect(choicesOf({ n })).toBe(choices);
});
