/** The skills of a toolset, as its edition has them. `core/skills/compile-skill.ts` makes them of stored ones. */

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

/** `path`: relative to the skill's folder. Bytes that are not plain UTF-8 text are base64. */
export type SkillResource = { path: string; bytes: number; text?: string; base64?: string };

export type StoredSkill = SkillFields & {
  /** `SKILL.md` unchanged. */
  content: string;
  /** Sorted by path, without duplicates. */
  resources: SkillResource[];
};

/** `sha256:` and the hash of the bytes, in lower-case hex. */
type Digested = { digest: string };

/** `content`: with the tool names of the edition. `frontmatter`: all fields of it, as JSON. `digest`, `bytes`: of `SKILL.md`. */
export type EditionSkill = Omit<StoredSkill, 'resources'> &
  Digested & { bytes: number; frontmatter: Record<string, unknown>; resources: (SkillResource & Digested)[] };
