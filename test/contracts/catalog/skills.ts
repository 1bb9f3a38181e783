/** The contract of skills: parsed when they are written, complete for turns. */
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function skillsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('skills', () => {
    const content = (description: string) =>
      `---\nname: git\ndescription: ${description}\nallowed-tools: Bash(git:*) Read\n---\nUse \`bash\`.`;
    const resources = [
      { path: 'refs/b.md', text: 'Text.' },
      { path: 'a.bin', base64: 'AP8=' },
    ];

    it('are parsed from their files when written, and complete for turns', async () => {
      const { document, created } = await catalog.put('skill', 'git', { content: content('Uses git.'), resources });
      expect({ created, version: document.version }).toEqual({ created: true, version: 1 });
      const skill = {
        name: 'git',
        description: 'Uses git.',
        allowedTools: ['Bash(git:*)', 'Read'],
        content: content('Uses git.'),
        resources: [
          { path: 'a.bin', bytes: 2, base64: 'AP8=' },
          { path: 'refs/b.md', bytes: 5, text: 'Text.' },
        ],
      };
      expect(await directory.skill(workspace, 'git')).toEqual(skill);
      expect((await catalog.get('skill', 'git')).body).toEqual(skill);
      expect((await catalog.list('skill', { limit: 10 })).items.map(({ name }) => name)).toEqual(['git']);
      // The shown document can be written back: the same version.
      expect(await catalog.put('skill', 'git', document.body)).toMatchObject({ changed: false, document: { version: 1 } });
    });

    it('are seen changed and removed at once by the caller that did it', async () => {
      await expect(directory.skill(workspace, 'git')).rejects.toMatchObject({ code: 'not_found' });
      await catalog.put('skill', 'git', { content: content('Uses git.') });
      await catalog.put('skill', 'git', { content: content('Uses git well.') });
      expect((await directory.skill(workspace, 'git')).description).toBe('Uses git well.');
      await catalog.remove('skill', 'git');
      await expect(directory.skill(workspace, 'git')).rejects.toMatchObject({ code: 'not_found' });
      await expect(catalog.get('skill', 'git')).rejects.toMatchObject({ code: 'not_found' });
      expect(await catalog.put('skill', 'git', { content: content('Uses git.') })).toMatchObject({
        created: true,
        document: { version: 4 },
      });
    });

    it('that are invalid are rejected at their path, and leave the stored version', async () => {
      await catalog.put('skill', 'git', { content: content('Uses git.') });
      for (const [body, path] of [
        [{ content: 'No frontmatter.' }, 'SKILL.md'],
        [{ content: content('Uses git.').replace('name: git', 'name: other') }, 'SKILL.md: name'],
        [{ content: content('Uses git.'), resources: [{ path: '../x', text: '' }] }, 'resources.../x'],
        [{}, 'content'],
      ] as const) {
        const problem = await refusal(catalog.put('skill', 'git', body));
        expect(problem).toMatchObject({ code: 'invalid_request', extra: { issues: [expect.objectContaining({ path })] } });
      }
      await expect(catalog.put('skill', 'Git', { content: content('Uses git.') })).rejects.toMatchObject({ code: 'invalid_request' });
      expect((await catalog.get('skill', 'git')).version).toBe(1);
    });
  });
}
