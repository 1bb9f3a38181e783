/**
 * The tool that loads a skill: its definition, for toolsets that list it (`tools/use-skill.ts` runs it) and for turns that get it
 * because their agent has skills (`engine/plan/plan-names.ts`).
 */
import { z } from 'zod';
import { injectedTool } from '../tools/injected-tool.ts';

export const useSkillName = 'use_skill';

export const useSkillDescription =
  'Loads a skill: instructions for a kind of task, with the files that belong to it. Call it before you start a task that matches one of your skills, then follow the instructions.';

export const UseSkillInput = z.strictObject({
  name: z.string().min(1).max(200).describe('Name of the skill, as in the list of your skills'),
});

/** The definition for a turn whose toolset does not list it. */
export const useSkillTool = injectedTool(useSkillName, useSkillDescription, UseSkillInput);
export const useSkillCanonical = useSkillTool.canonical;
