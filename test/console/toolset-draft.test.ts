import { describe, expect, it } from 'vitest';
import {
  aliasText,
  argumentOf,
  isListed,
  withAlias,
  withArgument,
  replaceEntry,
  rowFaults,
  asToolsetDraft,
  withAliases,
  withName,
  withSuggestion,
} from '../../src/console/pages/toolsets/toolset-draft.ts';

const hidden = { name: 'look', mode: 'hidden' as const, note: 'old' };
const draft = {
  tools: [
    { tool: 'a.x', aliases: [hidden, 'see'] },
    { tool: 'b.y', name: 'look' },
  ],
};

describe('the draft of a toolset', () => {
  it('has a tool by its name or by a pattern', () => {
    const listed = (name: string) => isListed({ tools: [{ tool: 'a.x' }, { tool: 'fs.*' }, { tool: 'fs2.read_*' }, { refId: 'f' }] }, name);
    expect(['a.x', 'fs.write', 'fs2.read_file'].map(listed)).toEqual([true, true, true]);
    expect(['a.xy', 'fs', 'fs2.write', '', 'b.x'].map(listed)).toEqual([false, false, false, false, false]);
  });

  it('reads aliases as they are typed, and keeps their modes', () => {
    expect(aliasText(draft.tools[0] ?? {})).toBe('look, see');
    expect(withAliases(draft.tools[0] ?? {}, 'look, watch  ,')).toEqual({ tool: 'a.x', aliases: [hidden, 'watch'] });
    expect(withAliases({ tool: 'a.x', aliases: ['b'] }, '')).toEqual({ tool: 'a.x' });
  });

  it('leaves out an empty name', () => {
    expect([withName({ tool: 'a.x', name: 'n' }, ' '), withName({ tool: 'a.x' }, ' m ')]).toEqual([
      { tool: 'a.x' },
      { tool: 'a.x', name: 'm' },
    ]);
  });

  it('marks both rows of a clash, and offers a free name for each', () => {
    const claims = [
      { tool: 'a.x', name: 'look', entry: 'tools[0]', suggestion: 'a_look' },
      { tool: 'b.y', name: 'look', entry: 'tools[1]', suggestion: 'b_look' },
    ];
    const faults = rowFaults(draft, { conflicts: [{ name: 'look', claims }] });
    expect([...faults]).toEqual([
      [0, { message: '“look” is also claimed by b.y.', clash: 'look', suggestion: 'a_look' }],
      [1, { message: '“look” is also claimed by a.x.', clash: 'look', suggestion: 'b_look' }],
    ]);
    const [first, second] = draft.tools;
    expect(withSuggestion(second ?? {}, { message: '', clash: 'look', suggestion: 'b_look' })).toEqual({ tool: 'b.y', name: 'b_look' });
    expect(withSuggestion(first ?? {}, { message: '', clash: 'see', suggestion: 'watch' })).toEqual({
      tool: 'a.x',
      aliases: [hidden, 'watch'],
    });
  });

  it('reads issues by the path of their row, and nothing from other bodies', () => {
    const body = {
      issues: [
        { path: 'tools[1].name', message: 'is too short' },
        { path: 'description', message: 'is too long' },
      ],
    };
    expect([...rowFaults(draft, body)]).toEqual([[1, { message: 'is too short', clash: null, suggestion: null }]]);
    expect([rowFaults(draft, null).size, rowFaults(draft, 'x').size, rowFaults(draft, { issues: 7 }).size]).toEqual([0, 0, 0]);
  });

  it('takes a document whose tools are objects, and says so of others', () => {
    expect(asToolsetDraft(draft)).toBe(draft);
    for (const value of [null, 7, {}, { tools: 'x' }, { tools: [null] }])
      expect(() => asToolsetDraft(value)).toThrow('"tools" must be a list');
  });

  it('changes the mode and the note of an alias, and nothing else', () => {
    const entry = { tool: 'a.x', aliases: ['look', 'see'] };
    expect(withAlias(entry, { name: 'see', mode: 'hidden' }).aliases).toEqual(['look', { name: 'see', mode: 'hidden' }]);
    expect(withAlias({ ...entry, aliases: [hidden] }, { name: 'look', mode: 'announced', note: '' }).aliases).toEqual(['look']);
  });

  it('renames and sets arguments, and leaves out empty groups', () => {
    const entry = { tool: 'a.x' };
    const renamed = withArgument(entry, { name: 'path', shown: 'file', kind: 'default', value: '10' });
    expect(renamed).toEqual({ tool: 'a.x', arguments: { rename: { file: 'path' }, default: { path: 10 } } });
    expect(argumentOf(renamed, 'path')).toEqual({ name: 'path', shown: 'file', kind: 'default', value: '10' });
    expect(withArgument(renamed, { name: 'path', shown: '', kind: 'model', value: '' })).toEqual(entry);
    for (const [kind, value, stored] of [
      ['secret', 'CI', { secret: 'CI' }],
      ['caller', 'team', { caller: 'team' }],
      ['preset', 'text', 'text'],
      ['preset', '"10"', '10'],
    ] as const) {
      const set = withArgument(entry, { name: 'a', shown: '', kind, value });
      expect(set).toEqual({ tool: 'a.x', arguments: { preset: { a: stored } } });
      expect(argumentOf(set, 'a')).toEqual({ name: 'a', shown: '', kind, value });
    }
  });

  it('keeps the members of arguments that it does not show', () => {
    const entry = { tool: 'a.x', arguments: { alias: { file_path: 'path' }, rename: { file: 'path' } } };
    const changed = withArgument(entry, { name: 'path', shown: '', kind: 'model', value: '' });
    expect(changed).toEqual({ tool: 'a.x', arguments: { alias: { file_path: 'path' } } });
  });

  it('replaces one entry', () => {
    expect(replaceEntry(draft, 1, { tool: 'c.z' }).tools).toEqual([draft.tools[0], { tool: 'c.z' }]);
  });
});
