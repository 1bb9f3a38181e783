/**
 * Source of others into bytecode, running nothing of it. It is the body of an async function and stays one: text that closes the function it
 * stands in, to go on outside, is refused. The bytecode never leaves the isolate, and none comes from elsewhere.
 */
import { EvalFlags, JSException, type QuickJS } from 'quickjs-wasi';
import { limits } from '../core/limits.ts';
import { utf8Length } from '../core/utf8.ts';
import { startCompiler } from './engine.ts';
import { createKeptSources } from './kept-sources.ts';
import { createMeter, type Meter } from './meter.ts';
import { isolateTurns, type Turns } from './turns.ts';

/** What the engine calls the source in what it says of lines. */
export const sourceName = 'code';

export type SourceFault = { message: string; line: number | null };
/** `isPassing`: the reason is not in the source; another attempt may succeed. */
export type Compiled = { ok: true; bytecode: Uint8Array } | { ok: false; fault: SourceFault; isPassing?: boolean };

type Compiler = { vm: QuickJS; newMeter(report: Turns['spend']): Meter; uses: number };

/** Of one compiler: names it has met stay in its memory. */
const maxUses = 200;

let compiler: Compiler | null = null;
const kept = createKeptSources<Compiled>(limits.maxCompiledBytes);

export async function compile(source: string): Promise<Compiled> {
  const before = kept.get(source);
  if (before !== null) return before;
  const compiled = await compileAnew(source);
  if (compiled.ok || !compiled.isPassing) kept.keep(source, compiled, compiled.ok ? compiled.bytecode.byteLength : 0);
  return compiled;
}

async function compileAnew(source: string): Promise<Compiled> {
  if (utf8Length(source) > limits.maxImplementationBytes)
    return refused(`the code is longer than ${limits.maxImplementationBytes} bytes; make several tools of it`);
  const bigInt = bigIntLiteral.exec(source);
  if (bigInt !== null)
    return refused(`"${bigInt[0]}": there are no BigInts here; use numbers, and in a text write "10" + "n"`, lineAt(source, bigInt.index));
  if (compiler !== null && compiler.uses >= maxUses) {
    compiler.vm.dispose();
    compiler = null;
  }
  const turns = isolateTurns();
  if (!(await turns.take(null))) return passing('too much other code is running here; try again in a moment');
  compiler ??= await newCompiler();
  const current = compiler;
  current.uses++;
  const meter = current.newMeter(turns.spend);
  try {
    return meter.run(() => compileWith(current.vm, source));
  } catch (error) {
    // Out of memory, stack or fuel: the state of the compiler is undefined.
    compiler = null;
    const reason = meter.isSpent() ? 'it takes too long' : String(error);
    return passing(`the code cannot be compiled (${reason}); make it smaller`);
  }
}

async function newCompiler(): Promise<Compiler> {
  let meter: Meter | null = null;
  const { vm, fuel } = await startCompiler(() => meter?.refuel() ?? true);
  const newMeter = (report: Turns['spend']): Meter => {
    meter = createMeter(fuel, Date.now, report);
    return meter;
  };
  return { vm, uses: 0, newMeter };
}

/**
 * Twice: once as it will run, and once in a block that can only be left by a name that nobody outside knows. The second says whether the end
 * of the source stands where its beginning does. The engine's own constructor of functions pastes its parameters too, and takes
 * `}, async function () {` for a body.
 */
function compileWith(vm: QuickJS, source: string): Compiled {
  const label = `end_${crypto.randomUUID().replaceAll('-', '')}`;
  const fault =
    faultOf(vm, `(async function(){${source}\n})`, source) ??
    faultOf(vm, `(async function(){${label}:{${source}\n;break ${label}}})`, source);
  if (fault !== null) return { ok: false, fault };
  return { ok: true, bytecode: vm.compile(`(async function(){${source}\n})`, sourceName) };
}

/** In the first line of the text stands the first line of the source, so lines are the author's. */
function faultOf(vm: QuickJS, text: string, source: string): SourceFault | null {
  try {
    vm.evalCode(text, sourceName, EvalFlags.COMPILE_ONLY).dispose();
    return null;
  } catch (error) {
    if (!(error instanceof JSException) || error.name !== 'SyntaxError') throw error;
    const fault = { message: error.message.trim(), line: lineOf(error.stack ?? '') };
    error.dispose();
    return withinSource(fault, source);
  }
}

/** What the engine finds behind the source is ours: the source has no such line and no such brace. */
function withinSource({ message, line }: SourceFault, source: string): SourceFault {
  const lines = source.split('\n').length;
  if (line === null || line <= lines) return { message, line };
  return { message: message.endsWith("'}'") ? 'it ends too early: something is opened and not closed' : message, line: lines };
}

/** The first line of the source that a stack of the engine names. */
export function lineOf(stack: string): number | null {
  const line = Number(/\bcode:(\d+)/.exec(stack)?.[1]);
  return Number.isInteger(line) && line > 0 ? line : null;
}

/**
 * BigInt literals: JSON cannot hold their values, and machines have no `BigInt`. Refused inside strings as well: a reader that takes a division
 * for a regular expression would let a literal through.
 */
const bigIntLiteral = /(?<![\w$])(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)n(?![\w$])/;

function refused(message: string, line: number | null = null): Compiled {
  return { ok: false, fault: { message, line } };
}

function passing(message: string): Compiled {
  return { ok: false, fault: { message, line: null }, isPassing: true };
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}
