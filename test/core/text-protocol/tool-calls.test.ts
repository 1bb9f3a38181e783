import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { TextToolCalls } from '../../../src/core/text-protocol/tool-calls.ts';
import { readWords, type WordsOptions } from '../text-words.ts';

const call = '<tool_call>{"name": "get", "arguments": {"a": 1}}</tool_call>';

function read(text: string, options?: WordsOptions) {
  const whole = readWords([text], options);
  expect(readWords(text.split(''), options), 'by character').toEqual(whole);
  return whole;
}

/** Returns name, state and arguments of the calls in a text. */
function callsOf(text: string, options?: WordsOptions): unknown[] {
  return read(text, options).calls.map(({ name, state, arguments: args }) => [name, state, args]);
}

const theCall = [['get', 'ok', { a: 1 }]];

describe('a call in the text of a model', () => {
  it('is parsed, and its markup is removed', () => {
    expect(read(`Let me look.\n${call}\n`)).toEqual({
      text: 'Let me look.',
      reasoning: '',
      calls: [{ name: 'get', state: 'ok', arguments: { a: 1 }, raw: '{"a":1}', deltas: '{"a":1}' }],
    });
  });

  it('leaves the text around it, with the white space between', () => {
    expect(read(`one\n${call}\n${call}\ntwo `).text).toBe('one\n\n\ntwo ');
    expect(read(`\n${call}\n\ntwo`).text).toBe('two');
    expect(read('  plain \n').text).toBe('  plain \n');
  });

  it.each([
    ['arguments before the name', '{"arguments": {"a": 1}, "name": "get"}'],
    ['parameters instead of arguments', '{"name": "get", "parameters": {"a": 1}}'],
    ['arguments as a string', '{"name": "get", "arguments": "{\\"a\\": 1}"}'],
    ['other fields', '{"id": 7, "type": "function", "name": "get", "x": {"name": "no"}, "arguments": {"a": 1}}'],
    ['an escaped name', '{"name": "\\u0067et", "arguments": {"a": 1}}'],
    ['blanks everywhere', ' \n{ "name" : "get" , "arguments" :\n {"a": 1} } \n'],
  ])('is parsed with %s', (_what, body) => {
    expect(callsOf(`<tool_call>${body}</tool_call>`)).toEqual(theCall);
  });

  it.each([
    ['a tag in a string', '{"a": "</tool_call><tool_call>"}', { a: '</tool_call><tool_call>' }],
    ['brackets and quotes in strings', '{"a": "}]{\\"[\'", "b": "`"}', { a: '}]{"[\'', b: '`' }],
    ['a fence in a string', '{"a": "```\\n</tool_call>\\n```"}', { a: '```\n</tool_call>\n```' }],
    ['a line break written as such', '{"a": "1\\n2"}', { a: '1\n2' }],
  ])('does not end at %s', (_what, args, value) => {
    expect(callsOf(`<tool_call>{"name": "get", "arguments": ${args}}</tool_call> and on`)).toEqual([['get', 'ok', value]]);
  });

  it('has no arguments if it names none', () => {
    expect(callsOf('<tool_call>{"name": "now"}</tool_call>')).toEqual([['now', 'ok', {}]]);
    expect(callsOf('<function=now></function>')).toEqual([['now', 'ok', {}]]);
  });

  it('may be one of many, in one pair of tags or in several', () => {
    const one = '{"name": "get", "arguments": {"a": 1}}';
    const three = [...theCall, ...theCall, ...theCall];
    expect(callsOf(`${call}${call}\n${call}`)).toEqual(three);
    expect(callsOf(`<tool_call>\n${one}\n${one}\n\n${one}</tool_call>`)).toEqual(three);
    expect(callsOf(`<tool_call>[${one}, ${one}, ${one}]</tool_call>`)).toEqual(three);
  });

  it('is emitted when its block ends, and the text before it at once', () => {
    const reader = new TextToolCalls({ isTool: () => false });
    const steps: ChatEvent[][] = ['Hi <tool', '_call>{"name": "ge', 't", "arguments"', ': {', '"a": ', '1}', '}', '</tool_call>'].map(
      (piece) => reader.push(piece),
    );
    expect(steps.map((events) => events.map((event) => (event.type === 'call-delta' ? event.text : event.type)))).toEqual([
      ['text'],
      [],
      [],
      [],
      [],
      [],
      [],
      ['call-start', '{"a":1}', 'call-end'],
    ]);
  });

  it('holds back only what may be a tag', () => {
    const reader = new TextToolCalls({ isTool: () => true });
    const said = ['a', ' <', 'b>', ' 1 < 2', ' <tool', 'box> {"name"', ': 1}'].map((piece) => reader.push(piece));
    expect(said.map((events) => events.map((event) => (event.type === 'text' ? event.text : event.type)).join())).toEqual([
      'a',
      '',
      ' <b>',
      ' 1 < 2',
      '',
      ' <toolbox> {"name"',
      ': 1}',
    ]);
  });
});

describe('text that only shows a call', () => {
  it.each([
    ['a fence', `Write:\n\`\`\`\n${call}\n\`\`\`\nso`],
    ['a fence with a language', `Write:\n\`\`\`json\n{"name": "get", "arguments": {}}\n\`\`\``],
    ['a fence of tildes', `Write:\n~~~xml\n${call}\n~~~`],
    ['a longer fence around a shorter one', `Write:\n\`\`\`\`\n\`\`\`\n${call}\n\`\`\`\n\`\`\`\``],
    ['an indented fence of a list', `1. Write:\n    \`\`\`\n    ${call}\n    \`\`\``],
    ['a fence that never ends', `Write:\n\`\`\`\n${call}`],
    ['a fence that is not all of the reply', `\`\`\`\n${call}\n\`\`\`\nThat is how.`],
    ['a span', `Write \`${call}\` so`],
    ['a span of two backticks', `Write \`\` ${call} \`\` so`],
    ['a span with words before the call', `Write \`this: ${call}\` so`],
    ['a span over lines', 'Write `<tool_call>\n{"name": "get"}\n</tool_call>` so'],
  ])('is text: %s', (_what, text) => {
    expect(read(text)).toEqual({ text, reasoning: '', calls: [] });
  });

  it.each([
    ['the tag alone', 'I would use the <tool_call> tag.'],
    ['the tag, and a paragraph', 'The <tool_call> tag\nis one.\n\nAnd a </tool_call> ends it.'],
    ['a tag at the end', 'so: <tool_ca'],
    ['an unknown tag', 'a <tool_calling> b'],
    ['an object of something else', '{"name": "get", "description": "x"}'],
    ['a list of tools', '<tools>\n{"name": "get", "description": "x", "parameters": {}}\n</tools>'],
    ['other JSON', '{\n  "a": {"name": "get", "arguments": {}}\n}'],
    ['JSON in a fence', '```json\n{\n  "a": 1\n}\n```'],
    ['an object that ends too early', '{"name": "get", "argum'],
    ['an object in a line', 'so {"name": "get", "arguments": {}}'],
    ['XML', '<xml>\n<a>{"name": "get"}</a>\n</xml>'],
    ['a thought in a line', 'the <think> tag and the <tool_response> tag'],
  ])('is text: %s', (_what, text) => {
    expect(read(text)).toEqual({ text, reasoning: '', calls: [] });
  });

  it('is a call after a backtick that does not start code', () => {
    expect(callsOf(`I\`ll do it: ${call}`)).toEqual(theCall);
    expect(callsOf(`I\`ll do it:\n${call}\nwith \`get\``)).toEqual(theCall);
    expect(callsOf(`\`${call}\n\nand \`so\``)).toEqual(theCall);
    expect(callsOf(`\`a\` and \`\`b\`\`: ${call}`)).toEqual(theCall);
  });

  it('is a call if a fence with it is the whole reply', () => {
    for (const body of [call, '{"name": "get", "arguments": {"a": 1}}', `\n  ${call}\n${call}`]) {
      const found = read(`\n\`\`\`json\n${body}\n\`\`\`\n`);
      expect(found.text).toBe('');
      expect(found.calls[0]).toMatchObject({ name: 'get', state: 'ok', arguments: { a: 1 } });
    }
    const unknown = `\`\`\`\n${call}\n\`\`\``;
    expect(read(unknown, { isTool: () => false })).toEqual({ text: unknown, reasoning: '', calls: [] });
  });

  it('needs a tool of that name if no tag marks it as a call', () => {
    const isTool = (name: string): boolean => name === 'get';
    for (const [before, after] of [
      ['', ''],
      ['<response>', '</response>'],
      ['<json>\n', '\n</json>'],
    ]) {
      expect(callsOf(`${before}{"name": "get", "arguments": {"a": 1}}${after}`, { isTool })).toEqual(theCall);
      const other = `${before}{"name": "Bob", "arguments": {"a": 1}}${after}`;
      expect(read(other, { isTool })).toEqual({ text: other, reasoning: '', calls: [] });
    }
    expect(callsOf('<tool_call>{"name": "Bob", "arguments": {}}</tool_call>', { isTool })).toEqual([['Bob', 'ok', {}]]);
  });
});

describe('reasoning and invented results', () => {
  it('returns reasoning, and ignores calls in it', () => {
    expect(read(`<think>\nI call ${call}?</think>\n\n${call}done`)).toEqual({
      text: 'done',
      reasoning: `\nI call ${call}?`,
      calls: [expect.objectContaining({ name: 'get' })],
    });
    expect(read('<think>a </thin')).toEqual({ text: '', reasoning: 'a </thin', calls: [] });
  });

  it('drops a result that the model wrote itself, and calls in it', () => {
    const found = read(`${call}\n<tool_response>\n{"content": "${call}"}\n</tool_response>\nIt is 7.`);
    expect(found.text).toBe('It is 7.');
    expect(found.calls).toHaveLength(1);
  });
});

describe('a malformed call', () => {
  it.each([
    ['single quotes', `{'name': 'get', 'arguments': {'a': 1}}`],
    ['a comma too many in the arguments', `{"name": "get", "arguments": {"a": 1, }}`],
    ['a key without quotes', '{name: "get", "arguments": {"a": 1}}'],
    ['a lost comma', '{"name": "get" "arguments": {"a": 1}}'],
    ['a comma too many', '{"name": "get", "arguments": {"a": 1},}'],
    ['a bracket too many', '{"name": "get", "arguments": {"a": 1}}}'],
    ['a fence inside the tags', '```json\n{"name": "get", "arguments": {"a": 1}}\n```'],
    ['two names', '{"name": "get", "name": "other", "arguments": {"a": 1}}'],
    ['words behind it', '{"name": "get", "arguments": {"a": 1}} as asked'],
    ['arguments behind the object', '{"name": "get"}, "arguments": {"a": 1}'],
    ['one brace lost, the name last', '{"arguments": {"a": 1, "name": "get"}'],
  ])('is repaired and marked: %s', (_what, body) => {
    expect(callsOf(`<tool_call>${body}</tool_call>${call}`)).toEqual([['get', 'repaired', { a: 1 }], ...theCall]);
  });

  it('counts as closed if only closing brackets are missing', () => {
    expect(callsOf('<tool_call>{"name": "get", "arguments": {"a": 1}</tool_call>')).toEqual([['get', 'closed', { a: 1 }]]);
    expect(callsOf('<tool_call>{"name": "get", "arguments": {"a": "x"')).toEqual([['get', 'closed', { a: 'x' }]]);
  });

  it('needs no end tag at the end, before another call or before other text', () => {
    const open = '<tool_call>{"name": "get", "arguments": {"a": 1}}';
    expect(callsOf(open)).toEqual(theCall);
    expect(callsOf(`${open}\n${call}`)).toEqual([...theCall, ...theCall]);
    expect(read(`${open}\nDone. </tool_call>`)).toMatchObject({ text: 'Done.', calls: [{ name: 'get', state: 'ok' }] });
    expect(read(`${open}<|im_end|>`)).toMatchObject({ text: '<|im_end|>', calls: [{ name: 'get', state: 'ok' }] });
  });

  it.each([
    ['words', 'get the weather', ''],
    ['no JSON', '{not valid json}', ''],
    ['JSON that is no call', '{"items": [1]}', ''],
    ['a list of other things', '[1, 2]', ''],
    ['no name', '{"arguments": {"a": 1}}', ''],
    ['an empty name', '{"name": "", "arguments": {}}', ''],
    ['a name that is no text', '{"name": 7, "arguments": {}}', ''],
    ['a sum for a value', '{"name": "get", "arguments": {"a": 1/6}}', 'get'],
    ['arguments that are no object', '{"name": "get", "arguments": [1]}', 'get'],
    ['a text for arguments', '{"name": "get", "arguments": "hello"}', 'get'],
  ])('is reported to the model if it cannot be parsed: %s', (_what, body, name) => {
    const found = read(`<tool_call>${body}</tool_call>\n${call}`);
    expect(found.text).toBe('');
    expect(found.calls).toMatchObject([
      { name, state: 'invalid', arguments: null },
      { name: 'get', state: 'ok' },
    ]);
    if (name === '') expect(found.calls[0]?.raw).toBe(body);
  });

  it('is truncated if its text is, and does not run', () => {
    const text = '<tool_call>{"name": "get", "arguments": {"a": 12345, "b": "text"}}';
    for (let at = '<tool_call>{'.length; at < text.length; at++) {
      for (const options of [{ ended: false }, { length: true }]) {
        expect(readWords([text.slice(0, at)], options).calls, text.slice(0, at)).toMatchObject([{ state: 'truncated', arguments: null }]);
      }
    }
    expect(callsOf(`<tool_call>{'name': 'get', 'arguments': {'a': 1}}</tool_call> and`, { length: true })).toEqual([
      ['get', 'truncated', null],
    ]);
    expect(callsOf(`${call} and on and`, { length: true })).toEqual(theCall);
  });

  it('includes the text after an unfinished string, and never runs', () => {
    const found = read(`<tool_call>{"name": "get", "arguments": {"a": "x}}</tool_call>\nand on`);
    expect(found).toMatchObject({ text: '', calls: [{ name: 'get', state: 'truncated' }] });
    expect(found.calls[0]?.raw).toContain('and on');
  });

  it('is ignored if the tags are empty, unless that is the whole reply', () => {
    expect(read(`<tool_call>\n</tool_call>${call}`).calls).toHaveLength(1);
    expect(read('Hm. <tool_call></tool_call>')).toEqual({ text: 'Hm.', reasoning: '', calls: [] });
    expect(read('<tool_call>\n</tool_call>').calls).toMatchObject([{ name: '', state: 'invalid' }]);
    const reader = new TextToolCalls({ isTool: () => true });
    reader.push('<tool_call></tool_call>');
    expect(reader.finish({ ended: true, length: false, hasOtherCalls: true })).toEqual([]);
  });
});

describe('other wrappers', () => {
  it.each([
    '<function_call>{"name": "get", "arguments": {"a": 1}}</function_call>',
    '<function=get>{"a": 1}</function>',
    '<function name="get">\n{"a": 1}\n</function>',
    '<tool_call>\n<function=get>{"a": 1}</function>\n</tool_call>',
    '<TOOL_CALL>{"name": "get", "arguments": {"a": 1}}</TOOL_CALL>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ])('are read as a call: %s', (text) => {
    expect(read(`Look: ${text}\n`)).toMatchObject({ text: 'Look:', calls: [{ name: 'get', state: 'ok', arguments: { a: 1 } }] });
  });

  it('reports calls whose arguments are not in the format of their tags, with the name', () => {
    expect(read('<function=get>\n<other>1</other>\n</function>')).toMatchObject({
      text: '',
      calls: [{ name: 'get', state: 'invalid' }],
    });
  });
});

describe('bounds', () => {
  it('ends a reply with too many calls as an error', () => {
    const reader = new TextToolCalls({ isTool: () => true });
    reader.push(call.repeat(limits.maxCallsPerReply));
    expect(reader.overflowed).toBe(false);
    reader.push(call);
    expect(reader.overflowed).toBe(true);
  });

  it('accepts arguments up to their limit and stores nothing beyond', () => {
    const long = 'x'.repeat(limits.maxArgumentBytes);
    const found = readWords([`<tool_call>{"arguments": {"a": "${long}"}, "name": "get"}</tool_call>`, `${call} on`]);
    expect(found).toMatchObject({ text: 'on', calls: [{ state: 'invalid' }, { state: 'ok' }] });
    expect(readWords([`{"arguments": {"a": "${long}"}, "name": "get"}\n`])).toMatchObject({ calls: [] });
  });

  it('counts the bytes of arguments, not their characters', () => {
    // Two bytes each: fewer characters than the limit, more bytes.
    const long = 'é'.repeat(limits.maxArgumentBytes * 0.6);
    const object = `{"arguments": {"a": "${long}"}, "name": "get"}`;
    expect(readWords([`${object}\n`])).toMatchObject({ text: `${object}\n`, calls: [] });
    expect(readWords([`\`\`\`\n${object}\n\`\`\``])).toMatchObject({ calls: [] });
    expect(readWords([`<tool_call>${object}</tool_call>`])).toMatchObject({ calls: [{ state: 'invalid' }] });
  });
});

describe('a tag that follows one that was not finished', () => {
  it('still counts', () => {
    expect(callsOf(`<｜tool▁call▁begin｜>get${call}`)).toEqual(theCall);
    expect(callsOf(`<function=${call}`)).toEqual(theCall);
  });
});
