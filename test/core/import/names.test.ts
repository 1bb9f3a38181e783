/** Legal names for the documents of imports. */
import { describe, expect, it } from 'vitest';
import { ImportDraft } from '../../../src/core/import/draft.ts';
import { type ImportedKind, legalAlias, legalName } from '../../../src/core/import/names.ts';
import { ServerName } from '../../../src/core/servers/server.ts';
import { SkillName } from '../../../src/core/skills/skill.ts';

const long = 'Our Company Wide Product Documentation Server ';

describe('a name that is too long', () => {
  it.each<[ImportedKind, number]>([
    ['servers', 32],
    ['providers', 32],
    ['toolsets', 50],
    ['agents', 50],
    ['skills', 64],
    ['tools', 69],
    ['modelAliases', 128],
  ])('of %s differs from one with the same beginning, and is the same each time', (kind, most) => {
    const [one, other] = [legalName(kind, `${long.repeat(4)}one`), legalName(kind, `${long.repeat(4)}two`)];
    expect(one).not.toBe(other);
    expect([one.length <= most, legalName(kind, `${long.repeat(4)}one`)]).toEqual([true, one]);
  });

  it('is legal', () => {
    for (const written of [`${long}one`, `${'a-'.repeat(12)}a ${long}`, '1'.repeat(80)]) {
      expect(ServerName.safeParse(legalName('servers', written)).success).toBe(true);
      expect(SkillName.safeParse(legalName('skills', written.repeat(3))).success).toBe(true);
    }
    expect(legalAlias(`${long.repeat(3)}one`)).not.toBe(legalAlias(`${long.repeat(3)}two`));
  });

  it('is reported as shortened, and one that two have as such', () => {
    const draft = new ImportDraft();
    for (const name of [`${long}one`, `${long}two`, 'Docs', 'docs'])
      draft.add('servers', name, { kind: 'mcp', url: 'https://a.example.com' });
    const { project, warnings } = draft.result('claude');
    expect(warnings.map(({ message }) => / is (.*?):/.exec(message)?.[1])).toEqual([
      'too long and was shortened',
      'too long and was shortened',
      'not a legal name',
      'the name of two',
    ]);
    expect(Object.keys(project.servers ?? {})).toContain(legalName('servers', `${long}two`));
  });
});
