/** Limits of toolsets, editions and skills. Part of `limits` (`core/limits/limits.ts`). */
import { KB } from './units.ts';

export const toolsetLimits = {
  // Toolsets and editions (contract §4).
  maxToolsetEntries: 1000,
  maxToolsetSkills: 50,
  maxAliasesPerEntry: 32,
  /** Revoked tools of a toolset: readers of its pointer get all of them. */
  maxRevokedTools: 1000,
  /** Retired versions of a toolset, for the same reason. */
  maxRetiredVersions: 10_000,
  /** Names in the name map of a toolset. */
  maxNameMapEntries: 500,
  maxDescriptionBytes: 2 * KB,
  maxNotesPerEntry: 20,
  /** The result of a configuration tool, as bytes of its JSON: below `maxResultBytes`, so that it is never cut. */
  maxConfigurationAnswerBytes: 40 * KB,
  maxNoteBytes: 500,
  maxSuggestions: 5,
  /** Reported warnings of one kind about a toolset's tools; the rest is counted. */
  maxReportedWarnings: 20,
  /**
   * Number of tools above which definitions are loaded on demand: models choose less accurately among more, and clients stop at 40 or 128.
   */
  defaultOnDemandAbove: 64,
  /** Results of one `find_tools`. */
  maxFoundTools: 20,
  /**
   * Definitions that a conversation may gather with it. The strictest provider accepts 128 tools (`Profile.maxTools`) and would
   * silently lose the last of them; this leaves space for the tools that are always offered, the injected ones and the caller's own.
   */
  maxGatheredTools: 100,
  /** The query of `find_tools`, and the number of its words that are searched for: a sentence or two. */
  maxFindQueryLength: 1_000,
  maxFindQueryWords: 64,
  /**
   * One found tool in the result: its description, and the description of its arguments. The complete definitions are sent once the
   * tools can be called.
   */
  maxFoundDescriptionLength: 300,
  maxFoundArgumentsLength: 600,
  /** The searched part of a tool's description, and the number of arguments whose names are searched. */
  maxIndexedDescriptionLength: 4_000,

  // Skills (contract §8).
  maxSkillFileBytes: 100 * KB,
  maxSkillBytes: 500 * KB,
  maxSkillResources: 200,
  maxSkillPathBytes: 200,
  /** YAML between the two `---` of a `SKILL.md`; a description has at most 1,024 characters. */
  maxFrontmatterBytes: 16 * KB,
} as const;
