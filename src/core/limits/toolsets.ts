/** Limits of toolsets, editions and skills. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const toolsetLimits = {
  // Toolsets and editions (DESIGN §4).
  maxToolsetEntries: 1000,
  maxAliasesPerEntry: 32,
  maxDescriptionBytes: 2 * KB,
  maxToolsetBytes: 1 * MB,
  maxEditionBytes: 10 * MB,
  maxNotesPerEntry: 20,
  /** The result of a configuration tool, as bytes of its JSON: below `maxResultBytes`, so that it is never cut. */
  maxConfigurationAnswerBytes: 40 * KB,
  /** Reported errors of one request to build or change a toolset. */
  maxConfigurationFaults: 20,
  /** Retries of a change that can be applied again after another writer changed the document. */
  maxLostWrites: 8,
  maxNoteBytes: 500,
  maxSuggestions: 5,
  /** Old names listed below one text. */
  maxListedOldNames: 20,
  /** Characters by which a text may grow when tool names in it are replaced; beyond that the names are only listed below it. */
  maxRewrittenGrowth: 8 * KB,
  /** Reported differences of two versions of a toolset, over all entries; each may have several kB. */
  maxReportedDifferences: 1_000,
  /** Reported warnings of one kind about a toolset's tools; the rest is counted. */
  maxReportedWarnings: 20,
  /** Cached provider reports of one edition: each is about as large as the edition. */
  maxCachedReports: 4,
  /** Pointers of one result. */
  maxPicks: 50,
  /**
   * Number of tools above which definitions are loaded on demand: models choose less accurately among more, and clients stop at 40 or
   * 128.
   */
  defaultOnDemandAbove: 64,
  /** Results of one `find_tools`. */
  maxFoundTools: 20,
  defaultFoundTools: 5,
  /**
   * Definitions that a conversation may gather with it. The strictest provider accepts 128 tools (`Profile.maxTools`) and would
   * silently lose the last of them; this leaves space for the tools that are always offered, the injected ones and the caller's own.
   */
  maxGatheredTools: 100,
  /** Tools that a conversation remembers, including those that its plan no longer has: as many as a toolset has entries. */
  maxRememberedTools: 1_000,
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
  maxIndexedArguments: 100,

  // Skills (DESIGN §8).
  maxSkillFileBytes: 100 * KB,
  maxSkillBytes: 500 * KB,
  maxSkillResources: 200,
  maxSkillPathBytes: 200,
  /** YAML between the two `---` of a `SKILL.md`; a description has at most 1,024 characters. */
  maxFrontmatterBytes: 16 * KB,
  maxSkillLicenseLength: 500,
  /** Tools named in `allowed-tools`, and in `requires`. */
  maxSkillTools: 100,
  /** Entries of a skill's archive, including folders and skipped files. */
  maxZipEntries: 1_000,
  maxAgentSkills: 50,
  skillTtlMs: 5_000,
  /**
   * Skills cached in an isolate, each up to `maxSkillBytes`: more than one agent can have, or its turns would load all of them each
   * time.
   */
  maxCachedSkills: 64,
} as const;
