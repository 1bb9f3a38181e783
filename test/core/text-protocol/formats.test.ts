/** The formats of `formats.ts` in the form in which models write them, and how calls in them are read for a client and as leaks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { formats } from '../../../src/core/text-protocol/formats.ts';
import { type Otherwise, TextToolCalls } from '../../../src/core/text-protocol/tool-calls.ts';
import { gather, type WordsRead } from '../text-words.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    metric: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    where: { $ref: '#/$defs/place' },
    tags: { type: 'array', items: { type: 'string' } },
    unit: { enum: ['C', 'F'] },
  },
  $defs: { place: { type: 'object' } },
};

function read(pieces: Iterable<string>, otherwise: Otherwise): WordsRead {
  const isTool = (name: string): boolean => name === 'get_weather' || name === 'get_time';
  const reader = new TextToolCalls({ isTool, schemaOf: () => schema, otherwise });
  const events: ChatEvent[] = [];
  for (const piece of pieces) events.push(...reader.push(piece));
  events.push(...reader.finish({ ended: true, length: false }));
  return gather(events);
}

const prefix = 'antml:';
const one = [['get_weather', { city: 'Paris' }]];
const two = [...one, ['get_time', {}]];

/** By the name of the format: what a model writes, and the calls in it. */
const written: Record<string, [text: string, calls: unknown[]][]> = {
  Hermes: [
    ['<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>', one],
    ['<tool_call>[{"name": "get_weather", "arguments": {"city": "Paris"}}]', one],
    ['<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call>', two],
    [
      '<tool_call>get_weather<arg_key>days</arg_key><arg_value>3</arg_value><arg_key>city</arg_key><arg_value>3</arg_value></tool_call>',
      [['get_weather', { days: 3, city: '3' }]],
    ],
  ],
  'Qwen3-Coder': [
    ['<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>', one],
    ['<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n<function=get_time>\n</function>', two],
    [
      '<function=get_weather>\n<parameter=city>\nParis\n<parameter=metric>\nTrue\n<parameter=where>\n{"lat": [1, 2]}\n</parameter>\n</function>',
      [['get_weather', { city: 'Paris', metric: true, where: { lat: [1, 2] } }]],
    ],
    ['<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</seed:tool_call>', one],
    ['<function=get_weather>{"city": "Paris"}</function>', one],
  ],
  invoke: [
    [
      `<${prefix}function_calls>\n<${prefix}invoke name="get_weather">\n<${prefix}parameter name="city">Paris</${prefix}parameter>\n</${prefix}invoke>\n</${prefix}function_calls>`,
      one,
    ],
    [
      '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>',
      two,
    ],
    ['<invoke name="get_weather"><parameter name="tags">["a", "b"]</parameter></invoke>', [['get_weather', { tags: ['a', 'b'] }]]],
  ],
  DSML: [
    [
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">3</｜DSML｜parameter>\n<｜DSML｜parameter name="unit" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      [['get_weather', { city: '3', unit: 3 }]],
    ],
    [
      '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
      one,
    ],
  ],
  DeepSeek: [
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      two,
    ],
    ['<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>', one],
  ],
  'Kimi K2': [
    [
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
      two,
    ],
  ],
  Mistral: [
    ['[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_time", "arguments": {}}]', two],
    ['[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_time[ARGS]{}', two],
    ['[TOOL_CALLS]get_weather[CALL_ID]abc123xyz[ARGS]{"city": "Paris"}', one],
  ],
  Llama: [
    ['<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {}}<|eom_id|>', two],
    ['<|python_tag|>get_weather.call(city="Paris")', one],
    ['[get_weather(city="Paris"), get_time()]', two],
    [
      "<|python_start|>[get_weather(city='It\\'s', where={'a': (1, None)}, metric=True)]<|python_end|>",
      [['get_weather', { city: "It's", where: { a: [1, null] }, metric: true }]],
    ],
    ['{"name": "get_weather", "parameters": {"city": "Paris"}}', one],
  ],
  Harmony: [
    ['<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>', one],
    ['<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city": "Paris"}', one],
    ['<|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}<|call|>', one],
  ],
  Granite: [
    ['<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]', one],
    ['<function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}', one],
    ['<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}]<|END_ACTION|>', one],
  ],
  Gemma: [
    ['```tool_code\nprint(default_api.get_weather(city="Paris"))\n```', one],
    ['```tool_code\nget_weather(city="Paris")\nget_time()\n```', two],
  ],
  'wrapped JSON': [['<tools>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tools>', one]],
};

const texts = Object.entries(written).flatMap(([name, rows]) => rows.map(([text, calls]) => [name, text, calls] as const));
const meanings = ({ calls }: WordsRead): unknown[] => calls.map(({ name, arguments: args }) => [name, args]);

describe('a format', () => {
  it('is listed with its sources, has an example here, and is named in the docs', () => {
    const docs = readFileSync('docs/models.md', 'utf8');
    expect(formats.map(({ name }) => name)).toEqual(Object.keys(written));
    for (const { name, source } of formats) {
      expect(source).not.toBe('');
      expect(docs).toContain(name);
    }
  });

  it.each(texts)('%s is a call for every reader, however it is cut: %s', (_name, text, calls) => {
    for (const otherwise of ['call', 'text', 'leak'] as const) {
      const whole = read([text], otherwise);
      expect(meanings(whole), otherwise).toEqual(calls);
      expect(whole.text.trim()).toBe('');
      expect(whole.calls.map(({ state }) => state)).toEqual(calls.map(() => 'ok'));
      for (const { deltas } of whole.calls) if (deltas !== '') expect(JSON.parse(deltas)).toBeTypeOf('object');
      expect(read(text.split(''), otherwise)).toEqual(whole);
      expect(read(text.match(/[\s\S]{1,7}/g) ?? [], otherwise)).toEqual(whole);
    }
  });

  it.each(texts)('%s leaves the text around it: %s', (_name, text, calls) => {
    const found = read([`Before.\n${text}\nAfter.`], 'text');
    expect(meanings(found)).toEqual(calls);
    expect(found.text).toMatch(/^Before\.\s*After\.$/);
  });

  it.each(texts)('%s is unchanged text if it is quoted, cut or calls another tool: %s', (_name, text) => {
    const inLine = text.replaceAll('```', '').replaceAll('\n', ' ');
    const inFence = text.replaceAll('```', '~~~');
    const others = text.replaceAll('get_weather', 'other').replaceAll('get_time', 'another');
    for (const other of [`Use \`${inLine}\` so`, `So:\n\`\`\`\n${inFence}\n\`\`\`\nok`, others]) {
      expect(read([other], 'text')).toEqual({ text: other, reasoning: '', calls: [] });
      expect(read([other], 'leak')).toEqual({ text: other, reasoning: '', calls: [] });
    }
    for (let at = 1; at < text.length; at++) {
      const { text: left, calls } = read([text.slice(0, at)], 'leak');
      if (calls.length === 0) expect(left).toBe(text.slice(0, at));
    }
  });
});

describe('a block for a client', () => {
  it.each([
    ['no JSON', '<tool_call>get the weather</tool_call>'],
    ['arguments that are no object', '<tool_call>{"name": "get_weather", "arguments": "Paris"}</tool_call>'],
    ['one bad call among others', '<tool_call>{"name": "get_weather", "arguments": {}}\n{"name": 7}</tool_call>'],
    ['nothing', 'a <tool_call>\n</tool_call> b'],
    ['an end that is missing', '<tool_call>{"name": "get_weather", "arguments": {"city": "Pa'],
    ['Python that would have to be computed', '<|python_tag|>get_weather.call(city=home())'],
    ['too much', `<tool_call>{"name": "get_weather", "arguments": {"city": "${'x'.repeat(limits.maxArgumentBytes)}"}}</tool_call> on`],
  ])('stays text, whole: %s', (_what, text) => {
    expect(read([text], 'text')).toEqual({ text, reasoning: '', calls: [] });
    expect(read(text.match(/[\s\S]{1,5000}/g) ?? [], 'text').text).toBe(text);
  });

  it('gives repaired arguments as JSON', () => {
    const { calls } = read([`<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris',}}</tool_call>`], 'text');
    expect(calls).toMatchObject([{ name: 'get_weather', state: 'repaired', deltas: '{"city":"Paris"}' }]);
  });
});

describe('typed text', () => {
  const typed = (name: string, value: string): unknown =>
    read([`<function=get_weather><parameter=${name}>${value}</parameter></function>`], 'call').calls[0]?.arguments?.[name];

  it.each([
    ['city', '42', '42'],
    ['city', '\n two\nlines \n', ' two\nlines '],
    ['days', ' 42 ', 42],
    ['days', 'soon', 'soon'],
    ['metric', 'None', null],
    ['metric', 'FALSE', false],
    ['where', "{'lat': 1}", { lat: 1 }],
    ['tags', '["a"]', ['a']],
    ['tags', 'a', 'a'],
    ['unit', '5', '5'],
    ['unknown', '5', 5],
    ['unknown', 'five', 'five'],
  ])('%s: %j is %j', (name, text, value) => expect(typed(name, text)).toEqual(value));

  it('marks a number that is rounded as repaired', () => {
    const { calls } = read(['<function=get_weather><parameter=days>12345678901234567890</parameter></function>'], 'call');
    expect(calls).toMatchObject([{ state: 'repaired' }]);
  });
});
