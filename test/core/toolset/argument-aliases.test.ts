import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutAliases } from '../../../src/core/toolset/arguments/argument-aliases.ts';
import { toStrictSchema } from '../../../src/core/toolset/arguments/strict-schema.ts';
import { EntryArguments } from '../../../src/core/toolset/toolset.ts';

const schema = {
  type: 'object',
  properties: { path: { type: 'string', description: 'The file' }, limit: { type: 'integer' }, offset: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
};
const rules = EntryArguments.parse({
  alias: {
    file_path: 'path',
    filename: { argument: 'path', mode: 'announced' },
    start: { argument: 'offset', mode: 'deprecated' },
    from: { argument: 'offset', mode: 'deprecated', note: 'offset counts lines now' },
  },
});
const read = (args: Record<string, unknown>, given = rules) => withoutAliases(given, toStrictSchema(schema, given), args);

describe('aliases of arguments', () => {
  it('stand for the argument, exactly and in another spelling', () => {
    for (const name of ['file_path', 'filePath', 'FILE-PATH', 'filename', 'fileName'])
      expect(read({ [name]: 'a.txt', limit: 3 }), name).toEqual({ args: { path: 'a.txt', limit: 3 }, issues: [], notes: [] });
  });

  it('never stand for a parameter that the tool has', () => {
    const covering = EntryArguments.parse({ alias: { limit: 'offset', Limit: 'offset' } });
    expect(read({ limit: 3 }, covering).args).toEqual({ limit: 3 });
  });

  it('lead to the shown name of a renamed argument, and do not replace it', () => {
    const renamed = EntryArguments.parse({ rename: { file: 'path' }, alias: { file_path: 'path', file: 'offset', path: 'offset' } });
    expect(read({ file_path: 'a' }, renamed).args).toEqual({ file: 'a' });
    expect(read({ file: 'a' }, renamed).args).toEqual({ file: 'a' });
    // The tool's own name of a renamed argument is accepted, too, and keeps its meaning.
    expect(read({ path: 'a' }, renamed).args).toEqual({ path: 'a' });
  });

  it('are refused beside the argument itself, unless both have the same value', () => {
    expect(read({ path: 'a', file_path: 'b' }).issues).toEqual([
      { path: 'file_path', message: 'is another name of path, which is given too; give one of them' },
    ]);
    expect(read({ filename: 'a', file_path: 'b' }).issues).toHaveLength(1);
    expect(read({ path: 'a', file_path: 'a' })).toEqual({ args: { path: 'a' }, issues: [], notes: [] });
  });

  it('say so in the result when they are deprecated', () => {
    expect(read({ path: 'a', start: 1 }).notes).toEqual(['[The argument start is deprecated: use offset.]']);
    expect(read({ path: 'a', From: 1 }).notes).toEqual(['[The argument from is deprecated: offset counts lines now.]']);
  });

  it('are told to models only when they are announced, and not in toolsets that announce nothing', () => {
    expect(toStrictSchema(schema, rules).properties).toEqual({
      ...schema.properties,
      path: { type: 'string', description: 'The file\nAlso accepted as filename.' },
    });
    expect(toStrictSchema(schema, rules, false)).toBe(schema);
  });

  it('of names that no table has are ordinary names', () => {
    const args = JSON.parse('{"__proto__": 1, "constructor": 2, "": 3}') as Record<string, unknown>;
    expect(Object.keys(read(args).args).toSorted()).toEqual(['', '__proto__', 'constructor']);
  });

  it('lose no value: each one arrives, or there is an issue', () => {
    const names = fc.constantFrom('path', 'file_path', 'filename', 'limit', 'start', 'from', 'offset', 'other', 'filePath');
    fc.assert(
      fc.property(fc.dictionary(names, fc.integer()), (args) => {
        const { args: given, issues } = read(args);
        const arrived = new Set(Object.values(given));
        expect(issues.length > 0 || Object.values(args).every((value) => arrived.has(value))).toBe(true);
      }),
    );
  });
});
