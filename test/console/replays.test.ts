import { describe, expect, it } from 'vitest';
import { markedJson } from '../../src/console/pages/replays/marked-json.ts';
import { replacedText } from '../../src/console/pages/replays/replaced-text.ts';
import { caseFromLine, caseLine } from '../../src/console/pages/suites/case-text.ts';
import { partsOf, ruleOf } from '../../src/console/text/replay-rules.ts';

describe('JSON with marks', () => {
  const shown = (value: unknown, ...paths: string[]) =>
    markedJson(value, paths).map(({ text, isMarked }) => `${isMarked ? '>' : ' '}${text}`);

  it.each([null, 1, 'text', [], {}, { a: [1, { b: 'x' }], c: {} }, [[], [{}]]])('is the indented JSON of %j', (value) => {
    expect(
      markedJson(value, [])
        .map(({ text }) => text)
        .join('\n'),
    ).toBe(JSON.stringify(value, null, 2));
  });

  it('marks the lines of the values at the pointers', () => {
    expect(shown({ a: 1, b: { c: [1, 2] }, 'd/~': 3 }, '/b/c/1', '/d~1~0')).toEqual([
      ' {',
      '   "a": 1,',
      '   "b": {',
      '     "c": [',
      '       1,',
      '>      2',
      '     ]',
      '   },',
      '>  "d/~": 3',
      ' }',
    ]);
    expect(shown({ b: { c: 1 } }, '/b')).toEqual([' {', '>  "b": {', '>    "c": 1', '>  }', ' }']);
    expect(shown({ b: 1 }, '')).toEqual(['>{', '>  "b": 1', '>}']);
  });
});

describe('cases as lines', () => {
  it.each([{ session: 'a' }, { session: 'a', turn: 'turn_2' }, { request: 'r' }])('are read as they are written: %j', (one) => {
    expect(caseFromLine(` ${caseLine(one)} `)).toEqual(one);
  });
});

describe('rules as rows', () => {
  it.each([
    { calls: 'same' as const },
    { calls: 'same-any-order' as const },
    { answer: 'json-equal' as const },
    { answer: { contains: 'x "y"' } },
    { answer: { 'json-equal': { a: [1] } } },
    { answer: { 'json-equal': 'text' } },
    { answer: { 'json-equal': '1' } },
    { answer: { 'json-equal': null } },
    { maxCalls: 0 },
    { maxCost: 0.02 },
  ])('are read as they are shown: %j', (rule) => {
    const { kind, value } = partsOf(rule);
    expect(ruleOf(kind, value ?? '')).toEqual(rule);
  });

  it('leave what is no number to the service, which refuses it', () => {
    for (const text of ['', 'many']) expect(ruleOf('maxCalls', text)).toEqual({ maxCalls: text });
  });
});

describe('what a replay replaces', () => {
  const replay = { with: {}, omitted: [] } as never as Parameters<typeof replacedText>[0];

  it.each([
    [{}, 'as recorded'],
    [{ with: { model: 'cheap', agent: 'support@3' } }, 'cheap, agent support@3'],
    [{ with: { toolset: { tools: [] }, instructions: 'x' } }, 'toolset (draft), instructions'],
    [{ omitted: ['agent', 'instructions'] }, 'agent (draft), instructions'],
  ])('of %j is "%s"', (members, text) => {
    expect(replacedText({ ...replay, ...(members as object) })).toBe(text);
  });
});
