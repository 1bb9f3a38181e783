/**
 * A skill as the workspace keeps it: what its `SKILL.md` says, read when it is written (`skill-file.ts`), and its resource
 * files (DESIGN §8). What of it a turn is told is `engine/plan/plan-skills.ts`.
 */
import { z } from 'zod';

/** Open Agent Skills (agentskills.io/specification, "name"): equals the name of its folder. */
export const SkillName = z.string().regex(/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, {
  message: 'must be 1 to 64 of a-z, 0-9 and "-", with no "-" at either end and none doubled',
});

/** What the frontmatter says, as far as we read it. Its other fields stay in `content`. */
export type SkillFields = {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  /** Names with their patterns, as written: `Bash(git:*)`. */
  allowedTools?: string[];
  requires?: string[];
};

export type Skill = SkillFields & {
  /** `SKILL.md` as it was given. */
  content: string;
  /** Sorted by path; no two are one file. */
  resources: SkillResource[];
};

/** `path`: below the skill's folder. Bytes that are no plain UTF-8 text stand as base64. */
export type SkillResource = { path: string; bytes: number; text?: string; base64?: string };

/** What a turn's plan says of a skill. `unavailable`: names that nothing of the plan's tools answers to. */
export type PlanSkill = { name: string; description: string; unavailable?: string[] };

/** Where the file tools of a turn find the resources of its skills. */
export const skillsFolder = '/skills';

export function skillFolder(name: string): string {
  return `${skillsFolder}/${name}`;
}
