/** Writing skills: read from their files by the route, kept whole, published like agents. */
import type { Skill } from '../core/skill.ts';
import { SkillName } from '../core/skill.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { enqueuePublish } from './outbox.ts';
import type { DocumentWriter } from './write-document.ts';

export const skillWriter: DocumentWriter = {
  nameFault: (_context, name) => SkillName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body) => ({
    body,
    commit: (_row, changed) => {
      if (changed) enqueuePublish(context, 'skill', name);
    },
  }),

  prepareRemoval: async (context, name) => () => enqueuePublish(context, 'skill', name),
};

export function readSkill(context: CatalogContext, name: string): Skill {
  // Bodies of skills are what the route read from their files.
  return requireRow(context.sql, 'skill', name).body as Skill;
}
