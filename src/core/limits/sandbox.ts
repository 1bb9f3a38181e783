/**
 * Limits of tools that call tools: made tools, code mode and the shell's `tool` command, and of the sandbox that runs the first two.
 * Part of `limits` (`core/limits.ts`).
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
  /** The part of an inner call's result that readers of the log see. */
  shownInnerResultBytes: 2 * KB,
  /** The part of its arguments that they see, in total and each. */
  shownInnerArgumentCharacters: 4 * KB,
  shownInnerValueCharacters: 1 * KB,

  // Made tools.
  maxImplementationBytes: 64 * KB,
  maxMadeParameters: 32,
  /** Shared tools of a workspace, and private tools of one key. */
  maxMadeTools: 500,
  maxPrivateTools: 100,
  /** Tools that one made tool may call. */
  maxMadeUses: 50,

  // The declarations that a model in code mode gets.
  /**
   * Tokens of all declarations; the other tools are named, and found with `find_tools`. A hundred small tools, or a third of a large
   * server.
   */
  maxDeclarationsTokens: 6_000,
  /** Tokens of the lines that name further tools. */
  maxNamedToolsTokens: 2_000,
  /** Characters of one declaration. */
  maxDeclarationLength: 2_400,
  /** Schemas that one declaration is built from, so that references cannot multiply it. */
  maxDeclaredParts: 400,
  /** Members of one object. */
  maxDeclaredMembers: 60,
  /** Characters of the comment on a tool, on an argument, and on a tool that is only named. */
  maxDeclaredToolComment: 400,
  maxDeclaredMemberComment: 120,
  maxNamedToolComment: 80,

  // The sandbox. It counts fuel because the clock does not advance on the edge while code runs. A unit is about one loop iteration in
  // the engine (2 to 5 ns).
  /** One uninterrupted stretch of work: 2 million loop iterations of the code, about 200 ms. */
  maxSandboxStretchFuel: 75_000_000,
  /** A whole run. */
  maxSandboxFuel: 400_000_000,
  /** The same two limits in time, where the clock advances: for fuel that takes longer than usual, and for slow machines. */
  maxSandboxStretchMs: 500,
  maxSandboxMs: 2_000,
  /**
   * Work of all virtual machines of an isolate together, after which all pause for `sandboxRestMs`, so that other requests are
   * handled.
   */
  sandboxSliceFuel: 25_000_000,
  sandboxTurnMs: 125,
  sandboxPauseMs: 10,
  /** The total time that a machine waits for the thread in one run while others use it. */
  maxSandboxSliceWaitMs: 6_000,
  /** One virtual machine. */
  maxSandboxMemoryBytes: 16 * MB,
  /** The stack of one machine for calls of its functions: the engine's own stack is 1 MB, and it uses more of the isolate's. */
  maxSandboxStackBytes: 256 * KB,
  /** All machines of an isolate, which has 128 MB in total. */
  maxSandboxesMemoryBytes: 64 * MB,
  /** Concurrent machines of an isolate, as far as their memory allows (1.4 MB at least); further ones wait for one to end. */
  maxSandboxes: 40,
  /** The maximum wait for a machine. */
  sandboxQueueMs: 10_000,
  /**
   * Calls that stay open while they wait for an answer from their MCP client. Each one holds its machine in the meantime, so the
   * limit is lower than `maxSandboxes` in an isolate, with shares of it per workspace and per key, so that neither can block the
   * others.
   */
  maxOpenQuestions: 30,
  maxOpenQuestionsPerWorkspace: 12,
  maxOpenQuestionsPerKey: 6,
  /**
   * Compiled code cached in an isolate: bytecode is two to ten times the size of its source, and all of it is in addition to the
   * running machines.
   */
  maxCompiledBytes: 8 * MB,
  /** Total arguments of inner calls without a result: they are outside of the machine's memory. Half of the largest file. */
  maxSandboxArgumentBytes: 8 * MB,
  /** Promise jobs of a whole call. */
  maxSandboxJobs: 100_000,
  maxSandboxConsoleBytes: 16 * KB,
  /** The returned value, as JSON. */
  maxSandboxResultBytes: 1 * MB,
} as const;
