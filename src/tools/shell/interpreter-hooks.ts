/**
 * The hooks that the patched interpreter (`interpreter-patch.ts`) calls while it runs. Each call finds the state of its script through the
 * asynchronous context, so that scripts in one isolate share nothing, even if their steps interleave. A call outside of a script throws.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import * as interpreter from 'just-bash/browser';
import type { Pattern, PatternBudget } from './pattern-budget.ts';
import type { TimeSlices } from './time-slices.ts';

/** State of one script. `command`: the innermost running command, or null while the shell itself runs. */
type Running = { turns: TimeSlices; patterns: PatternBudget; command: { invalid: InvalidPattern | null } | null };
/** A pattern that the regex engine rejected, and the reason. */
export type InvalidPattern = { text: string; why: string };

type InterpreterHooks = {
  compile(text: string, flags: number, compile: () => Pattern): Pattern;
  match: PatternBudget['match'];
  /** Returns true if it is time to call `pass`. `work`: bytes processed since the last call. Also called where nothing can wait. */
  isDue(work: number): boolean;
  pass(): Promise<void>;
  /** Sorts like `Array.prototype.sort` (stable), and yields while it sorts. */
  sort<Item>(items: Item[], compare: (a: Item, b: Item) => number): Promise<Item[]>;
};

declare module 'just-bash/browser' {
  /** Added to just-bash by the patch. */
  export function setInterpreterHooks(hooks: InterpreterHooks): void;
}

const scripts = new AsyncLocalStorage<Running>();

installInterpreterHooks(interpreter);

/** Throws at startup rather than in the first script: without the patch nothing bounds a script. */
export function installInterpreterHooks(module: { setInterpreterHooks?(hooks: InterpreterHooks): void }): void {
  if (module.setInterpreterHooks === undefined) throw new Error('The installed just-bash is not patched. Run npm run build.');
  module.setInterpreterHooks({
    compile: (text, flags, compile) => running().patterns.compile(text, flags, () => noteInvalid(text, compile)),
    match: (search) => running().patterns.match(search),
    isDue: (work) => running().turns.isDue(work),
    pass: () => running().turns.yieldToOthers(),
    sort: (items, compare) => sortInTurns(items, compare, running().turns),
  });
}

/** Runs a script with this state, and everything that it starts. */
export function duringScript<Value>(turns: TimeSlices, patterns: PatternBudget, work: () => Promise<Value>): Promise<Value> {
  return scripts.run({ turns, patterns, command: null }, work);
}

/** Runs a command of a script. `invalid`: the last pattern of this command that the regex engine rejected, or null. */
export async function duringCommand<Value>(work: () => Promise<Value>): Promise<{ value: Value; invalid: InvalidPattern | null }> {
  const command: Running['command'] = { invalid: null };
  const value = await scripts.run({ ...running(), command }, work);
  return { value, invalid: command.invalid };
}

function running(): Running {
  const state = scripts.getStore();
  if (state === undefined) throw new Error('The interpreter runs outside of a script: see duringScript.');
  return state;
}

function noteInvalid(text: string, compile: () => Pattern): Pattern {
  try {
    return compile();
  } catch (error) {
    const { command } = running();
    if (command !== null) command.invalid = { text, why: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

/** Number of items that are sorted or merged without a pause. */
const sortedAtOnce = 1024;

async function sortInTurns<Item>(items: Item[], compare: (a: Item, b: Item) => number, turns: TimeSlices): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += sortedAtOnce) {
    runs.push(items.slice(start, start + sortedAtOnce).sort(compare));
    await turns.pass();
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let index = 0; index < runs.length; index += 2) merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], compare, turns));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Stable: of equal items, those of `left` come first. */
async function merge<Item>(left: Item[], right: Item[], compare: (a: Item, b: Item) => number, turns: TimeSlices): Promise<Item[]> {
  const merged: Item[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    if (merged.length % sortedAtOnce === 0) await turns.pass();
    merged.push(compare(left[at] as Item, right[other] as Item) <= 0 ? (left[at++] as Item) : (right[other++] as Item));
  }
  return merged.concat(left.slice(at), right.slice(other));
}
