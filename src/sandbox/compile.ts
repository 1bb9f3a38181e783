/**
 * Compiles source code of users and models to bytecode without running it. The source is the body of an async function; source that
 * closes that function in order to continue outside is refused. Bytecode never leaves the isolate and is never accepted from outside.
 */
import { EvalFlags, JSException, type QuickJS } from 'quickjs-wasi';
import { limits } from '../core/limits/limits.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { startCompiler } from './engine.ts';
import { createMeter, type Meter } from './meter.ts';
import { isolateThreadShare, type ThreadShare } from '../platform/thread-share.ts';
import { MB } from '../core/limits/units.ts';

/**
 * Compiled code cached in an isolate: bytecode is two to ten times the size of its source, and all of it is in addition to the
 * running machines.
 */
const maxCompiledBytes = 8 * MB;

/** The file name of the source in the engine's stack traces. */
export const sourceName = 'code';

export type SourceFault = { message: string; line: number | null };
/** `isPassing`: the reason is not in the source; another attempt may succeed. */
export type Compiled = { ok: true; bytecode: Uint8Array } | { ok: false; fault: SourceFault; isPassing?: boolean };

type Compiler = { vm: QuickJS; newMeter(report: ThreadShare['recordUse']): Meter; uses: number };

/** Uses of one compiler before it is replaced, since names that it has seen stay in its memory. */
const maxUses = 200;

let compiler: Compiler | null = null;
const cache = createCompileCache<Compiled>(maxCompiledBytes);

export async function compile(source: string): Promise<Compiled> {
  const cached = cache.get(source);
  if (cached !== null) return cached;
  const compiled = await compileAnew(source);
  if (compiled.ok || !compiled.isPassing) cache.set(source, compiled, compiled.ok ? compiled.bytecode.byteLength : 0);
  return compiled;
}

async function compileAnew(source: string): Promise<Compiled> {
  if (utf8Length(source) > limits.maxImplementationBytes)
    return refused(`the code is longer than ${limits.maxImplementationBytes} bytes; split it into several tools`);
  const bigInt = bigIntLiteral.exec(source);
  if (bigInt !== null)
    return refused(`"${bigInt[0]}": BigInt is not supported; use numbers, and in a string write "10" + "n"`, lineAt(source, bigInt.index));
  if (compiler !== null && compiler.uses >= maxUses) {
    compiler.vm.dispose();
    compiler = null;
  }
  const turns = isolateThreadShare();
  if (!(await turns.acquire(null))) return passing('too much other code is running; try again later');
  compiler ??= await newCompiler();
  const current = compiler;
  current.uses++;
  const meter = current.newMeter(turns.recordUse);
  try {
    return meter.run(() => compileWith(current.vm, source));
  } catch (error) {
    // Out of memory, stack or fuel: the state of the compiler is undefined, so it is replaced.
    compiler = null;
    const reason = meter.isSpent() ? 'it took too long' : String(error);
    return passing(`the code cannot be compiled (${reason}); make it shorter`);
  }
}

async function newCompiler(): Promise<Compiler> {
  let meter: Meter | null = null;
  const { vm, fuel } = await startCompiler(() => meter?.refuel() ?? true);
  const newMeter = (report: ThreadShare['recordUse']): Meter => {
    meter = createMeter(fuel, Date.now, report);
    return meter;
  };
  return { vm, uses: 0, newMeter };
}

/**
 * Compiles the source twice: as it will run, and inside a labeled block with a random name, which shows whether the end of the source
 * is at the nesting level of its beginning. The engine's `Function` constructor does not check this: it also pastes its parameters,
 * and accepts `}, async function () {` as a body.
 */
function compileWith(vm: QuickJS, source: string): Compiled {
  const label = `end_${crypto.randomUUID().replaceAll('-', '')}`;
  const fault =
    faultOf(vm, `(async function(){${source}\n})`, source) ??
    faultOf(vm, `(async function(){${label}:{${source}\n;break ${label}}})`, source);
  if (fault !== null) return { ok: false, fault };
  return { ok: true, bytecode: vm.compile(`(async function(){${source}\n})`, sourceName) };
}

/** Returns the syntax error of the text; null without one. The source starts in the first line of the text, so its line numbers are correct. */
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

/** Maps an error that the engine reports after the source to the last line of the source. */
function withinSource({ message, line }: SourceFault, source: string): SourceFault {
  const lines = source.split('\n').length;
  if (line === null || line <= lines) return { message, line };
  return { message: message.endsWith("'}'") ? 'the code ends too early: a bracket or block is not closed' : message, line: lines };
}

/** Returns the first line of the source that a stack of the engine names; null without one. */
export function lineOf(stack: string): number | null {
  const line = Number(/\bcode:(\d+)/.exec(stack)?.[1]);
  return Number.isInteger(line) && line > 0 ? line : null;
}

/**
 * BigInt literals. JSON cannot hold their values, and `BigInt` is removed from the sandbox. Refused in strings as well: a tokenizer
 * that takes a division for a regular expression could miss a literal.
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

/**
 * A cache of compiled sources by source text, limited in total bytes: bytecode can be ten times as long as its source. The least recently
 * used entry is dropped first. `bytes`: size of the value; the size of the source is added here.
 */
export function createCompileCache<Value>(mostBytes: number) {
  const entries = new Map<string, { value: Value; bytes: number }>();
  let held = 0;
  const drop = (source: string): { value: Value; bytes: number } | null => {
    const entry = entries.get(source) ?? null;
    if (entry === null) return null;
    entries.delete(source);
    held -= entry.bytes;
    return entry;
  };
  const add = (source: string, entry: { value: Value; bytes: number }): void => {
    entries.set(source, entry);
    held += entry.bytes;
  };
  return {
    get(source: string): Value | null {
      const entry = drop(source);
      if (entry === null) return null;
      add(source, entry);
      return entry.value;
    },
    set(source: string, value: Value, bytes: number): void {
      drop(source);
      // Two bytes per character of the source, and a constant for each entry.
      const all = bytes + source.length * 2 + 200;
      if (all > mostBytes) return;
      add(source, { value, bytes: all });
      for (const oldest of entries.keys()) {
        if (held <= mostBytes) return;
        drop(oldest);
      }
    },
  };
}
