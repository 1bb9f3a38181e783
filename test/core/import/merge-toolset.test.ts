/** Merges of toolsets and other documents, with the values themselves as marks. */
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/hash.ts';
import { marksOf, mergeRecord, withKeyedTools, withListedTools } from '../../../src/core/import/merge-document.ts';
import { mergeToolset, withFreeNames } from '../../../src/core/import/merge-toolset.ts';
import type { Json } from '../../../src/core/json/wire-value.ts';

const none = { byPattern: new Set<string>(), excluded: new Set<string>() };

function merge(base: Json | null, theirs: Json, ours: Json, read: Partial<typeof none> | null = null) {
  const [given, stored] = [withKeyedTools(theirs), withKeyedTools(ours)];
  const context = { mark: canonicalJson, kept: [], skipped: [], shown: { theirs: given, ours: stored } };
  const marks = base === null ? undefined : marksOf(withKeyedTools(base), canonicalJson);
  const merged =
    read === null ? mergeRecord(context, marks, given, stored) : mergeToolset(context, marks, given, stored, { ...none, ...read });
  const paths = (parts: readonly { path: string }[]): string[] => parts.map(({ path }) => path);
  return { merged: withListedTools(merged), kept: paths(context.kept), skipped: paths(context.skipped) };
}

describe('a merge of a document', () => {
  const base = { url: 'https://a.example.com', headers: { one: '1', two: '2' }, args: ['x'] };

  it('takes what only the file changed, and removes what only the file removed', () => {
    const theirs = { url: 'https://b.example.com', headers: { one: '1' }, args: ['y'] };
    expect(merge(base, theirs, { ...base, trusted: true })).toEqual({ merged: { ...theirs, trusted: true }, kept: [], skipped: [] });
  });

  it('keeps what was changed or removed here, and names it', () => {
    const ours = { url: 'https://mine.example.com', headers: { one: 'mine' }, args: ['x'] };
    const theirs = { ...base, headers: { ...base.headers, three: '3' } };
    expect(merge(base, theirs, ours)).toEqual({
      merged: { ...ours, headers: { one: 'mine', three: '3' } },
      kept: ['url', 'headers.one', 'headers.two'],
      skipped: [],
    });
  });

  it('names a member that the file removed although it was changed here', () => {
    expect(merge({ ...base, note: 'a' }, base, { ...base, note: 'b' })).toEqual({
      merged: { ...base, note: 'b' },
      kept: ['note'],
      skipped: [],
    });
  });

  it('without earlier marks keeps everything that is stored, and adds the rest', () => {
    expect(merge(null, base, { url: 'https://mine.example.com', cwd: '/' })).toEqual({
      merged: { url: 'https://mine.example.com', cwd: '/', headers: base.headers, args: base.args },
      kept: ['url'],
      skipped: [],
    });
  });

  it('does nothing when the file and what is stored are as before', () => {
    expect(merge(base, base, base)).toEqual({ merged: base, kept: [], skipped: [] });
  });
});

describe('a merge of a toolset', () => {
  const entries = (...tools: (string | object)[]) => ({ tools: tools.map((tool) => (typeof tool === 'string' ? { tool } : tool)) });
  const all = (...tools: string[]) => ({ byPattern: new Set(tools) });

  it('keeps names, aliases and notes that were set here', () => {
    const mine = { tool: 'a.read', name: 'look', aliases: ['peek'], notes: [{ name: 'when', note: 'First.' }] };
    const { merged, kept } = merge(entries('a.read'), entries({ tool: 'a.read', approval: 'never' }), entries(mine), {});
    expect([merged, kept]).toEqual([entries({ ...mine, approval: 'never' }), ['tools (a.read)']]);
  });

  it('adds a new server, also one whose tools are not known yet', () => {
    const { merged } = merge(entries('a.read'), entries('a.read', 'b.*'), entries('a.read'), all('a.read', 'b.*'));
    expect(merged).toEqual(entries('a.read', 'b.*'));
  });

  it('takes out what the file gave before and leaves out now, unless it was changed here', () => {
    const before = entries('a.read', 'a.write', 'a.drop', 'b.list');
    const stored = entries('a.read', { tool: 'a.write', name: 'save' }, 'a.drop', 'a.own', 'b.list');
    const { merged, kept } = merge(before, entries('a.read'), stored, {});
    // `b` may be of another file, and `a.own` was added here.
    expect(merged).toEqual(entries('a.read', { tool: 'a.write', name: 'save' }, 'a.own', 'b.list'));
    expect(kept).toEqual(['tools (a.*)', 'tools (b.*)']);
    expect(merge(before, entries('a.read'), entries('a.read', 'a.drop'), all('a.read')).merged).toEqual(entries('a.read', 'a.drop'));
  });

  it('leaves a tool out that was taken out here', () => {
    const { merged, kept } = merge(entries('a.read', 'a.write'), entries('a.read', 'a.write'), entries('a.read'), all('a.read', 'a.write'));
    expect([merged, kept]).toEqual([entries('a.read'), ['tools (a.*)']]);
  });

  it('adds new tools of a server only if no tool of it was taken out', () => {
    const theirs = entries('a.new', 'a.read', 'a.write');
    const read = all('a.new', 'a.read', 'a.write');
    expect(merge(entries('a.read', 'a.write'), theirs, entries('a.read', 'a.write'), read).merged).toEqual(
      entries('a.read', 'a.write', 'a.new'),
    );
    expect(merge(entries('a.read', 'a.write'), theirs, entries('a.read'), read).merged).toEqual(entries('a.read'));
    expect(merge(null, theirs, entries('a.read'), read).merged).toEqual(entries('a.read'));
  });

  it('adds single tools that the file lists, also without earlier marks', () => {
    expect(merge(null, entries('a.read', 'a.write'), entries('a.read'), {}).merged).toEqual(entries('a.read', 'a.write'));
  });

  it('never removes a tool that another file gave, unless this file excludes it', () => {
    const ours = entries('a.read', 'b.read');
    expect(merge(entries('b.read'), entries('b.read'), ours, {})).toEqual({ merged: ours, kept: [], skipped: [] });
    expect(merge(entries('a.read', 'b.read'), entries('b.read'), ours, {})).toMatchObject({ merged: ours, kept: ['tools (a.*)'] });
    const excluded = new Set(['a.read']);
    expect(merge(entries('a.read', 'b.read'), entries('b.read'), ours, { excluded }).merged).toEqual(entries('b.read'));
    const edited = entries({ tool: 'a.read', name: 'look' }, 'b.read');
    expect(merge(entries('a.read', 'b.read'), entries('b.read'), edited, { excluded })).toMatchObject({
      merged: edited,
      kept: ['tools (a.*)'],
    });
  });

  it('does not give a tool of the file a name that a stored entry has', () => {
    const ours = entries({ tool: 'a.read', name: 'look', aliases: ['peek'] });
    const theirs = entries('a.read', 'b.look', { tool: 'b.write', aliases: ['peek', 'put'] });
    const { merged, kept, skipped } = merge(entries('a.read'), theirs, ours, {});
    expect(merged).toEqual({ tools: [...ours.tools, { tool: 'b.write', aliases: ['put'] }] });
    expect([kept, skipped]).toEqual([['tools (a.read)'], ['tools (b.look)', 'tools (b.write).aliases']]);
  });
});

it('leaves out the second use of an alias, and an alias that is the own name of another tool', () => {
  const tools = [
    { tool: 'a.read', aliases: ['look', 'see'] },
    { tool: 'b.read', aliases: ['Look', 'view', 'write'] },
    { tool: 'b.write', name: 'see' },
  ];
  const skipped: { path: string; reason: string }[] = [];
  expect(withFreeNames(skipped, tools, new Set())).toEqual([tools[0], { tool: 'b.read', aliases: ['view'] }, { tool: 'b.write' }]);
  expect(skipped).toEqual([
    { path: 'tools (b.read).aliases', reason: '"Look" is a name of a.read' },
    { path: 'tools (b.read).aliases', reason: '"write" is a name of b.write' },
    { path: 'tools (b.write).name', reason: '"see" is a name of a.read' },
  ]);
});
