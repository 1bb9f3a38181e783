/** Bodies whose list of tools is cached have the same value as without the cache. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { parseJsonText } from '../../../src/core/json/json-text.ts';
import { createRepeatedTools } from '../../../src/core/json/repeated-tools.ts';

const tools = Array.from({ length: 30 }, (_, index) => ({
  type: 'function',
  function: {
    name: `tool_${index}`,
    description: 'Reads "rows" [of] a {table}. '.repeat(4),
    parameters: { type: 'object', properties: {} },
  },
}));
const list = JSON.stringify(tools);

describe('the list of tools of a request', () => {
  it.each([
    ['first', `{"tools":${list},"model":"a/b"}`],
    ['last', `{"model":"a/b","tools" : \n${list}}`],
    ['among other members', `{"model":"a/b","tools":${list},"messages":[{"tools":${list}}],"stream":true}`],
    ['inside another member', `{"messages":[{"tools":${list}}]}`],
    ['in a text', `{"text":${JSON.stringify(`"tools":${list}`)},"tools":${list}}`],
    ['twice', `{"tools":${list},"tools":[1]}`],
    ['twice, the first time with escapes', `{"to\\u006fls":[1],"tools":${list}}`],
    ['twice, the second time with escapes', `{"tools":${list},"to\\u006fls":[1]}`],
    ['in a list', `["tools",${list}]`],
    ['as a value', `{"a":"tools","b":${list}}`],
    ['empty', '{"tools":[]}'],
    ['null', '{"tools":null}'],
  ])('%s, is parsed as before, also from the cache', (_where, text) => {
    const repeated = createRepeatedTools();
    const expected: unknown = JSON.parse(text);
    for (let time = 0; time < 3; time += 1) expect(parseJsonText(text, repeated)).toEqual(expected);
    expect(Object.keys(parseJsonText(text, repeated) as object)).toEqual(Object.keys(expected as object));
  });

  it('is shared by requests with the same list, and cannot be modified', () => {
    const repeated = createRepeatedTools();
    const of = (text: string) => (parseJsonText(text, repeated) as { tools: { function: { parameters: object } }[] }).tools;
    const first = of(`{"tools":${list},"model":"a/b"}`);
    expect(of(`{"model":"c/d","messages":[],"tools":${list}}`)).toBe(first);
    expect(of(`{"tools":${list.replace('tool_29', 'tool_x')}}`)).not.toBe(first);
    expect(() => Object.assign(first[3]?.function.parameters ?? {}, { type: 'string' })).toThrow(TypeError);
  });

  it('is not taken for a longer or shorter one', () => {
    const repeated = createRepeatedTools();
    parseJsonText(`{"tools":${list}}`, repeated);
    const longer = `${list.slice(0, -1)},{"type":"function"}]`;
    for (const other of [longer, JSON.stringify(tools.slice(0, -1))])
      expect(parseJsonText(`{"tools":${other}}`, repeated)).toEqual({ tools: JSON.parse(other) });
  });

  it('counts towards the limits, also from the cache', () => {
    const repeated = createRepeatedTools();
    parseJsonText(`{"tools":${list}}`, repeated);
    const filler = JSON.stringify(Array.from({ length: limits.maxJsonValues - 100 }, () => 1));
    for (const text of [`{"tools":${list},"a":${filler}}`, `{"a":${filler},"tools":${list}}`]) {
      expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
      expect(() => parseJsonText(text, repeated)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
    }
  });

  it.each([`{"tools":${list}`, `{"tools":${list},}`, `{"tools":${list.replace(':', ',')}}`, `{"tools":${list}]}`, `{"tools":[[[`])(
    'in text that is not JSON is reported as without the cache: %#',
    (text) => {
      const repeated = createRepeatedTools();
      parseJsonText(`{"tools":${list}}`, repeated);
      const failure = (parse: () => unknown): unknown => {
        try {
          return parse();
        } catch (error) {
          return error;
        }
      };
      expect(failure(() => parseJsonText(text, repeated))).toEqual(failure(() => parseJsonText(text)));
      expect(failure(() => parseJsonText(text))).toMatchObject({ code: 'invalid_json' });
    },
  );

  it('keeps the refusal of __proto__', () => {
    const repeated = createRepeatedTools();
    const text = `{"tools":${list.replace('"type"', '"__proto__"')}}`;
    for (let time = 0; time < 2; time += 1)
      expect(() => parseJsonText(text, repeated)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('forgets the lists that were not used for longest', () => {
    const repeated = createRepeatedTools();
    const text = (name: number) => `{"tools":${list.replace('tool_0', `tool_${name}`)}}`;
    const first = (parseJsonText(text(0), repeated) as { tools: unknown }).tools;
    for (let name = 100; name < 120; name += 1) parseJsonText(text(name), repeated);
    expect((parseJsonText(text(0), repeated) as { tools: unknown }).tools).not.toBe(first);
  });
});
