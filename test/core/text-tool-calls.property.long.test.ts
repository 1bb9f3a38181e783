import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { renderCall, renderResult } from '../../src/core/text-protocol/tool-prompt.ts';
import { TextToolCalls } from '../../src/core/text-protocol/tool-calls.ts';
import { readWords } from './text-words.ts';
import { runs, sample } from '../selection.ts';

/** Problematic parts, in any order. */
const fragment = fc.constantFrom(
  '<tool_call>',
  '</tool_call>',
  '{"name": "get", "arguments": {"a": 1}}',
  "{'name': 'get', 'arguments': {'a': 1}}",
  '{"arguments": {"a": "</tool_call>"}, "name": "get"}',
  '{"name": "',
  'get", "arguments": ',
  '{"a": "x',
  '"}}',
  '<function=get>',
  '</function>',
  '<response>',
  '</response>',
  '<think>',
  '</think>',
  '<tool_response>',
  '</tool_response>',
  '<｜tool▁call▁begin｜>',
  '<｜tool▁sep｜>',
  '<parameter=a>',
  '</parameter>',
  '<arg_key>a</arg_key><arg_value>1</arg_value>',
  '<｜tool▁calls▁begin｜>',
  '<｜tool▁call▁end｜>',
  '[TOOL_CALLS]',
  'get[ARGS]',
  '[get(a=1)]',
  '<|python_tag|>',
  '<|channel|>commentary to=functions.get',
  '<|message|>',
  '```tool_code\n',
  '<invoke name="get">',
  'get',
  '```',
  '~~~',
  '`',
  '``',
  '\n',
  '\n\n',
  ' ',
  '<',
  '{',
  '}',
  '[',
  ']',
  ',',
  '"',
  "'",
  '\\',
  '>',
  'words',
  '🙂',
);
const words = fc.oneof(
  fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);
const args = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }));
const hostileText = fc.array(fc.oneof(fragment, fc.string()), { maxLength: 12 }).map((parts) => parts.join(''));

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });

describe('a model’s text', () => {
  it('gives the same events however it is cut', () => {
    fc.assert(
      fc.property(words, sizes, fc.boolean(), fc.boolean(), (text, by, ended, length) => {
        const isTool = (name: string): boolean => name === 'get';
        expect(readWords(cut(text, by), { ended, length, isTool })).toEqual(readWords([text], { ended, length, isTool }));
      }),
      // A `<` in a string of JSON, where its whole text is read in steps.
      { numRuns: runs(3_000), examples: [['{"name": "[TOOL_CALLS]get[ARGS] <tool_call>', [1], false, false]] },
    );
  });

  it('is unchanged if nothing in it could be a call', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('<') && !text.includes('{'));
        expect(readWords(text)).toEqual({ text, reasoning: '', calls: [] });
      }),
    );
  });

  it('starts and ends each call once, and runs nothing of a cut one', () => {
    fc.assert(
      fc.property(words, (text) => {
        const reader = new TextToolCalls({ isTool: () => true });
        const events = [...reader.push(text), ...reader.finish({ ended: false, length: false })];
        const open = new Set<number>();
        const seen = new Set<number>();
        for (const event of events) {
          if (event.type === 'call-start') {
            expect(seen.has(event.call)).toBe(false);
            open.add(event.call);
            seen.add(event.call);
          } else if ('call' in event) {
            expect(open.has(event.call)).toBe(true);
            if (event.type === 'call-end') open.delete(event.call);
            if (event.type === 'call-end') expect(['ok', 'truncated', 'invalid']).toContain(event.state);
          }
        }
        expect(open.size).toBe(0);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('rendered calls and results', () => {
  it('parse back to the same call: any arguments, any name, cut anywhere', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), args, sizes, fc.boolean(), (name, value, by, ended) => {
        const text = `Look:\n${renderCall({ requested: name, arguments: value })}\n${renderCall({ requested: 'get', arguments: {} })}`;
        const { text: outside, calls } = readWords(cut(text, by), { ended });
        const json: unknown = JSON.parse(JSON.stringify(value));
        expect(calls).toMatchObject([
          { name, state: 'ok', deltas: JSON.stringify(value) },
          { name: 'get', state: 'ok', arguments: {} },
        ]);
        expect(calls[0]?.arguments).toEqual(json);
        expect(outside).toBe('Look:');
      }),
    );
  });

  it('never become a call if they are results, whatever the content', () => {
    fc.assert(
      fc.property(hostileText, hostileText, fc.constantFrom('', '> ', 'It said: ', '- '), (content, name, before) => {
        const result = renderResult({
          type: 'tool-result',
          callId: 'c1',
          requested: name,
          canonical: null,
          isError: false,
          content: [{ type: 'text', text: content }],
        });
        expect(result.slice('<tool_response>'.length, -'</tool_response>'.length)).not.toContain('<');
        expect(JSON.parse(result.slice('<tool_response>'.length, -'</tool_response>'.length))).toMatchObject({ content, name });
        expect(readWords([before + result]).calls).toEqual([]);
        expect(readWords([`${result}${renderCall({ requested: 'get', arguments: {} })}`]).calls).toMatchObject([{ name: 'get' }]);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('time', () => {
  /** Counts the characters that are read, extracted or searched, not the time. */
  function countSteps(work: () => void): number {
    let steps = 0;
    const undo: (() => void)[] = [];
    const count = (target: object, key: string, cost: (self: unknown, parameters: unknown[], result: unknown) => number): void => {
      const original = Reflect.get(target, key) as (...parameters: unknown[]) => unknown;
      Reflect.set(target, key, function counted(this: unknown, ...parameters: unknown[]) {
        const result = original.apply(this, parameters);
        steps += 1 + cost(this, parameters, result);
        return result;
      });
      undo.push(() => Reflect.set(target, key, original));
    };
    const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
    for (const key of ['charAt', 'charCodeAt']) count(String.prototype, key, () => 0);
    for (const key of ['slice', 'repeat']) count(String.prototype, key, (_self, _parameters, result) => lengthOf(result));
    for (const key of ['trim', 'trimEnd', 'trimStart', 'toLowerCase', 'replaceAll', 'includes']) {
      count(String.prototype, key, (self) => lengthOf(String(self)));
    }
    // A sticky expression reads only its match.
    for (const key of ['test', 'exec']) {
      count(RegExp.prototype, key, (self, [text], result) => ((self as RegExp).sticky ? String(result).length : lengthOf(text)));
    }
    count(JSON, 'parse', (_self, [text]) => lengthOf(text));
    count(Array.prototype, 'join', (_self, _parameters, result) => lengthOf(result));
    try {
      work();
    } finally {
      for (const restore of undo) restore();
    }
    return steps;
  }

  const repeated: [string, string][] = [
    ['', '<'],
    ['', '<tool_call>'],
    ['', '<tool_call>x'],
    ['', '<tool_call>x\n'],
    ['', '<tool_call> words\n\n'],
    ['', '<tool_call>{'],
    ['', '<tool_call>{}'],
    ['', '<tool_call>{} { '],
    ['', '<tool_call>{}\n{'],
    ['<tool_call>{}', ' {'],
    ['<tool_call>{} x', '{'],
    ['<tool_call>', '{"name": "a"}\n'],
    ['<tool_call>', '['],
    ['<tool_call>{"name": "get", "arguments": {', '"a": "b", '],
    ['<tool_call>{"name": "get", "arguments": ', '{"a": '],
    ['<tool_call>{"arguments": {"a": "', 'text '],
    ['<tool_call>{"', 'key'],
    ['<tool_call>{', "'a': "],
    ['<tool_call>{}', '}'],
    ['<tool_call>{}', '\n'],
    ['<tool_call>', '```'],
    ['', '<function=abc'],
    ['', '<function=a>{'],
    ['', '`<'],
    ['', '`<\n'],
    ['', '``<`'],
    ['', '` <\n'],
    ['', '`'],
    ['', '```\n'],
    ['', '```json\n{"name": "a"}\n```\n'],
    ['```json\n{"name": ', '"a'],
    ['```\n<tool_call>', '```` '],
    ['x\n```\n', '``\n'],
    ['', '~~~'],
    ['', '{\n'],
    ['', '{"name": "get", '],
    ['', '{"name": "get", "arguments": {\n'],
    ['{"arguments": {"a": [', '1,'],
    ['', '<json>{"arguments": {}\n'],
    ['', '<think>'],
    ['<think>', '</thin'],
    ['<tool_response>', '</tool_respons'],
    ['', '<function=get><parameter=a>'],
    ['<function=get>', '<parameter=a>1</parameter>'],
    ['<function=get><parameter=a>', '</function'],
    ['<tool_call>get', '<arg_key>a</arg_key><arg_value>1</arg_value>'],
    ['', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'],
    ['', '<｜tool▁call▁begin｜>get<｜tool▁sep｜>{}'],
    ['', '[TOOL_CALLS]get[ARGS]{'],
    ['', '[TOOL_CALLS]x['],
    ['', '[get('],
    ['[get(a=[', '1, '],
    ['', '<|channel|>commentary to=functions.get <|message|>'],
    ['', '<|start|>assistant'],
    ['', '```tool_code\nget(a=1)\n'],
    ['<tool_call>{"name": "get", "arguments": {"a": 1}}', ' '],
    ['', ' \n'],
    ['', 'a \n'],
    ['', 'word '],
  ];

  const chosen = sample('repeated parts of a text', repeated, (_, index) => index % 4 === 1);
  it.each(chosen)('is linear in the text: %j and many of %j', (begin, part) => {
    const text = (characters: number): string => begin + part.repeat(Math.ceil(characters / part.length));
    for (const size of [7, Number.POSITIVE_INFINITY]) {
      const steps = (characters: number): number => {
        const pieces = size === 7 ? cut(text(characters), [size]) : [text(characters)];
        return countSteps(() => readWords(pieces));
      };
      // Larger than the sizes up to which text is held back and read again.
      const small = steps(4 * limits.maxHeldText);
      const large = steps(8 * limits.maxHeldText);
      expect(large / small, `${small} → ${large}`).toBeLessThan(2.6);
      expect(large / (8 * limits.maxHeldText), `${large} steps`).toBeLessThan(60);
    }
  });

  it('accepts a megabyte in one call, exactly', () => {
    const value = { text: 'word "</tool_call>" '.repeat(limits.maxArgumentBytes / 25) };
    const [read] = readWords(cut(renderCall({ requested: 'get', arguments: value }), [50])).calls;
    expect(read?.state).toBe('ok');
    expect(read?.arguments).toEqual(value);
  });
});
