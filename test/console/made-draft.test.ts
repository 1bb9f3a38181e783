import { describe, expect, it } from 'vitest';
import { toDefault, toMadeDraft } from '../../src/console/pages/made/made-draft.ts';
import { fileSize, fileText, toSkillFile } from '../../src/console/pages/skills/skill-files.ts';

const made = { createdAt: '', updatedAt: '', version: 1, parameters: [] };

describe('the draft of a made tool', () => {
  it('leaves out the tools that the code names, and keeps a list with others', () => {
    const named = { ...made, implementation: 'await tools.read_file({}); await tools["find"]({})', names: { find: 'docs.search' } };
    const draft = { description: 'd', parameters: [], implementation: named.implementation, names: named.names };
    expect(toMadeDraft({ description: 'd', aliases: [], made: { ...named, uses: ['builtin.read_file', 'docs.search'] } })).toEqual(draft);
    const uses = ['builtin.read_file', 'builtin.bash'];
    expect(toMadeDraft({ description: 'd', aliases: [], made: { ...named, uses } })).toEqual({ ...draft, uses });
  });

  it('keeps plain aliases; aliases with a mode are not part of the document', () => {
    const view = { ...made, implementation: '', uses: [] };
    expect(toMadeDraft({ description: 'd', aliases: ['a1', { name: 'b1', mode: 'hidden' }], made: view }).aliases).toEqual(['a1']);
  });

  it('reads default values as JSON or as text', () => {
    expect([toDefault(''), toDefault('10'), toDefault('ten'), toDefault('["a"]')]).toEqual([undefined, 10, 'ten', ['a']]);
  });
});

describe('the files of a skill', () => {
  it('are text if they are UTF-8 without NUL, and bytes otherwise', () => {
    expect(toSkillFile(new TextEncoder().encode('häß'))).toBe('häß');
    expect(toSkillFile(new Uint8Array([0, 255]))).toEqual({ base64: 'AP8=' });
    expect(toSkillFile(new Uint8Array([97, 0]))).toEqual({ base64: 'YQA=' });
    expect([fileSize('häß'), fileSize({ text: 'ab' }), fileSize({ base64: 'AP8=' })]).toEqual([5, 2, 2]);
    expect([fileText({ text: 'ab' }), fileText({ base64: 'AP8=' })]).toEqual(['ab', null]);
  });
});
