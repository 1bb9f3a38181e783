/** Bounds of the shell's scripts. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const shellLimits = {
  maxShellCommands: 10_000,
  /** Of one loop, of awk too, and lines of one cut, grep or join; with the commands in them loops of the shell end by those first. */
  maxShellLoops: 300_000,
  /** Of both files together, without what they have in common before and behind: each line of one is compared with each of the other. */
  maxDiffLines: 4_000,
  /** Jumps of one sed, each of which may look at the whole line. */
  maxShellSedJumps: 20_000,
  /** Of one pattern of any command or of the shell itself; groups within groups in it. */
  maxShellPatternLength: 10_000,
  maxShellPatternDepth: 100,
  maxShellSourceBytes: 256 * KB,
  /** Also lines of one grep or awk. */
  maxShellArrayElements: 300_000,
  /** Values in what one jq reads, those within others counted; and steps of its program. */
  maxShellQueryElements: 600_000,
  /** What commands count of their own work (fields, ranges, copies of elements), all together. */
  maxShellWorkUnits: 2_000_000,
  /** What one command is given, in files and on stdin: none of them gives way before it has gone through all of it. */
  maxShellCommandBytes: 6 * MB,
  /** Of one sort by keys, versions or sizes with units. */
  maxShellKeyedSortBytes: 2 * MB,
  /** Of one gzip, which compresses all of it at once. */
  maxShellGzipBytes: 3 * MB,
  /** Of one html-to-markdown, which takes the depth of elements squared. */
  maxShellHtmlBytes: 256 * KB,
  maxShellHtmlDepth: 200,
  /** Of one value; each expansion may copy it. */
  maxShellStringBytes: 4 * MB,
  /** Of each stream, redirections to files counted. */
  maxShellOutputBytes: 16 * MB,
  /** All that its commands read. */
  maxShellInputBytes: 256 * MB,
  /** Of one answer to curl: held in memory, and it has to fit into a file. */
  maxShellDownloadBytes: 8 * MB,
  /** How often a script gives way to others: after so many bytes that it read or worked on, so long, or so much matching. */
  shellTurnBytes: 512 * KB,
  /** What a command counts for besides its bytes. */
  shellPointBytes: 8 * KB,
  shellTurnMs: 20,
  shellTurnMatching: 400_000,
  /**
   * Code that cannot wait stalls the isolate: one match, one jq program, one gzip. Each is bounded to about a second by what it is given
   * (`maxShellCommandBytes`), by its matching, or by these steps. jq steps of unknown length (copies of one long array, again and again) are also
   * stopped by the clock, which a busy machine uses up as well, so it is no shorter. On the edge the clock stands still meanwhile, and the
   * platform's limit of CPU time is the last bound.
   */
  maxShellSteps: 2_000_000,
  maxShellStallMs: 1_500,
  /** Of one match, or of matches between two points: for each character of a text, the places in the pattern that it may stand for. */
  maxShellMatching: 20_000_000,
  /** What the model reads of each stream: head and tail, the middle left out. */
  shownStdoutBytes: 40 * KB,
  shownStderrBytes: 8 * KB,
  /** Long outputs of a session that are kept as files; the oldest give way. */
  maxKeptOutputs: 8,
} as const;
