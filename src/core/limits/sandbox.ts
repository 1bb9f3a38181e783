/**
 * Limits of tools that call tools: made tools, code mode and the shell's `tool` command, of the sandbox that runs
 * the first two, and of shell scripts. Part of `limits` (`core/limits/limits.ts`).
 */
import { KB, MB } from './units.ts';

export const sandboxLimits = {
  // Tools that call tools.
  /** Nesting depth of tools, including the outermost. */
  maxCompositeDepth: 4,
  /** Inner calls that one outermost call makes, including those of nested tools. */
  maxInnerCalls: 100,
  /** The result of one inner call: it may contain a file, and code, unlike a model, needs all of it. */
  maxInnerResultBytes: 4 * MB,
  /** Everything that a call's journal stores until the call has its result. */
  maxJournalBytes: 32 * MB,

  // Made tools.
  maxImplementationBytes: 64 * KB,
  maxMadeParameters: 32,
  /** Tools that one made tool may call. */
  maxMadeUses: 50,

  // The sandbox. It counts fuel because the clock does not advance on the edge while code runs. A unit is about one loop iteration in
  // the engine (2 to 5 ns).
  /** One virtual machine. */
  maxSandboxMemoryBytes: 16 * MB,

  // Shell scripts.
  maxShellCommands: 10_000,
  /** Input of one command, in files and on stdin: no command yields before it has processed all of it. */
  maxShellCommandBytes: 6 * MB,
} as const;
