/**
 * Writes skills: parsed from their files at every write, then stored complete. A stored document that is written
 * back contains its files and gets the same result.
 */
import * as z from 'zod';
import { parseInput } from '../../../core/problem.ts';
import { SkillName } from '../../../core/skills/skill.ts';
import { recompileWithSkill } from '../toolsets/toolsets.ts';
import type { DocumentWriter } from './write-document.ts';

/** All other fields were parsed from these. */
export const SkillDocument = z.object({
  content: z.string(),
  resources: z.array(z.object({ path: z.string(), text: z.string().optional(), base64: z.string().optional() })).default([]),
});

export const skillWriter: DocumentWriter = {
  nameFault: (_context, name) => SkillName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body) => {
    // Loaded with the first skill, since the YAML parser is large.
    const { readSkill } = await import('../../../formats/read-skill.ts');
    const { skill, warnings } = readSkill(name, parseInput(SkillDocument, body));
    const recompiled = await recompileWithSkill(context, name, skill);
    return { body: skill, warnings: [...warnings, ...recompiled.warnings], commit: recompiled.commit };
  },

  prepareRemoval: async (context, name) => (await recompileWithSkill(context, name, null)).commit,
};
