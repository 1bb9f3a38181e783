/**
 * A skill as the workspace keeps it: what its `SKILL.md` says, read once when it is written (`skill-file.ts`), and its resource
 * files (DESIGN §8). What of it a turn is told is `engine/plan-skills.ts`.
 */
import { z } from 'zod';

/** Open Agent Skills: equals the name of its folder. */
export const SkillName = z.string().regex(/^(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/, {
  message: 'must be 1 to 64 of a-z, 0-9 and "-", with no "-" at either end and none doubled',
});

export type Skill = {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  /** Names with their patterns, as written: `Bash(git:*)`. */
  allowedTools?: string[];
  requires?: string[];
  /** Markdown beneath the frontmatter. */
  instructions: string;
  /** Path below the skill's folder → content; bytes that are no UTF-8 text as base64. */
  resources: { path: string; text?: string; base64?: string; bytes: number }[];
};

/** What a turn's plan says of a skill. `unavailable`: names that nothing of the plan's tools answers to. */
export type PlanSkill = { name: string; description: string; unavailable?: string[] };
