/** Bounds of toolsets, editions and skills. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const toolsetLimits = {
  // Toolsets and editions (DESIGN §4).
  maxToolsetEntries: 1000,
  maxAliasesPerEntry: 32,
  maxDescriptionBytes: 2 * KB,
  maxToolsetBytes: 1 * MB,
  maxEditionBytes: 10 * MB,
  maxNotesPerEntry: 20,
  /** Of what a configuration tool tells, as bytes of its JSON: below `maxResultBytes`, so that half of an answer is never dropped. */
  maxConfigurationAnswerBytes: 40 * KB,
  /** Faults of one request to build or change a toolset that are told one by one. */
  maxConfigurationFaults: 20,
  /** A change that can be made again upon what somebody else has stored meanwhile is tried this often. */
  maxLostWrites: 8,
  maxNoteBytes: 500,
  maxSuggestions: 5,
  /** Old names that are told of beneath one text: a model that reads of more has other worries. */
  maxNamesTold: 20,
  /** Characters that a text may grow by when tools are named in it as they are today; beyond that the line beneath must do. */
  maxRewrittenGrowth: 8 * KB,
  /** Differences of two versions of a toolset that are told, all entries together: nobody reads more, and each may be of some kB. */
  maxToldDifferences: 1_000,
  /** Of one kind of advice about a toolset's tools, said one by one; the rest is counted. */
  maxToldAdvice: 20,
  /** What providers are sent of one edition, kept for whoever asks again: each is about as large as the edition. */
  maxKeptReports: 4,
  /** Of one result: more is a result of its own. */
  maxPicks: 50,
  /** Tools above which a toolset's definitions are given on demand: models choose worse among more, and clients stop at 40 or 128. */
  defaultOnDemandAbove: 64,
  /** Answers of one `find_tools`. */
  maxFoundTools: 20,
  defaultFoundTools: 5,
  /**
   * Definitions that a conversation may gather by it. The strictest provider takes 128 tools (`Profile.maxTools`) and would not be sent the
   * last of them, of which nobody would be told: beside these there is room for those always offered, ours and the caller's own.
   */
  maxGatheredTools: 100,
  /** Remembered by a conversation, those included that its plan has no more: as many as a toolset has entries. */
  maxRememberedTools: 1_000,
  /** What `find_tools` is asked, and words of it that are looked for: a sentence or two. */
  maxFindQueryLength: 1_000,
  maxFindQueryWords: 64,
  /** Of one tool as it is found: its description, and how its arguments are told. Those found are sent whole as soon as they can be called. */
  maxFoundDescriptionLength: 300,
  maxFoundArgumentsLength: 600,
  /** Of one tool's description, as far as it is looked through; and of its schema, arguments whose names are. */
  maxIndexedDescriptionLength: 4_000,
  maxIndexedArguments: 100,

  // Skills (DESIGN §8).
  maxSkillFileBytes: 100 * KB,
  maxSkillBytes: 500 * KB,
  maxSkillResources: 200,
  maxSkillPathBytes: 200,
  /** YAML between the two `---` of a `SKILL.md`; a description has 1,024 characters. */
  maxFrontmatterBytes: 16 * KB,
  maxSkillLicenseLength: 500,
  /** Named in `allowed-tools`, and in `requires`. */
  maxSkillTools: 100,
  /** Of a skill's archive, folders and what is left out included. */
  maxZipEntries: 1_000,
  maxAgentSkills: 50,
  skillTtlMs: 5_000,
  /** In an isolate's memory, each up to `maxSkillBytes`: more than one agent can have, or its turns would read all of them each time. */
  maxCachedSkills: 64,
} as const;
