import { describe, expect, it } from 'vitest';
import { noFacts } from '../../../src/core/replay/replay.ts';
import { type JudgedSide, judgeRules } from '../../../src/core/replay/judge-rules.ts';
import { ReplayRule } from '../../../src/core/replay/suite.ts';

const one = (tool: string, args: Record<string, unknown> = {}) => ({ requested: tool, canonical: `desk.${tool}`, arguments: args });
const side = (text: string, tools: string[], cost: number | null = 0.5): JudgedSide => ({
  ...{ text, calls: tools.map((tool) => one(tool)) },
  facts: { ...noFacts, calls: tools.length, cost },
});
const json = side('{"a": 1, "b": 2}', ['find', 'read']);

describe('the rules of a suite', () => {
  it.each<[string, unknown, JudgedSide, JudgedSide, string | null]>([
    ['the same calls', { calls: 'same' }, json, json, null],
    [
      'calls in another order',
      { calls: 'same' },
      json,
      side('', ['read', 'find']),
      'Of the calls, 1 are the same, 0 have other arguments, 1 were added and 1 are missing.',
    ],
    ['calls in any order', { calls: 'same-any-order' }, json, side('', ['read', 'find']), null],
    ['other calls in any order', { calls: 'same-any-order' }, json, side('', ['read']), 'It did not make the recorded calls.'],
    ['the same JSON', { answer: 'json-equal' }, json, side('\n{"b":2,"a":1.0}\n', []), null],
    ['other JSON', { answer: 'json-equal' }, json, side('{"a":1}', []), 'The answer is another JSON value.'],
    ['no JSON', { answer: 'json-equal' }, json, side('yes', []), 'The answer is not JSON.'],
    ['a recording without JSON', { answer: 'json-equal' }, side('yes', []), json, 'The recorded answer is not JSON.'],
    ['the JSON of the rule', { answer: { 'json-equal': [1, null] } }, json, side('[1,null]', []), null],
    ['null as the JSON of the rule', { answer: { 'json-equal': null } }, json, side('null', []), null],
    ['other JSON than the rule', { answer: { 'json-equal': [1] } }, json, side('[1,2]', []), 'The answer is another JSON value.'],
    ['a text', { answer: { contains: 'yes' } }, json, side('Oh yes.', []), null],
    ['a missing text', { answer: { contains: 'yes' } }, json, side('Yes.', []), 'The answer does not contain "yes".'],
    ['few calls', { maxCalls: 2 }, json, json, null],
    ['many calls', { maxCalls: 1 }, json, json, 'It made 2 calls of tools, at most 1 are allowed.'],
    ['a low cost', { maxCost: 0.5 }, json, json, null],
    ['a high cost', { maxCost: 0.4 }, json, json, 'It cost 0.5, at most 0.4 is allowed.'],
    ['a cost that is not known', { maxCost: 1 }, json, side('', [], null), 'Its cost is not known: a model without a price was called.'],
  ])('%s', (_title, rule, recorded, replayed, detail) => {
    const parsed = ReplayRule.parse(rule);
    expect(judgeRules([parsed], { recorded, replayed, schemaOf: () => undefined })).toEqual([
      { rule: parsed, passed: detail === null, detail },
    ]);
  });
});
