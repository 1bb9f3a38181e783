/**
 * Bounds of tools that call tools: made tools, code mode and the shell's `tool` command, and the sandbox that the first two run in. Read as
 * a part of `limits` (`core/limits.ts`).
 */
import { KB, MB } from './units.ts';

export const sandboxLimits = {
  // Tools that call tools.
  /** Tools beneath one another, the outermost counted. */
  maxCompositeDepth: 4,
  /** Calls that one outermost call makes, those of the tools beneath it included. */
  maxInnerCalls: 100,
  /** Of one inner call: it may carry a file, and code, unlike a model, has to see all of it. */
  maxInnerResultBytes: 4 * MB,
  /** Of all that a call's journal keeps until the call has its result. */
  maxJournalBytes: 32 * MB,
  /** Of an inner call's result, as readers of the log are shown it. */
  shownInnerResultBytes: 2 * KB,
  /** Of its arguments, altogether and each. */
  shownInnerArgumentCharacters: 4 * KB,
  shownInnerValueCharacters: 1 * KB,

  // Made tools.
  maxImplementationBytes: 64 * KB,
  maxMadeParameters: 32,
  /** Shared ones of a workspace, and private ones of one key. */
  maxMadeTools: 500,
  maxPrivateTools: 100,
  /** Tools that one made tool may call. */
  maxMadeUses: 50,

  // What a model is told of the tools that its code may call.
  /** Tokens of all declarations; the other tools are named, and found with `find_tools`. A hundred small tools, or a third of a large server. */
  maxDeclarationsTokens: 6_000,
  /** Tokens of the lines that name tools beyond those. */
  maxNamedToolsTokens: 2_000,
  /** Characters of one declaration. */
  maxDeclarationLength: 2_400,
  /** Schemas that one declaration is read from, so that references cannot multiply it. */
  maxDeclaredParts: 400,
  /** Members of one object. */
  maxDeclaredMembers: 60,
  /** Characters of what is said of a tool, of an argument, and of a tool that is only named. */
  maxDeclaredToolComment: 400,
  maxDeclaredMemberComment: 120,
  maxNamedToolComment: 80,

  // The sandbox. Fuel, because the clock stands still on the edge while code runs. A unit is about one turn of a loop in the engine (2 to 5 ns).
  /** Of one stretch of work, which nothing else interrupts: 2 million turns of a loop in the code, about 200 ms. */
  maxSandboxStretchFuel: 75_000_000,
  /** Of a whole run. */
  maxSandboxFuel: 400_000_000,
  /** The same two bounds in time, where the clock advances: for fuel that takes longer than usual, and for slow machines. */
  maxSandboxStretchMs: 500,
  maxSandboxMs: 2_000,
  /** Work of all machines of an isolate together, after which none works for `sandboxRestMs`, so that others are handled. */
  sandboxTurnFuel: 25_000_000,
  sandboxTurnMs: 125,
  sandboxRestMs: 10,
  /** How long a machine waits for the thread in its whole run, when others use it. */
  maxSandboxTurnWaitMs: 6_000,
  /** Of one virtual machine. */
  maxSandboxMemoryBytes: 16 * MB,
  /** Of one, for calls of its functions: the engine's own stack is 1 MB, and what it takes of the isolate's is more. */
  maxSandboxStackBytes: 256 * KB,
  /** Of all machines of an isolate, which has 128 MB for everything. */
  maxSandboxesMemoryBytes: 64 * MB,
  /** Machines of an isolate at once, as far as their memory goes (1.4 MB at least); more wait for one to end. */
  maxSandboxes: 40,
  /** How long they wait. */
  sandboxQueueMs: 10_000,
  /**
   * Calls that wait for an answer of their MCP client while they are open: each holds its machine meanwhile, so fewer than `maxSandboxes` in an
   * isolate, and shares of that for one workspace and one key, which thus cannot block the others.
   */
  maxOpenQuestions: 30,
  maxOpenQuestionsPerWorkspace: 12,
  maxOpenQuestionsPerKey: 6,
  /** Kept compiled in an isolate: bytecode is two to ten times its source, and all of it beside the machines at work. */
  maxCompiledBytes: 8 * MB,
  /** Arguments of its calls that have no answer yet, together: they stand outside of its machine's memory. Half of the largest file. */
  maxSandboxArgumentBytes: 8 * MB,
  /** Promise jobs of a whole call. */
  maxSandboxJobs: 100_000,
  maxSandboxConsoleBytes: 16 * KB,
  /** Of the value that code returns, as JSON. */
  maxSandboxResultBytes: 1 * MB,
} as const;
