/** Reasoning in the text of replies. The texts have the shapes of Qwen3, MiniMax M2 and DeepSeek R1 on servers without a parser. */
import { describe, expect, it } from 'vitest';
import { splitThinking, ThinkingText } from '../../../src/core/model/think-tags.ts';

function read(chunks: readonly string[], { isOpened = false, isCut = false } = {}): { reasoning: string; text: string } {
  const reader = new ThinkingText(isOpened);
  const pieces = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.finish(isCut)];
  const of = (type: string): string => pieces.map((piece) => (piece.type === type ? piece.text : '')).join('');
  return { reasoning: of('reasoning'), text: of('text') };
}

const chunkings = (text: string): string[][] => [[text], [...text], text.match(/[\s\S]{1,3}/g) ?? []];

const replies: [string, string, { reasoning: string; text: string }][] = [
  ['reasoning before the answer', '<think>\nIt is 7.\n</think>\n\nSeven.', { reasoning: 'It is 7.', text: 'Seven.' }],
  ['white space before the tag', '\n<think>Hm.</think>Yes.', { reasoning: 'Hm.', text: 'Yes.' }],
  ['no reasoning', '<think>\n\n</think>\n\nYes.', { reasoning: '', text: 'Yes.' }],
  ['other tags of the kind', '<thinking>Hm.</thinking>Yes.', { reasoning: 'Hm.', text: 'Yes.' }],
  ['the tags of Magistral', '[THINK]Hm.[/THINK]Yes.', { reasoning: 'Hm.', text: 'Yes.' }],
  ['marks in the reasoning', '<think>a </thin b < c\n\nd</think>e', { reasoning: 'a </thin b < c\n\nd', text: 'e' }],
  ['an answer without reasoning', '\n 7 < 8, <b>bold</b>\n', { reasoning: '', text: '\n 7 < 8, <b>bold</b>\n' }],
  ['the tag in the answer', 'The tag <think> begins.</think>', { reasoning: '', text: 'The tag <think> begins.</think>' }],
  ['a tag in the answer behind reasoning', '<think>a</think>Write <think>b</think>.', { reasoning: 'a', text: 'Write <think>b</think>.' }],
  ['a begin that is none', '<thin', { reasoning: '', text: '<thin' }],
];

describe.each(replies)('a text with %s', (_name, text, expected) => {
  it.each(chunkings(text))('is split the same however it arrives', (...chunks) => {
    expect(read(chunks)).toEqual(expected);
  });
});

describe('a reply that begins in its reasoning', () => {
  it('is split at the end tag', () => {
    for (const chunks of chunkings('It is 7.\n</think>\n\nSeven.'))
      expect(read(chunks, { isOpened: true })).toEqual({ reasoning: 'It is 7.', text: 'Seven.' });
  });

  it('is also the answer if it has no end tag, unless it was cut', () => {
    expect(read(['Sev', 'en.\n'], { isOpened: true })).toEqual({ reasoning: 'Seven.', text: 'Seven.\n' });
    expect(read(['Sev', 'en.'], { isOpened: true, isCut: true })).toEqual({ reasoning: 'Seven.', text: '' });
  });

  it('is split without a profile if all of it is known at once and the tag has a line of its own', () => {
    expect(read(['It is 7.\n</think>\n\nSeven.'])).toEqual({ reasoning: 'It is 7.', text: 'Seven.' });
    expect(read(['The end tag is `</think>`.'])).toEqual({ reasoning: '', text: 'The end tag is `</think>`.' });
  });
});

it('reasoning that was cut stays reasoning', () => {
  expect(read(['<think>a </thin'])).toEqual({ reasoning: 'a </thin', text: '' });
});

it('a whole text is split, or is no such text', () => {
  expect(splitThinking('<think>Hm.</think>\nYes.')).toEqual({ open: '<think>', reasoning: 'Hm.', text: 'Yes.' });
  expect(splitThinking('Hm.\n</think>\n\nYes.')).toEqual({ open: '<think>', reasoning: 'Hm.', text: 'Yes.' });
  for (const other of ['Yes.', '<think>cut', 'Write </think> there.', '', '```\n<think>a</think>']) expect(splitThinking(other)).toBeNull();
});

it('takes linear time', () => {
  const reader = new ThinkingText(false);
  const started = performance.now();
  for (let count = 0; count < 200_000; count++) reader.push(' <');
  for (let count = 0; count < 200_000; count++) reader.push('</thi');
  expect(performance.now() - started).toBeLessThan(3_000);
});
