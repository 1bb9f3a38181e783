import { expect, it } from 'vitest';
import { type Suggestion, withDismissed, withLearned } from '../../src/console/pages/toolsets/learn-draft.ts';

const suggestion = (own: Partial<Suggestion>): Suggestion => ({
  ...{
    name: 'DoMaths',
    tool: 'a.reckon',
    argument: null,
    alias: 'domaths',
    seen: 2,
    contrary: 0,
    models: [],
    agents: [],
    isNoteOnly: false,
    preview: { found: 0, broken: 0 },
    examples: [],
  },
  ...own,
});
const draft = { tools: [{ tool: 'a.*' }, { tool: 'b.read', arguments: { rename: { file: 'path' } } }] };

it('writes a learned name into the map of names, and leaves the entries as they are', () => {
  expect(withLearned(draft, suggestion({}))).toEqual({ ...draft, nameMap: { domaths: 'a.reckon' } });
});

it('writes a learned argument into the entry of the tool, or a new one beside its pattern', () => {
  const ofEntry = withLearned(draft, suggestion({ tool: 'b.read', argument: 'path', alias: 'file_path' }));
  expect(ofEntry.tools[1]).toEqual({ tool: 'b.read', arguments: { rename: { file: 'path' }, alias: { file_path: 'path' } } });
  const ofPattern = withLearned(draft, suggestion({ argument: 'expression', alias: 'formula' }));
  expect(ofPattern.tools.at(-1)).toEqual({ tool: 'a.reckon', arguments: { alias: { formula: 'expression' } } });
});

it('remembers what was dismissed, an argument with its tool', () => {
  const once = withDismissed(draft, suggestion({}));
  expect(withDismissed(once, suggestion({ name: 'formula', argument: 'expression' })).dismissed).toEqual(['DoMaths', 'a.reckon#formula']);
});
