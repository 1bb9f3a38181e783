/** Limits of shell scripts. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const shellLimits = {
  maxShellCommands: 10_000,
  /**
   * Iterations of one loop, also in awk, and lines of one cut, grep or join; loops with commands in them reach the command limit
   * first.
   */
  maxShellLoops: 300_000,
  /**
   * Lines of both files together, without their common beginning and end: each line of one is compared with each line of the other.
   */
  maxDiffLines: 4_000,
  /** Jumps of one sed, each of which may scan the whole line. */
  maxShellSedJumps: 20_000,
  /** Characters of one pattern of any command or of the shell itself, and nested groups in it. */
  maxShellPatternLength: 10_000,
  maxShellPatternDepth: 100,
  maxShellSourceBytes: 256 * KB,
  /** Also lines of one grep or awk. */
  maxShellArrayElements: 300_000,
  /** Values in the input of one jq, nested ones included, and steps of its program. */
  maxShellQueryElements: 600_000,
  /** Work units that commands count themselves (fields, ranges, copies of elements), in total. */
  maxShellWorkUnits: 2_000_000,
  /** Input of one command, in files and on stdin: no command yields before it has processed all of it. */
  maxShellCommandBytes: 6 * MB,
  /** Input of one sort by keys, versions or sizes with units. */
  maxShellKeyedSortBytes: 2 * MB,
  /** Input of one gzip, which compresses all of it at once. */
  maxShellGzipBytes: 3 * MB,
  /** Input of one html-to-markdown, whose cost is quadratic in the depth of elements. */
  maxShellHtmlBytes: 256 * KB,
  maxShellHtmlDepth: 200,
  /** One value; each expansion may copy it. */
  maxShellStringBytes: 4 * MB,
  /** Each stream, including redirections to files. */
  maxShellOutputBytes: 16 * MB,
  /** Everything that the commands of a script read. */
  maxShellInputBytes: 256 * MB,
  /** One response to curl: held in memory, and it must fit in a file. */
  maxShellDownloadBytes: 8 * MB,
  /** How often a script yields: after this many bytes read or processed, this much time, or this much matching. */
  shellYieldBytes: 512 * KB,
  /** The fixed cost of a command, in addition to its bytes. */
  shellYieldCostBytes: 8 * KB,
  shellTurnMs: 20,
  shellTurnMatching: 400_000,
  /**
   * Synchronous work blocks the isolate: one match, one jq program, one gzip. Each is limited to about a second by its input
   * (`maxShellCommandBytes`), by its matching, or by these steps. jq steps of unknown cost (repeated copies of one long array) are
   * also stopped by the clock, which a busy machine uses up as well, so the time limit is not shorter. On the edge the clock does not
   * advance during such work, and the platform's CPU limit is the last bound.
   */
  maxShellSteps: 2_000_000,
  maxShellStallMs: 1_500,
  /**
   * One match, or matches between two yield points: for each character of a text, the positions in the pattern that it may match.
   */
  maxShellMatching: 20_000_000,
  /** The part of each stream that the model sees: head and tail, without the middle. */
  shownStdoutBytes: 40 * KB,
  shownStderrBytes: 8 * KB,
  /** Long outputs of a session that are stored as files; the oldest are deleted. */
  maxStoredOutputs: 8,
} as const;
