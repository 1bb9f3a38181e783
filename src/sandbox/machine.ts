/**
 * One virtual machine from start to end: it shares the thread with the other machines of the isolate, and stops permanently at its
 * limits. `run-code.ts` runs code with it.
 */
import { JSValueHandle } from 'quickjs-wasi';
import type { SandboxLimit } from '../core/turn/run-code.ts';
import { limits } from '../core/limits/limits.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { lineOf } from './compile.ts';
import { startEngine } from './engine.ts';
import { createMeter } from './meter.ts';
import type { Place } from '../engine/fair-pool.ts';
import type { ThreadShare } from '../platform/thread-share.ts';
import { KB, MB } from '../core/limits/units.ts';

/** Total arguments of inner calls without a result: they are outside of the machine's memory. Half of the largest file. */
export const maxSandboxArgumentBytes = 8 * MB;
/** Promise jobs of a whole call. */
const maxSandboxJobs = 100_000;
export const maxSandboxConsoleBytes = 16 * KB;
/** The returned value, as JSON. */
const maxSandboxResultBytes = 1 * MB;

/** Fuel for the host's work: a few microseconds for each printed line or call. */
const hostCallFuel = 5_000;
/** Fuel per character of arguments, which are parsed, checked, hashed and stored: about 50 ns each. */
export const fuelPerCharacter = 20;
/** Fuel for starting the machine, which is not metered. */
const startFuel = 1_000_000;

export type LimitReached = { limit: SandboxLimit; message: string };
export type GuestCall = { id: number; name: string; args: string };
export type GuestOutcome = { state: 'pending' } | { state: 'returned'; text: string } | { state: 'threw'; message: string };

type Globals = { tools: readonly string[]; args: unknown; seed: readonly number[] };
export type Machine = Awaited<ReturnType<typeof startMachine>>;

export async function startMachine(now: number, slot: Pick<Place, 'resize' | 'release'>, turns: ThreadShare, signal: AbortSignal) {
  let over: LimitReached | null = null;
  let calls: GuestCall[] = [];
  let made = 0;
  /** Characters of arguments of the calls in flight, in total and by call. */
  let handed = 0;
  const lengths = new Map<number, number>();
  let jobs = 0;
  let main: JSValueHandle | null = null;
  const printed = createPrinted();
  const end = (limit: SandboxLimit): void => {
    over ??= { limit, message: messages[limit] };
  };
  const engine = await startEngine({
    now: () => now,
    call(id, name, args) {
      made++;
      if (made > limits.maxInnerCalls) end('calls');
      const { length } = args;
      meter.add(hostCallFuel);
      meter.addLater(length * fuelPerCharacter);
      if (handed + length > maxSandboxArgumentBytes) end('arguments');
      if (over !== null) return;
      handed += length;
      lengths.set(id, length);
      calls.push({ id, name, args: args.toString() });
    },
    print(line) {
      meter.add(hostCallFuel);
      if (!printed.isFull()) printed.add(line.toString());
    },
    refuel() {
      if (over === null && !meter.refuel()) end('fuel');
      // The engine limits the memory of one machine; this limits the memory of all machines together.
      if (over === null && slot.resize(exports.memory.buffer.byteLength + handed) !== null) end('queue');
      return over === null;
    },
  });
  const { vm } = engine;
  const exports = vm._getExports();
  const meter = createMeter(engine.fuel, Date.now, turns.recordUse);
  turns.recordUse(startFuel, 0);

  /** Runs code of the guest with metering. Returns null when the machine has stopped. Throws what the code throws. */
  const inside = <Value>(work: () => Value): Value | null => {
    if (over !== null) return null;
    try {
      return meter.run(work);
    } catch (error) {
      // The machine was stopped during its work.
      if (over !== null) return null;
      throw error;
    } finally {
      if (meter.isSpent()) end('fuel');
    }
  };
  /** Waits for the thread. Returns false when the machine has stopped. */
  const takeTurn = async (): Promise<boolean> => {
    if (turns.isResting() && !(await turns.acquire(signal))) end('queue');
    return over === null;
  };
  const call = (func: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle => {
    try {
      return vm.callFunction(func, vm.undefined, ...args);
    } finally {
      for (const handle of args) handle.dispose();
    }
  };
  const text = (value: string): JSValueHandle => vm.newString(value);
  const readText = (handle: JSValueHandle): string => {
    const value = handle.toString();
    handle.dispose();
    return value;
  };
  const threw = async (error: JSValueHandle): Promise<GuestOutcome> => {
    await takeTurn();
    const json = inside(() => readText(call(engine.fail, error)));
    if (json === null) return { state: 'pending' };
    const [name, message, stack] = JSON.parse(json) as [string, string, string];
    const limit = limitOf(name, message);
    if (limit !== null) end(limit);
    const line = lineOf(stack);
    const said = [name, message].filter((word) => word !== '').join(': ') || 'the code threw an error without a message';
    const what = name === 'ReferenceError' && message.endsWith(' is not defined') ? `${said}; ${availableGlobals}` : said;
    return { state: 'threw', message: `${what}${line === null ? '' : ` (line ${line})`}`.toWellFormed() };
  };
  return {
    /** Returns and removes the calls that the code has made. */
    takeCalls(): GuestCall[] {
      const taken = calls;
      calls = [];
      return taken;
    },
    console: () => printed.text(),
    /** Returns the limit that stopped the machine; null while none has. It is set once. */
    limitReached: () => over,
    async begin({ tools, args, seed }: Globals, bytecode: Uint8Array): Promise<void> {
      await takeTurn();
      // Metered as well, since the names of many tools take a while.
      inside(() => call(engine.begin, text(JSON.stringify(tools)), text(JSON.stringify(args)), text(JSON.stringify(seed))).dispose());
      main = inside(() => {
        const body = vm.evalBytecode(bytecode);
        return call(body);
      });
    },
    async deliver(id: number, answer: string): Promise<void> {
      await takeTurn();
      handed -= lengths.get(id) ?? 0;
      lengths.delete(id);
      inside(() => call(engine.deliver, vm.newNumber(id), text(answer)).dispose());
    },
    /** Runs jobs until none is left, a limit is reached, or the signal aborts. */
    async runJobs(): Promise<void> {
      while (over === null && exports.qjs_is_job_pending() !== 0) {
        if (++jobs > maxSandboxJobs) return end('jobs');
        await takeTurn();
        if (signal.aborted) return;
        // A job that throws has already rejected its promise; this drops the engine's copy of the error.
        inside(() => exports.qjs_execute_pending_job() < 0 && vm.getException().dispose());
      }
    },
    async outcome(): Promise<GuestOutcome> {
      const state = main?.promiseState ?? 0;
      if (main === null || state === 0) return { state: 'pending' };
      const value = new JSValueHandle(vm, exports.qjs_promise_result(main.ptr));
      if (state !== 1) return await threw(value);
      await takeTurn();
      try {
        // A character has at least one byte, so a text that is too long is not even read.
        const read = (handle: JSValueHandle): string | null => (handle.length > maxSandboxResultBytes ? null : readText(handle));
        const found = inside(() => read(call(engine.finish, value)));
        if (found !== null && utf8Length(found) <= maxSandboxResultBytes) return { state: 'returned', text: found };
        end('output');
        return { state: 'pending' };
      } catch (error) {
        if (!isGuestError(error)) throw error;
        return await threw(error.handle);
      }
    },
    dispose(): void {
      vm.dispose();
      slot.release();
    },
  };
}

function isGuestError(error: unknown): error is { handle: JSValueHandle } {
  return error instanceof Error && 'handle' in error;
}

/** Hint for code that uses `fetch`, `require`, `process` or a tool by its bare name. */
const availableGlobals = 'available are args, console and the tools, called as await tools.<name>({…})';

/** Maps errors of the engine that code can catch to the limit that they mean; null for other errors. */
function limitOf(name: string, message: string): SandboxLimit | null {
  if (message.includes('out of memory') || message.includes('string too long')) return 'memory';
  if ((name === 'RangeError' || name === 'InternalError') && /stack (?:size exceeded|overflow)/.test(message)) return 'stack';
  return null;
}

const messages: Record<SandboxLimit, string> = {
  fuel: 'the code ran for too long and was stopped. Check for an endless loop, or do less in one call.',
  memory: `the code exceeded the memory limit (${limits.maxSandboxMemoryBytes >> 20} MB) and was stopped. Work on smaller pieces.`,
  stack: 'the code exceeded the call stack and was stopped. Use a loop, or data with less nesting.',
  jobs: `the code ran more than ${maxSandboxJobs} promise jobs and was stopped. Check for an await in an endless loop.`,
  calls: `the code made more than ${limits.maxInnerCalls} calls and was stopped. Do less in one call.`,
  arguments: `the arguments of the calls in flight are longer than ${maxSandboxArgumentBytes} bytes. Await calls before making more.`,
  output: `the returned value is longer than ${maxSandboxResultBytes} bytes. Return less, or write it to a file and return the path.`,
  never_settles: 'the code waits for a promise that never settles, and was stopped. Await only tool calls.',
  queue: 'too much other code is running. Try again later.',
};

export function limitMessage(limit: SandboxLimit): string {
  return messages[limit];
}

/** Collects console output up to its limit. */
function createPrinted(): { add(line: string): void; isFull(): boolean; text(): string } {
  const lines: string[] = [];
  let left: number = maxSandboxConsoleBytes;
  return {
    isFull: () => left <= 0,
    add(line) {
      const whole = line.toWellFormed();
      const bytes = utf8Length(whole) + 1;
      lines.push(bytes <= left ? whole : `${whole.slice(0, left >> 2)}\n[output truncated]`.toWellFormed());
      left -= bytes;
    },
    text: () => lines.join('\n'),
  };
}
