/**
 * Writes skills: parsed from their files at every write, then stored complete. A stored document that is written
 * back contains its files and gets the same result.
 */
import { z } from 'zod';
import { parseInput } from '../../../core/problem.ts';
import { SkillName } from '../../../core/skills/skill.ts';
import type { DocumentWriter } from './write-document.ts';

/** All other fields were parsed from these. */
export const SkillDocument = z.object({
  content: z.string(),
  resources: z.array(z.object({ path: z.string(), text: z.string().optional(), base64: z.string().optional() })).default([]),
});

export const skillWriter: DocumentWriter = {
  nameFault: (_context, name) => SkillName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (_context, name, body) => {
    // Loaded with the first skill, since the YAML parser is large.
    const { readSkill } = await import('../../../formats/read-skill.ts');
    const { skill, warnings } = readSkill(name, parseInput(SkillDocument, body));
    return { body: skill, warnings };
  },
};
