/**
 * One virtual machine at work, from its begin to its end: it takes turns with the other machines of the isolate, keeps to its bounds, and does
 * not run on once it has come to one. What it is run for is `run-code.ts`.
 */
import { JSValueHandle } from 'quickjs-wasi';
import type { SandboxLimit } from '../core/code-result.ts';
import { limits } from '../core/limits.ts';
import { utf8Length } from '../core/utf8.ts';
import { lineOf } from './compile.ts';
import { startEngine } from './engine.ts';
import { createMeter } from './meter.ts';
import type { Slot } from './slots.ts';
import type { Turns } from './turns.ts';

/** What the host's work for the machine counts as: a few microseconds for each line printed or call made. */
const hostCallFuel = 5_000;
/** Arguments are parsed, checked, hashed and stored: about 50 ns a character. */
export const fuelPerCharacter = 20;
/** Making it: the time of its start, which is not metered. */
const startFuel = 1_000_000;

export type Over = { limit: SandboxLimit; message: string };
export type AskedCall = { id: number; name: string; args: string };
export type Settled = { state: 'pending' } | { state: 'returned'; text: string } | { state: 'threw'; message: string };

export type Machine = {
  /** Calls that its code has made since they were last taken. */
  takeCalls(): AskedCall[];
  console(): string;
  /** Set once; from then on it does nothing. */
  over(): Over | null;
  begin(globals: { tools: readonly string[]; args: unknown; seed: readonly number[] }, bytecode: Uint8Array): Promise<void>;
  deliver(id: number, answer: string): Promise<void>;
  /** Until nothing is left to do, it is over, or the signal aborts. */
  runJobs(): Promise<void>;
  settled(): Promise<Settled>;
  dispose(): void;
};

export async function startMachine(now: number, slot: Slot, turns: Turns, signal: AbortSignal): Promise<Machine> {
  let over: Over | null = null;
  let calls: AskedCall[] = [];
  let made = 0;
  /** What calls without an answer were handed, altogether and each. */
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
      meter.spend(hostCallFuel);
      meter.spendLater(length * fuelPerCharacter);
      if (handed + length > limits.maxSandboxArgumentBytes) end('arguments');
      if (over !== null) return;
      handed += length;
      lengths.set(id, length);
      calls.push({ id, name, args: args.toString() });
    },
    print(line) {
      meter.spend(hostCallFuel);
      if (!printed.isFull()) printed.add(line.toString());
    },
    refuel() {
      if (over === null && !meter.refuel()) end('fuel');
      // A machine's own memory is bounded by the engine; this is the memory of all machines together.
      if (over === null && !slot.holds(exports.memory.buffer.byteLength + handed)) end('queue');
      return over === null;
    },
  });
  const { vm } = engine;
  const exports = vm._getExports();
  const meter = createMeter(engine.fuel, Date.now, turns.spend);
  turns.spend(startFuel, 0);

  /** Runs what may be code of the guest. null: the machine is over, or has come to a bound. Throws what the code throws. */
  const inside = <Value>(work: () => Value): Value | null => {
    if (over !== null) return null;
    try {
      return meter.run(work);
    } catch (error) {
      // It was stopped in the middle of its work.
      if (over !== null) return null;
      throw error;
    } finally {
      if (meter.isSpent()) end('fuel');
    }
  };
  /** Waits for the thread first. False: it is over. */
  const takeTurn = async (): Promise<boolean> => {
    if (turns.isResting() && !(await turns.take(signal))) end('queue');
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
  const threw = async (error: JSValueHandle): Promise<Settled> => {
    await takeTurn();
    const told = inside(() => readText(call(engine.fail, error)));
    if (told === null) return { state: 'pending' };
    const [name, message, stack] = JSON.parse(told) as [string, string, string];
    const limit = limitOf(name, message);
    if (limit !== null) end(limit);
    const line = lineOf(stack);
    const said = [name, message].filter((word) => word !== '').join(': ') || 'it threw an error without a word';
    const what = name === 'ReferenceError' && message.endsWith(' is not defined') ? `${said}; ${whatThereIs}` : said;
    return { state: 'threw', message: `${what}${line === null ? '' : ` (line ${line})`}`.toWellFormed() };
  };
  return {
    takeCalls() {
      const taken = calls;
      calls = [];
      return taken;
    },
    console: () => printed.text(),
    over: () => over,
    async begin({ tools, args, seed }, bytecode) {
      await takeTurn();
      // Metered as well: the names of many tools take a while.
      inside(() => call(engine.begin, text(JSON.stringify(tools)), text(JSON.stringify(args)), text(JSON.stringify(seed))).dispose());
      main = inside(() => {
        const body = vm.evalBytecode(bytecode);
        return call(body);
      });
    },
    async deliver(id, answer) {
      await takeTurn();
      handed -= lengths.get(id) ?? 0;
      lengths.delete(id);
      inside(() => call(engine.deliver, vm.newNumber(id), text(answer)).dispose());
    },
    async runJobs() {
      while (over === null && exports.qjs_is_job_pending() !== 0) {
        if (++jobs > limits.maxSandboxJobs) return end('jobs');
        await takeTurn();
        if (signal.aborted) return;
        // A job that throws has rejected its promise already; this is the engine's own copy of the error.
        inside(() => exports.qjs_execute_pending_job() < 0 && vm.getException().dispose());
      }
    },
    async settled() {
      const state = main?.promiseState ?? 0;
      if (main === null || state === 0) return { state: 'pending' };
      const value = new JSValueHandle(vm, exports.qjs_promise_result(main.ptr));
      if (state !== 1) return await threw(value);
      await takeTurn();
      try {
        // A character is a byte or more: a text that is too long is not even read.
        const read = (handle: JSValueHandle): string | null => (handle.length > limits.maxSandboxResultBytes ? null : readText(handle));
        const found = inside(() => read(call(engine.finish, value)));
        if (found !== null && utf8Length(found) <= limits.maxSandboxResultBytes) return { state: 'returned', text: found };
        end('output');
        return { state: 'pending' };
      } catch (error) {
        if (!isGuestError(error)) throw error;
        return await threw(error.handle);
      }
    },
    dispose() {
      vm.dispose();
      slot.free();
    },
  };
}

function isGuestError(error: unknown): error is { handle: JSValueHandle } {
  return error instanceof Error && 'handle' in error;
}

/** To code that looks for `fetch`, `require`, `process` or a tool by its bare name. */
const whatThereIs = 'here are args, console and the tools, each as await tools.<name>({…})';

/** Errors of the engine that code may catch; where it did not, it has come to a bound. */
function limitOf(name: string, message: string): SandboxLimit | null {
  if (message.includes('out of memory') || message.includes('string too long')) return 'memory';
  if ((name === 'RangeError' || name === 'InternalError') && /stack (?:size exceeded|overflow)/.test(message)) return 'stack';
  return null;
}

const messages: Record<SandboxLimit, string> = {
  fuel: 'it ran for too long and was stopped. Look for a loop that does not end, or do less in one call.',
  memory: `it needs more memory than there is (${limits.maxSandboxMemoryBytes >> 20} MB) and was stopped. Work on smaller pieces.`,
  stack: 'its functions call one another too deeply and it was stopped. Use a loop, or data that nests less.',
  jobs: `it went through more than ${limits.maxSandboxJobs} promise steps and was stopped. Look for an await in a loop that does not end.`,
  calls: `it made more than ${limits.maxInnerCalls} calls and was stopped. Do less in one call.`,
  arguments: `what it hands to tools at once is longer than ${limits.maxSandboxArgumentBytes} bytes. Await calls before making more.`,
  output: `what it returned is longer than ${limits.maxSandboxResultBytes} bytes. Return less, or write it to a file and return the path.`,
  never_settles: 'it waits for a promise that nothing will settle, and was stopped. Await the calls of tools, and nothing else.',
  queue: 'too much other code is running here. Try again in a moment.',
};

export function limitMessage(limit: SandboxLimit): string {
  return messages[limit];
}

/** What was printed, up to its bound. */
function createPrinted(): { add(line: string): void; isFull(): boolean; text(): string } {
  const lines: string[] = [];
  let left: number = limits.maxSandboxConsoleBytes;
  return {
    isFull: () => left <= 0,
    add(line) {
      const whole = line.toWellFormed();
      const bytes = utf8Length(whole) + 1;
      lines.push(bytes <= left ? whole : `${whole.slice(0, left >> 2)}\n[the rest was not kept]`.toWellFormed());
      left -= bytes;
    },
    text: () => lines.join('\n'),
  };
}
