/**
 * A run of code from its source to its end: calls go out as it makes them, answers come back one at a time in the order in which they came
 * about, and nothing of it is left running when it has ended.
 */
import { codeAnswer, type SandboxEnd, type SandboxLimit } from '../core/code-result.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { limits } from '../core/limits.ts';
import { errorResult } from '../core/tool.ts';
import type { JsonValue } from '../core/json-value.ts';
import type { InnerAnswer } from '../ports/inner-calls.ts';
import type { SandboxRun } from '../ports/sandbox.ts';
import { compile, type SourceFault } from './compile.ts';
import { fuelPerCharacter, limitMessage, startMachine, type AskedCall, type Machine } from './machine.ts';
import { createSlots } from './slots.ts';
import { isolateTurns, type Turns } from './turns.ts';

/** Of the isolate: whoever runs code in it shares its memory. */
const slots = createSlots();

export async function runCode(run: SandboxRun, signal: AbortSignal): Promise<SandboxEnd> {
  const compiled = await compile(run.source);
  if (!compiled.ok) return { end: 'threw', message: faultMessage(compiled.fault), console: '' };
  const slot = await slots.take(signal);
  if (slot === 'aborted') return { end: 'aborted', console: '' };
  if (slot === 'queue') return limitEnd('queue', '');
  const calls = createCalls(run);
  let machine: Machine | null = null;
  try {
    const turns = isolateTurns();
    await turns.take(signal);
    machine = await startMachine(run.now, slot, turns, signal);
    await machine.begin({ tools: run.tools, args: run.args, seed: seedOf(run.seed) }, compiled.bytecode);
    return await drive(machine, calls, turns, signal);
  } catch (error) {
    const over = machine?.over();
    if (over) return { end: 'limit', ...over, console: machine?.console() ?? '' };
    const console = machine?.console() ?? '';
    // The machine itself gave way: its stack, or that of the isolate.
    if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) return limitEnd('stack', console);
    return { end: 'threw', message: `its machine failed (${String(error)}). Work on smaller pieces.`, console };
  } finally {
    // First: it holds memory, and what it has begun may take long.
    if (machine === null) slot.free();
    machine?.dispose();
    await calls.ended(signal);
  }
}

async function drive(machine: Machine, calls: Calls, turns: Turns, signal: AbortSignal): Promise<SandboxEnd> {
  for (;;) {
    await machine.runJobs();
    const console = machine.console();
    const over = machine.over();
    if (over !== null) return { end: 'limit', ...over, console };
    if (signal.aborted) return { end: 'aborted', console };
    for (const call of machine.takeCalls()) {
      await turns.take(signal);
      turns.spend(call.args.length * fuelPerCharacter, 0);
      calls.add(call);
    }
    const answer = calls.nextAnswer();
    if (answer !== null) await machine.deliver(answer.id, answer.text);
    else if (calls.running() > 0) await calls.change(signal);
    else if (calls.waiting() > 0) return { end: 'suspended', console };
    else return await endOf(machine);
  }
}

async function endOf(machine: Machine): Promise<SandboxEnd> {
  const settled = await machine.settled();
  const over = machine.over();
  const console = machine.console();
  if (over !== null) return { end: 'limit', ...over, console };
  if (settled.state === 'pending') return limitEnd('never_settles', console);
  if (settled.state === 'threw') return { end: 'threw', message: settled.message, console };
  const value = JSON.parse(settled.text) as JsonValue;
  if (!isDeeperThan(value, limits.maxJsonDepth)) return { end: 'returned', value: wellFormed(value, settled.text), console };
  return { end: 'threw', message: `what it returned nests deeper than ${limits.maxJsonDepth} levels; return something flatter`, console };
}

function limitEnd(limit: SandboxLimit, console: string): SandboxEnd {
  return { end: 'limit', limit, message: limitMessage(limit), console };
}

function faultMessage({ message, line }: SourceFault): string {
  return `SyntaxError: ${message}${line === null ? '' : ` (line ${line})`}`;
}

type Calls = {
  add(call: AskedCall): void;
  nextAnswer(): { id: number; text: string } | null;
  running(): number;
  /** Those that somebody outside has to act on. */
  waiting(): number;
  /** When an answer has come, or the signal. */
  change(signal: AbortSignal): Promise<void>;
  /** When none is running any more. */
  ended(signal: AbortSignal): Promise<void>;
};

/**
 * Begun in the order in which the code made them, all of them: whoever runs them says how many at once. One that has its answer may have to
 * wait for that of a later one, which came first in an earlier run.
 */
function createCalls(run: SandboxRun): Calls {
  const answers: { id: number; text: string }[] = [];
  let running = 0;
  let waiting = 0;
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const begin = (call: AskedCall): void => {
    running++;
    void answerOf(run, call).then((answer) => {
      running--;
      if (answer.waits) waiting++;
      else answers.push({ id: call.id, text: JSON.stringify(codeAnswer(answer.result)) });
      tell();
    });
  };
  const change = async (signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.race([changed.promise, promise]);
    signal.removeEventListener('abort', stop);
  };
  return {
    add: begin,
    nextAnswer: () => answers.shift() ?? null,
    running: () => running,
    waiting: () => waiting,
    change,
    async ended(signal) {
      while (running > 0 && !signal.aborted) await change(signal);
    },
  };
}

async function answerOf(run: SandboxRun, { name, args }: AskedCall): Promise<InnerAnswer> {
  try {
    const value: unknown = JSON.parse(args);
    if (isDeeperThan(value, limits.maxJsonDepth)) {
      const text = `Not run: the arguments of ${name} nest deeper than ${limits.maxJsonDepth} levels.`;
      return { waits: false, result: errorResult('invalid_arguments', text) };
    }
    return await run.call(name, wellFormed(value as JsonValue, args));
  } catch (error) {
    return { waits: false, result: errorResult('tool_error', `${name} failed: ${error instanceof Error ? error.message : String(error)}`) };
  }
}

/** Half a character in a text (`\ud800` in its JSON) is no character anywhere else. */
function wellFormed(value: JsonValue, text: string): JsonValue {
  return /\\u[dD][89a-fA-F]/.test(text) ? heal(value) : value;
}

function heal(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(heal);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), heal(member)]));
}

/** Four words of 32 bits from any text (FNV-1a, each begun elsewhere): nothing secret hangs on them. */
function seedOf(seed: string): number[] {
  return [1, 2, 3, 4].map((word) => {
    let hash = 0x811c9dc5 ^ word;
    for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
    return hash >>> 0;
  });
}
