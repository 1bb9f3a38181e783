/**
 * One virtual machine at work, from its begin to its end: it runs jobs in slices between which others run, keeps to its bounds, and does not
 * run on once it has come to one. What it is run for is `run-code.ts`.
 */
import { JSValueHandle } from 'quickjs-wasi';
import type { SandboxLimit } from '../core/code-result.ts';
import { limits } from '../core/limits.ts';
import { utf8Length } from '../core/utf8.ts';
import { lineOf } from './compile.ts';
import { defaultPolls, startEngine, type Engine } from './engine.ts';
import { createMeter } from './meter.ts';
import type { Slot } from './slots.ts';

/** Of one question to the next: few, since the body of a loop may be a costly operation; many, since asking costs as much as six turns. */
const polls = 64;
/** What a call of the host takes of the machine's time: a few microseconds, and the memory that it is handed. */
const printTicks = 0.02;
const callTicks = 0.1;
/** Jobs between two pauses, however short they are. */
const jobsOfSlice = 2_000;

export type Over = { limit: SandboxLimit; message: string };
export type AskedCall = { id: number; name: string; args: string };
export type Settled = { state: 'pending' } | { state: 'returned'; text: string } | { state: 'threw'; message: string };

export type Machine = {
  /** Calls that its code has made since they were last taken. */
  takeCalls(): AskedCall[];
  console(): string;
  /** Set once; from then on it does nothing. */
  over(): Over | null;
  begin(globals: { tools: readonly string[]; args: unknown; seed: readonly number[] }, bytecode: Uint8Array): void;
  deliver(id: number, answer: string): void;
  /** Until nothing is left to do, or it is over. `goOn`: false, and it ends at the next pause. */
  runJobs(goOn: () => boolean): Promise<void>;
  settled(): Settled;
  dispose(): void;
};

export async function startMachine(now: number, slot: Slot): Promise<Machine> {
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
  const engine: Engine = await startEngine({
    now: () => now,
    call(id, name, args) {
      made++;
      meter.spend(callTicks);
      if (made > limits.maxInnerCalls) end('calls');
      if (handed + args.length > limits.maxSandboxArgumentBytes) end('arguments');
      if (over !== null) return;
      const text = args.toString();
      handed += text.length;
      lengths.set(id, text.length);
      calls.push({ id, name, args: text });
    },
    print(line) {
      meter.spend(printTicks);
      printed.add(line);
    },
    interrupt() {
      const since = engine.polls === null ? defaultPolls : engine.polls(polls);
      meter.count(since);
      if (meter.isSpent()) end('ticks');
      // Its own bound is the engine's to say: this is that of all.
      if (over === null && !slot.holds(exports.memory.buffer.byteLength + handed)) end('queue');
      return over !== null;
    },
  });
  const { vm } = engine;
  const exports = vm._getExports();
  const meter = createMeter(Date.now);
  engine.polls?.(polls);

  /** Whatever runs code of others. null: it threw, or came to a bound, and `over` or the error said so. */
  const inside = <Value>(work: () => Value): Value | null => {
    if (over !== null) return null;
    meter.enter();
    try {
      return work();
    } finally {
      meter.leave();
      if (meter.isSpent()) end('ticks');
    }
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
  const threw = (error: JSValueHandle): Settled => {
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
    begin({ tools, args, seed }, bytecode) {
      // Within its time as well: of many tools the engine asks here already.
      inside(() => call(engine.begin, text(JSON.stringify(tools)), text(JSON.stringify(args)), text(JSON.stringify(seed))).dispose());
      main = inside(() => {
        const body = vm.evalBytecode(bytecode);
        return call(body);
      });
    },
    deliver(id, answer) {
      handed -= lengths.get(id) ?? 0;
      lengths.delete(id);
      inside(() => call(engine.deliver, vm.newNumber(id), text(answer)).dispose());
    },
    async runJobs(goOn) {
      for (let inSlice = 1; over === null && exports.qjs_is_job_pending() !== 0; inSlice++) {
        if (++jobs > limits.maxSandboxJobs) return end('jobs');
        // A job that throws has told whoever waits for its promise; what is left here is the engine's own copy.
        inside(() => exports.qjs_execute_pending_job() < 0 && vm.getException().dispose());
        if (!meter.isSliceSpent() && inSlice % jobsOfSlice !== 0) continue;
        await pause();
        meter.newSlice();
        if (!goOn()) return;
      }
    },
    settled() {
      const state = main?.promiseState ?? 0;
      if (main === null || state === 0) return { state: 'pending' };
      const value = new JSValueHandle(vm, exports.qjs_promise_result(main.ptr));
      if (state !== 1) return threw(value);
      try {
        const handle = inside(() => call(engine.finish, value));
        if (handle === null) return { state: 'pending' };
        // A character is a byte or more: what is too long is not even read.
        const found = handle.length > limits.maxSandboxResultBytes ? null : readText(handle);
        if (found !== null && utf8Length(found) <= limits.maxSandboxResultBytes) return { state: 'returned', text: found };
        end('output');
        return { state: 'pending' };
      } catch (error) {
        if (!isGuestError(error)) throw error;
        return threw(error.handle);
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

/** Timers, not jobs of promises: those of others have to run too. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}

/** Errors of the engine that code may catch; where it did not, it has come to a bound. */
function limitOf(name: string, message: string): SandboxLimit | null {
  if (message.includes('out of memory') || message.includes('string too long')) return 'memory';
  if ((name === 'RangeError' || name === 'InternalError') && /stack (?:size exceeded|overflow)/.test(message)) return 'stack';
  return null;
}

const messages: Record<SandboxLimit, string> = {
  ticks: 'it ran for too long and was stopped. Look for a loop that does not end, or do less in one call.',
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
function createPrinted(): { add(line: string): void; text(): string } {
  const lines: string[] = [];
  let left: number = limits.maxSandboxConsoleBytes;
  return {
    add(line) {
      if (left <= 0) return;
      const whole = line.toWellFormed();
      const bytes = utf8Length(whole) + 1;
      lines.push(bytes <= left ? whole : `${whole.slice(0, left >> 2)}\n[the rest was not kept]`.toWellFormed());
      left -= bytes;
    },
    text: () => lines.join('\n'),
  };
}
