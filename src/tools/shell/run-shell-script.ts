/** Runs one script in a new interpreter, over an overlay of the session's files. `bash.ts` turns the outcome into a result. */
import { Bash } from 'just-bash/browser';
import { collectParts, isRecord, type Json } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { workspace } from '../../core/text/path.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { wrapCommands } from './wrap-commands.ts';
import { ToolFault } from '../define-tool.ts';
import { createIdleTimeout, type IdleTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { isolateThreadShare } from '../../platform/thread-share.ts';
import { createBashFileSystem } from './file-system.ts';
import { createShellFetch, wget } from './network.ts';
import { duringScript } from './interpreter-hooks.ts';
import { createPatternBudget } from './pattern-budget.ts';
import { createToolCommand } from './tool-command.ts';
import { truncate } from './truncate.ts';
import { createTimeSlices, type TimeSlices } from './time-slices.ts';
import { KB, MB } from '../../core/limits/units.ts';

/**
 * Iterations of one loop, also in awk, and lines of one cut, grep or join; loops with commands in them reach the command limit
 * first.
 */
const maxShellLoops = 300_000;
/** Jumps of one sed, each of which may scan the whole line. */
const maxShellSedJumps = 20_000;
const maxShellSourceBytes = 256 * KB;
/** Also lines of one grep or awk. */
const maxShellArrayElements = 300_000;
/** Values in the input of one jq, nested ones included, and steps of its program. */
const maxShellQueryElements = 600_000;
/** Work units that commands count themselves (fields, ranges, copies of elements), in total. */
const maxShellWorkUnits = 2_000_000;
/** One value; each expansion may copy it. */
const maxShellStringBytes = 4 * MB;
/** Each stream, including redirections to files. */
const maxShellOutputBytes = 16 * MB;
/** Everything that the commands of a script read. */
const maxShellInputBytes = 256 * MB;

type Script = { command: string; directory: string; scratch: string; timeoutMs: number };

/** `stopped`: why the script was stopped, or null if it ended by itself. `why`: explains `stalled`. */
export type ScriptEnd = { stdout: string; stderr: string; exitCode: number; stopped: Stop | null; why?: string };
type Stop = 'timeout' | 'stalled' | 'suspended';

export async function runShellScript(script: Script, files: FileSystem, context: ToolContext): Promise<ScriptEnd> {
  const { timeoutMs } = script;
  const stop = new AbortController();
  let stopped: Stop | null = null;
  let why: string | undefined;
  const end = (how: Stop, reason?: string): void => {
    if (stopped === null) why = reason;
    stopped ??= how;
    stop.abort(new Error(`stopped: ${how}`));
  };
  // The script's own time: it stops while the script waits for a tool call.
  const time = createIdleTimeout(systemClock, { idleMs: timeoutMs, keepsRemaining: true });
  time.start(() => end('timeout'));
  const patterns = createPatternBudget();
  const share = isolateThreadShare(context.owner, Number.POSITIVE_INFINITY);
  const turns = createTimeSlices({ patterns, signal: stop.signal, stalled: (reason) => end('stalled', reason), share });
  const during: Course['during'] = (work) => time.pauseDuring(turns.wait(work));
  const shell = createShell(script, files, context, { end, during, turns });
  try {
    // Runs in a subshell, because only there the interpreter survives a redirection that cannot be opened (no space left, a file in the
    // path): the script still ends, but its output until then is retained.
    const signal = AbortSignal.any([context.signal, stop.signal]);
    const ended = await duringScript(turns, patterns, () => shell.exec(`(\n${script.command}\n)`, { signal }));
    // Checked for the last statement: no yield point follows it.
    const trouble = patterns.exceededReason();
    if (trouble !== null) end('stalled', trouble);
    return { stdout: ended.stdout, stderr: ended.stderr, exitCode: ended.exitCode, stopped, ...(why !== undefined && { why }) };
  } catch (error) {
    if (stopped === null || error instanceof ToolFault) throw error;
    // The output is lost with the interpreter, which does not support this kind of end.
    return { stdout: '', stderr: '', exitCode: 126, stopped, ...(why !== undefined && { why }) };
  } finally {
    time.stop();
    context.compute?.spend(turns.seconds());
  }
}

/** The interpreter's timeout is longer than ours, since only ours can tell a timed-out script from a script's own exit code. */
const interpreterGraceMs = 1_000;

type Course = { end(how: Stop, why?: string): void; during: IdleTimeout['pauseDuring']; turns: TimeSlices };

function createShell(script: Script, files: FileSystem, context: ToolContext, { end, during, turns }: Course): Bash {
  let sent: string | null = null;
  const send = createShellFetch(context, (what) => {
    sent ??= what;
  });
  const shell = new Bash({
    fs: createBashFileSystem(files, turns),
    cwd: script.directory,
    env: { HOME: workspace, TMPDIR: script.scratch, LANG: 'C.UTF-8' },
    fetch: (...request) => turns.wait(send(...request)),
    sleep: (ms) => turns.wait(systemClock.sleep(ms)),
    customCommands: [
      createToolCommand({ calls: context.calls, files, sent: () => sent, during, suspend: () => end('suspended') }),
      wget,
      truncate,
    ],
    // Called for every step of a jq program, which runs synchronously.
    coverage: { hit: (feature) => feature.startsWith('jq:') && turns.step() },
    executionLimitProfile: 'hardened',
    executionLimits: {
      maxCommandCount: limits.maxShellCommands,
      maxLoopIterations: maxShellLoops,
      maxAwkIterations: maxShellLoops,
      maxSedIterations: maxShellSedJumps,
      maxJqIterations: maxShellQueryElements,
      maxWorkUnits: maxShellWorkUnits,
      maxSourceBytes: maxShellSourceBytes,
      maxArrayElements: maxShellArrayElements,
      maxQueryElements: maxShellQueryElements,
      maxStringLength: maxShellStringBytes,
      maxOutputSize: maxShellOutputBytes,
      maxInputBytes: maxShellInputBytes,
      maxExecutionTimeMs: (context.calls === null ? script.timeoutMs : limits.maxServerCallMs) + interpreterGraceMs,
    },
    // It patches globals of the whole isolate while a script runs, which would affect other requests.
    defenseInDepth: false,
  });
  wrapCommands(shell, turns);
  shell.registerTransformPlugin(scriptPlan);
  return shell;
}

// Rejects background jobs in a parsed script before it runs. Registered with the interpreter, which applies it to every complete script that
// it parses, but not to the arguments of `eval` and `source`: a background job in them runs in the foreground.

type Plugin = Parameters<Bash['registerTransformPlugin']>[0];

const scriptPlan: Plugin = {
  name: 'script-plan',
  transform({ ast }) {
    for (const node of collectParts(ast, Number.POSITIVE_INFINITY) ?? []) if (isRecord(node)) refuseJobs(node);
    return { ast };
  },
};

function refuseJobs(node: Json): void {
  if (node.type === 'Statement' && node.background === true) {
    const text = typeof node.sourceText === 'string' ? node.sourceText.slice(0, 80) : '…&';
    throw new ToolFault(
      `Not run: \`${text}\` is a background job, and this shell does not support them: all processes end with the call. Run it in the foreground (without the &), or make several calls in parallel.`,
    );
  }
  if (node.type !== 'SimpleCommand') return;
  const name = literal(node.name);
  if (name !== null && jobCommands.has(name))
    throw new ToolFault(
      `Not run: this shell does not support background jobs, so \`${name}\` is not available. Remove it and run the command in the foreground.`,
    );
}

const jobCommands: ReadonlySet<string> = new Set(['nohup', 'disown', 'jobs', 'bg', 'fg', 'setsid']);

function literal(word: unknown): string | null {
  if (!isRecord(word) || !Array.isArray(word.parts) || word.parts.length !== 1) return null;
  const part: unknown = word.parts[0];
  return isRecord(part) && part.type === 'Literal' && typeof part.value === 'string' ? part.value : null;
}
