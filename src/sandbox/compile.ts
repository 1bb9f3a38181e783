/**
 * Source of others into bytecode, running nothing of it. It is the body of an async function and stays one: text that closes the function it
 * stands in, to go on outside, is refused. The bytecode never leaves the isolate, and none comes from elsewhere.
 */
import { EvalFlags, JSException, type QuickJS } from 'quickjs-wasi';
import { limits } from '../core/limits.ts';
import { utf8Length } from '../core/utf8.ts';
import { startCompiler } from './engine.ts';
import { createKeptSources } from './kept-sources.ts';

/** What the engine calls the source in what it says of lines. */
export const sourceName = 'code';

export type SourceFault = { message: string; line: number | null };
export type Compiled = { ok: true; bytecode: Uint8Array } | { ok: false; fault: SourceFault };

/** Of one compiler: names it has met stay in its memory. */
const maxUses = 200;

let compiler: { vm: QuickJS; uses: number } | null = null;
const kept = createKeptSources<Compiled>(limits.maxCompiledBytes);

export async function compile(source: string): Promise<Compiled> {
  const before = kept.get(source);
  if (before !== null) return before;
  const compiled = await compileAnew(source);
  kept.keep(source, compiled, compiled.ok ? compiled.bytecode.byteLength : 0);
  return compiled;
}

async function compileAnew(source: string): Promise<Compiled> {
  if (utf8Length(source) > limits.maxImplementationBytes)
    return refused(`the code is longer than ${limits.maxImplementationBytes} bytes; make several tools of it`);
  const bigInt = bigIntLiteral.exec(source);
  if (bigInt !== null)
    return refused(`"${bigInt[0]}": there are no BigInts here; use numbers, and in a text write "10" + "n"`, lineAt(source, bigInt.index));
  if (compiler === null || compiler.uses >= maxUses) {
    compiler?.vm.dispose();
    compiler = null;
    const vm = await startCompiler();
    compiler = { vm, uses: 0 };
  }
  compiler.uses++;
  try {
    return compileWith(compiler.vm, source);
  } catch (error) {
    // Out of memory or of stack: what it holds now is anybody's guess.
    compiler = null;
    return refused(`the code cannot be compiled (${String(error)}); make it smaller`);
  }
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
 * Of the language's numbers those that end with "n": a power of two of them can run for hours without being asked to stop. Where one stands in a
 * text it is refused as well, since who mistook a division for a regular expression would let it through.
 */
const bigIntLiteral = /(?<![\w$])(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)n(?![\w$])/;

function refused(message: string, line: number | null = null): Compiled {
  return { ok: false, fault: { message, line } };
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}
