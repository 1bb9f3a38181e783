/**
 * A skill as the workspace stores it: the fields of its `SKILL.md`, parsed when it is written (`skill-file.ts`), and its resource
 * files (DESIGN §8). `engine/plan/plan-skills.ts` selects what a turn gets.
 */
import { z } from 'zod';

/** Open Agent Skills (agentskills.io/specification, "name"): equals the name of its folder. */
export const SkillName = z.string().regex(/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, {
  message: 'must be 1 to 64 of a-z, 0-9 and "-", with no "-" at either end and none doubled',
});

/** The frontmatter fields that we use. Other fields remain in `content`. */
export type SkillFields = {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  /** Names with their patterns, unchanged: `Bash(git:*)`. */
  allowedTools?: string[];
  requires?: string[];
};

export type Skill = SkillFields & {
  /** `SKILL.md` unchanged. */
  content: string;
  /** Sorted by path, without duplicates. */
  resources: SkillResource[];
};

/** `path`: relative to the skill's folder. Bytes that are not plain UTF-8 text are base64. */
export type SkillResource = { path: string; bytes: number; text?: string; base64?: string };

/** A skill in the plan of a turn. `unavailable`: tool names that no tool of the plan matches. */
export type PlanSkill = { name: string; description: string; unavailable?: string[] };

/** The folder in which a turn's file tools find the resources of its skills. */
export const skillsFolder = '/skills';

export function skillFolder(name: string): string {
  return `${skillsFolder}/${name}`;
}
