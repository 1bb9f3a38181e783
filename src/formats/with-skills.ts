/** Adds the skills of a toolset to its compiled edition (`core/skills/compile-skill.ts`). */
import { once } from '../core/memoize.ts';
import type { Warning } from '../core/problem.ts';
import type { Edition } from '../core/toolset/edition-tool.ts';
import type { KnownTools } from '../core/toolset/known-tools.ts';
import type { Toolset } from '../core/toolset/toolset.ts';

/** Returns the same edition for a toolset without skills. */
export async function withSkills(
  edition: Edition,
  { skills = [] }: Pick<Toolset, 'skills'>,
  known: Pick<KnownTools, 'skill'>,
): Promise<{ edition: Edition; warnings: Warning[] }> {
  if (skills.length === 0) return { edition, warnings: [] };
  const [{ compileSkills }, { readFrontmatter }, { writeYaml }] = await load();
  return await compileSkills(edition, skills, known, { read: readFrontmatter, write: writeYaml });
}

/** Loaded with the first skill, since the YAML parser is large. */
const load = once(() => Promise.all([import('../core/skills/compile-skill.ts'), import('./read-skill.ts'), import('./write-yaml.ts')]));
