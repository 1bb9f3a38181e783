/**
 * Writing skills: read anew from their files at every write, whichever way these came, then kept whole and published like agents. A
 * stored document that is written back says its files, too, and gets the same verdict.
 */
import { z } from 'zod';
import { parseDocument } from '../core/issues.ts';
import type { Skill } from '../core/skills/skill.ts';
import { SkillName } from '../core/skills/skill.ts';
import { readSkill } from '../skills/read-skill.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { enqueuePublish } from './outbox.ts';
import type { DocumentWriter } from './write-document.ts';

/** What else a document has was read from these. */
export const SkillDocument = z.object({
  content: z.string(),
  resources: z.array(z.object({ path: z.string(), text: z.string().optional(), base64: z.string().optional() })).default([]),
});

export const skillWriter: DocumentWriter = {
  nameFault: (_context, name) => SkillName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body) => {
    const { skill, warnings } = readSkill(name, parseDocument(SkillDocument, body));
    return {
      body: skill,
      warnings,
      commit: (_row, changed) => {
        if (changed) enqueuePublish(context, 'skill', name);
      },
    };
  },

  prepareRemoval: async (context, name) => () => enqueuePublish(context, 'skill', name),
};

export function readSkillRow(context: CatalogContext, name: string): Skill {
  // Bodies of skills were read from their files when they were written.
  return requireRow(context.sql, 'skill', name).body as Skill;
}
