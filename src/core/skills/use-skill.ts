/**
 * The tool that reads up a skill: its definition, for the toolset that lists it (`tools/use-skill.ts` runs it) and for the turn that is
 * given it because its agent has skills (`engine/plan/plan-names.ts`).
 */
import { z } from 'zod';
import { injectedTool } from '../injected-tool.ts';

export const useSkillName = 'use_skill';

export const useSkillDescription =
  'Reads up a skill: instructions for a kind of job, with the files that belong to it. Call it before you begin a job that one of your skills is about, then follow what it says.';

export const UseSkillInput = z.strictObject({
  name: z.string().min(1).max(200).describe('Name of the skill, as the list of your skills has it'),
});

/** As it is offered to a turn whose toolset does not list it. */
export const useSkillTool = injectedTool(useSkillName, useSkillDescription, UseSkillInput);
export const useSkillCanonical = useSkillTool.canonical;
