/**
 * Runs code from its source to its end. Calls start in the order in which the code makes them, and their results are delivered one at
 * a time in the order in which they arrive. Nothing keeps running after the end.
 */
import { toCodeCallResult, type SandboxEnd, type SandboxLimit } from '../core/turn/run-code.ts';
import { isDeeperThan, type JsonValue } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import { errorResult, type ToolResult } from '../core/tools/tool.ts';
import type { InnerOutcome } from '../ports/inner-calls.ts';
import type { SandboxRun } from '../ports/sandbox.ts';
import type { ShareOwner } from '../core/limits/fair-share.ts';
import { type FairPool, isShortage, shortageText } from '../engine/fair-pool.ts';
import { unlessAborted } from '../engine/timeout.ts';
import { compile, type SourceFault } from './compile.ts';
import { fuelPerCharacter, limitMessage, startMachine, type GuestCall, type Machine } from './machine.ts';
import { isolateThreadShare, type ThreadShare } from '../platform/thread-share.ts';

/** Shared by all runs of the isolate, which share its memory. */
export type MachineMemory = Pick<FairPool, 'wait'>;

export async function runInSandbox(
  run: SandboxRun,
  { memory, owner }: { memory: MachineMemory; owner: ShareOwner },
  signal: AbortSignal,
): Promise<SandboxEnd> {
  const compiled = await compile(run.source);
  if (!compiled.ok) return { end: 'threw', message: faultMessage(compiled.fault), console: '' };
  const slot = await memory.wait(owner, { amount: leastMachineBytes, signal }).catch(() => null);
  if (slot === null) return { end: 'aborted', console: '' };
  if (isShortage(slot)) return { end: 'limit', limit: 'queue', message: `${shortageText(slot)}`, console: '' };
  const calls = createCalls(run);
  let machine: Machine | null = null;
  try {
    const turns = countUse(isolateThreadShare(owner), run);
    await turns.acquire(signal);
    machine = await startMachine(run.now, slot, turns, signal);
    await machine.begin({ tools: run.tools, args: run.args, seed: seedOf(run.seed) }, compiled.bytecode);
    return await drive(machine, calls, turns, signal);
  } catch (error) {
    const over = machine?.limitReached();
    if (over) return { end: 'limit', ...over, console: machine?.console() ?? '' };
    const console = machine?.console() ?? '';
    // The machine itself failed: its stack, or that of the isolate, overflowed.
    if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) return limitEnd('stack', console);
    return { end: 'threw', message: `the virtual machine failed (${String(error)}). Work on smaller pieces.`, console };
  } finally {
    // The machine is disposed of first, because it holds memory and the calls may take long to end.
    if (machine === null) slot.release();
    machine?.dispose();
    await calls.ended(signal);
  }
}

/** The memory with which a machine starts. */
const leastMachineBytes = 1_600_000;

/** About the time of a unit of fuel, for clocks that stand still while code runs. */
const secondsPerFuel = 5e-9;

function countUse(share: ThreadShare, { used }: SandboxRun): ThreadShare {
  if (used === undefined) return share;
  return {
    ...share,
    recordUse(fuel, ms) {
      share.recordUse(fuel, ms);
      used(Math.max(ms / 1_000, fuel * secondsPerFuel));
    },
  };
}

async function drive(machine: Machine, calls: Calls, turns: ThreadShare, signal: AbortSignal): Promise<SandboxEnd> {
  for (;;) {
    await machine.runJobs();
    const console = machine.console();
    const over = machine.limitReached();
    if (over !== null) return { end: 'limit', ...over, console };
    if (signal.aborted) return { end: 'aborted', console };
    for (const call of machine.takeCalls()) {
      await turns.acquire(signal);
      turns.recordUse(call.args.length * fuelPerCharacter, 0);
      calls.add(call);
    }
    const answer = calls.nextAnswer();
    if (answer !== null) await machine.deliver(answer.id, answer.text);
    else if (calls.running() > 0) await calls.change(signal);
    else if (calls.waiting() > 0) return { end: 'suspended', console };
    else return await endOf(machine, calls);
  }
}

async function endOf(machine: Machine, calls: Calls): Promise<SandboxEnd> {
  const settled = await machine.outcome();
  const over = machine.limitReached();
  const console = machine.console();
  if (over !== null) return { end: 'limit', ...over, console };
  if (settled.state === 'pending') return limitEnd('never_settles', console);
  if (settled.state === 'threw') return { end: 'threw', message: settled.message, console };
  const [, id, json = settled.text] = /^@(\d+)\n(.*)$/s.exec(settled.text) ?? [];
  const passed = id === undefined ? null : calls.resultOf(Number(id), json);
  if (passed !== null) return { end: 'passed', result: passed, console };
  const value = JSON.parse(json) as JsonValue;
  if (!isDeeperThan(value, limits.maxJsonDepth)) return { end: 'returned', value: wellFormed(value, json), console };
  return {
    end: 'threw',
    message: `the returned value is nested more than ${limits.maxJsonDepth} levels deep; return less nested data`,
    console,
  };
}

function limitEnd(limit: SandboxLimit, console: string): SandboxEnd {
  return { end: 'limit', limit, message: limitMessage(limit), console };
}

function faultMessage({ message, line }: SourceFault): string {
  return `SyntaxError: ${message}${line === null ? '' : ` (line ${line})`}`;
}

type Calls = ReturnType<typeof createCalls>;

/**
 * Starts calls in the order in which the code makes them; `run.call` limits how many run at once. A call that has its result may
 * still wait for a later call, if that one came first in an earlier run.
 */
function createCalls(run: SandboxRun) {
  const answers: { id: number; text: string }[] = [];
  const delivered = new Map<number, { text: string; result: ToolResult }>();
  let running = 0;
  let waiting = 0;
  let changed = Promise.withResolvers<void>();
  /** Resolves when a call has ended or the signal aborts. */
  const change = async (signal: AbortSignal): Promise<void> => {
    // Aborted: the caller checks it.
    await unlessAborted(changed.promise, signal).catch(() => undefined);
  };
  return {
    add(call: GuestCall): void {
      running++;
      void answerOf(run, call).then((answer) => {
        running--;
        if (answer.waits) waiting++;
        else {
          const text = JSON.stringify(toCodeCallResult(answer.result, answer.output));
          delivered.set(call.id, { text, result: answer.result });
          answers.push({ id: call.id, text });
        }
        changed.resolve();
        changed = Promise.withResolvers<void>();
      });
    },
    nextAnswer: () => answers.shift() ?? null,
    /** Returns the result of a call whose answer in the code is still `text`; null if the code changed it. */
    resultOf(id: number, text: string): ToolResult | null {
      const found = delivered.get(id);
      return found?.text === text ? found.result : null;
    },
    running: () => running,
    /** The number of calls that wait for an approval or a person's input. */
    waiting: () => waiting,
    change,
    /** Resolves when no call is running or the signal aborts. */
    async ended(signal: AbortSignal): Promise<void> {
      while (running > 0 && !signal.aborted) await change(signal);
    },
  };
}

async function answerOf(run: SandboxRun, { name, args }: GuestCall): Promise<InnerOutcome> {
  try {
    const value: unknown = JSON.parse(args);
    if (isDeeperThan(value, limits.maxJsonDepth)) {
      const text = `Not run: the arguments of ${name} are nested more than ${limits.maxJsonDepth} levels deep.`;
      return { waits: false, result: errorResult('invalid_arguments', text) };
    }
    return await run.call(name, wellFormed(value as JsonValue, args));
  } catch (error) {
    return { waits: false, result: errorResult('tool_error', `${name} failed: ${error instanceof Error ? error.message : String(error)}`) };
  }
}

/** Replaces lone surrogates (`\ud800` in JSON), which are not valid text elsewhere. */
function wellFormed(value: JsonValue, text: string): JsonValue {
  return /\\u[dD][89a-fA-F]/.test(text) ? replaceSurrogates(value) : value;
}

function replaceSurrogates(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(replaceSurrogates);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaceSurrogates(member)]));
}

/** Returns four 32-bit words for a seed text (FNV-1a with four offsets). Not cryptographic. */
function seedOf(seed: string): number[] {
  return [1, 2, 3, 4].map((word) => {
    let hash = 0x811c9dc5 ^ word;
    for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
    return hash >>> 0;
  });
}
