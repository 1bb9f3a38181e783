/** Bounds of the shell's scripts. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const shellLimits = {
  // Counts, because a busy script never yields by itself: neither a timer nor a signal stops it.
  maxShellCommands: 10_000,
  /** Of one loop; also numbers of one `seq`, lines of one awk or sed. With the commands in them loops end by those first. */
  maxShellLoops: 50_000,
  maxShellSourceBytes: 256 * KB,
  /** Adding to an array copies it. */
  maxShellArrayElements: 10_000,
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
  /** What the model reads of each stream: head and tail, the middle left out. */
  shownStdoutBytes: 40 * KB,
  shownStderrBytes: 8 * KB,
  /** Long outputs of a session that are kept as files; the oldest give way. */
  maxKeptOutputs: 8,
} as const;
