/** `/console/skills/{name?}`: the list of skills, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { SkillEditor } from './skill-editor.tsx';

export function SkillsPage({ id }: ViewProps) {
  if (id !== null) return <SkillEditor key={id} name={id} />;
  return (
    <DocumentList
      view="skills"
      title="Skills"
      about="A skill is a folder with instructions for a kind of task. Agents load its text when they need it."
      noun="skill"
      empty="No skills yet. Create one: name it, then write its SKILL.md or upload a zip archive."
      example="release-notes"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/skills', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, description, resources, version, requires = [] }) => ({
            ...{ name, description },
            facts: [
              ...(requires.length > 0 ? [`needs ${requires.join(', ')}`] : []),
              ...(resources.length > 0 ? [`${resources.length} files`] : []),
              `version ${version}`,
            ].join(', '),
          })),
        };
      }}
    />
  );
}
