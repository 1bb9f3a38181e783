import { describe, expect, it } from 'vitest';
import { argumentFields, withArgumentText } from '../../src/console/pages/toolsets/test-arguments.ts';
import { recordIn } from '../../src/console/text/json.ts';

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
    expect(recordIn(withArgumentText({ deep: {} }, path, ''))).toEqual({ deep: {}, path: '' });
    expect(recordIn(withArgumentText({}, count, '3'))).toEqual({ count: 3 });
    expect(recordIn(withArgumentText({}, count, 'x'))).toEqual({ count: 'x' });
    expect(recordIn(withArgumentText({ count: 3 }, count, ''))).toEqual({});
    expect(recordIn(withArgumentText({}, all, true))).toEqual({ all: true });
    expect(recordIn(withArgumentText(JSON.parse('{"__proto__": 1}'), path, 'a'))).toHaveProperty('path', 'a');
    expect([recordIn('{'), recordIn('[]'), recordIn('null')]).toEqual([null, null, null]);
  });
});
