import { describe, expect, it } from 'vitest';
import { argumentFields, parseArgumentText, withArgumentText } from '../../src/console/pages/toolsets/test-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The file' },
    count: { type: 'integer' },
    deep: { type: 'object' },
    mode: { enum: ['a', 'b'] },
    all: { type: 'boolean' },
  },
  required: ['path'],
};

describe('the arguments of a test call', () => {
  it('are fields, in the definition of each provider', () => {
    const definitions = [
      { function: { parameters: schema } },
      { parameters: schema },
      { input_schema: schema },
      { parametersJsonSchema: schema },
    ];
    for (const definition of definitions)
      expect(argumentFields(definition).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
        'path text',
        'count integer',
        'mode choice',
        'all boolean',
      ]);
    expect([argumentFields(null), argumentFields({ text: 'prompt' })]).toEqual([[], []]);
  });

  it('stay one text: fields change its members, and leave out what is empty and optional', () => {
    const [path, count, , all] = argumentFields({ parameters: schema });
    if (path === undefined || count === undefined || all === undefined) throw new Error('The fields are missing.');
    expect(parseArgumentText(withArgumentText({ deep: {} }, path, ''))).toEqual({ deep: {}, path: '' });
    expect(parseArgumentText(withArgumentText({}, count, '3'))).toEqual({ count: 3 });
    expect(parseArgumentText(withArgumentText({}, count, 'x'))).toEqual({ count: 'x' });
    expect(parseArgumentText(withArgumentText({ count: 3 }, count, ''))).toEqual({});
    expect(parseArgumentText(withArgumentText({}, all, true))).toEqual({ all: true });
    expect(parseArgumentText(withArgumentText(JSON.parse('{"__proto__": 1}'), path, 'a'))).toHaveProperty('path', 'a');
    expect([parseArgumentText('{'), parseArgumentText('[]'), parseArgumentText('null')]).toEqual([null, null, null]);
  });
});
