/** Bounds of the shell's scripts. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const shellLimits = {
  // Counts, because a busy script never yields by itself: neither a timer nor a signal stops it.
  maxShellCommands: 10_000,
  /** Of one loop, of awk and jq too; with the commands in them loops of the shell end by those first. */
  maxShellLoops: 100_000,
  /** Of both files together, without what they have in common before and behind: each line of one is compared with each of the other. */
  maxDiffLines: 4_000,
  /** Jumps of one sed, each of which may look at the whole line. */
  maxShellSedJumps: 20_000,
  /** Of an argument of grep, sed, awk, jq or find, and of the right side of `=~`; groups within groups in it. */
  maxShellPatternLength: 4_000,
  maxShellPatternDepth: 100,
  maxShellSourceBytes: 256 * KB,
  /** Also lines of one grep, numbers of one seq, records of one awk. */
  maxShellArrayElements: 100_000,
  /** Of one value; each expansion may copy it. */
  maxShellStringBytes: 4 * MB,
  /** Of each stream, redirections to files counted. */
  maxShellOutputBytes: 16 * MB,
  /** All that its commands read. */
  maxShellInputBytes: 256 * MB,
  /** Of one answer to curl: held in memory, and it has to fit into a file. */
  maxShellDownloadBytes: 8 * MB,
  /** How often a script gives way to others: after so many commands of its loops, so many bytes read, or so long. */
  shellTurnPoints: 64,
  shellTurnBytes: 512 * KB,
  shellTurnMs: 10,
  /** What runs without giving way (one command over a lot of data, a loop in `eval`) is stopped after so many steps, or so long. */
  maxShellSteps: 500_000,
  maxShellStallMs: 1_500,
  /** What the model reads of each stream: head and tail, the middle left out. */
  shownStdoutBytes: 40 * KB,
  shownStderrBytes: 8 * KB,
  /** Long outputs of a session that are kept as files; the oldest give way. */
  maxKeptOutputs: 8,
} as const;
