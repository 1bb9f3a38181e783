/**
 * The engine (QuickJS in WebAssembly, `quickjs-wasi`), loaded by the first who runs code. A machine is a copy of one that was prepared
 * once: preparing takes longer than copying it does.
 */
import { Intrinsics, QuickJS, type JSValueHandle, type Snapshot } from 'quickjs-wasi';
import wasm from 'quickjs-wasi/quickjs.wasm';
import { limits } from '../core/limits.ts';
import { fenceSource } from './guest-fence.ts';
import { guestSource } from './guest.ts';

/** No `eval`, no `Function`, nothing that clocks or outlives, and no `Proxy`, whose traps hide what a value is. */
const intrinsics =
  (Intrinsics.ALL & ~Intrinsics.EVAL & ~Intrinsics.PROXY & ~Intrinsics.WEAK_REF & ~Intrinsics.PERFORMANCE & ~Intrinsics.BIG_INT) >>> 0;

/** What the host does for a machine. They are called in the midst of its work: they take note, and never throw. */
export type Host = {
  call(id: number, name: string, args: string): void;
  print(line: string): void;
  /** True ends the machine's work, and no `catch` of the code hears of it. */
  interrupt(): boolean;
  now(): number;
};

export type Engine = {
  vm: QuickJS;
  begin: JSValueHandle;
  deliver: JSValueHandle;
  finish: JSValueHandle;
  fail: JSValueHandle;
  /**
   * Sets how many loops and calls of the code there are to the next question, by whoever is asked, and says how many there were to this one.
   * null: that cannot be set, and is `defaultPolls`.
   */
  polls: ((count: number) => number) | null;
};

/** Of the engine's own making, between two questions. */
export const defaultPolls = 10_000;

type Prepared = { snapshot: Snapshot; tokens: readonly number[]; counter: number | null };

let prepared: Promise<Prepared> | null = null;

export async function startEngine(host: Host): Promise<Engine> {
  prepared ??= prepare().catch((error: unknown) => {
    // Whatever it was, the next one tries again.
    prepared = null;
    throw error;
  });
  const { snapshot, tokens, counter } = await prepared;
  const vm = await QuickJS.restore(snapshot, optionsFor(host));
  try {
    register(vm, host);
    const [begin, deliver, finish, fail] = tokens.map((token) => vm.importHandle(token));
    if (!begin || !deliver || !finish || !fail) throw new Error('the prepared machine is not whole');
    return { vm, begin, deliver, finish, fail, polls: counterOf(vm, counter) };
  } catch (error) {
    vm.dispose();
    throw error;
  }
}

function optionsFor(host: Host) {
  return {
    wasm,
    memoryLimit: limits.maxSandboxMemoryBytes,
    maxStackSize: limits.maxSandboxStackBytes,
    interruptHandler: () => host.interrupt(),
    timezoneOffset: 0,
    wasi: (memory: WebAssembly.Memory) => ({
      // Nanoseconds; one moment for the whole run.
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.trunc(host.now())) * 1_000_000n, true);
        return 0;
      },
      // The engine's own words go nowhere.
      fd_write: () => 0,
      random_get: (at: number, length: number) => {
        new Uint8Array(memory.buffer, at, length).fill(7);
        return 0;
      },
    }),
  };
}

function register(vm: QuickJS, host: Host): void {
  vm.registerHostCallback('call', (id, name, args) => {
    if (id && name && args) host.call(id.toNumber(), name.toString(), args.toString());
    return vm.undefined;
  });
  vm.registerHostCallback('print', (line) => {
    if (line) host.print(line.toString());
    return vm.undefined;
  });
}

async function prepare(): Promise<Prepared> {
  const seen: Set<number>[] = [];
  const idle: Host = { call() {}, print() {}, now: () => 0, interrupt: () => false };
  const compiler = await QuickJS.create({ wasm });
  const [fence, guestCode] = [fenceSource, guestSource].map((source) => compiler.compile(source, 'host'));
  const spin = compiler.compile('for (let turn = 0; turn < 50000; turn++);', 'host');
  compiler.dispose();
  if (!fence || !guestCode) throw new Error('the sources of the guest are not whole');
  let vm: QuickJS | null = null;
  const started = await QuickJS.create({
    ...optionsFor({
      ...idle,
      interrupt: () => {
        if (vm !== null) seen.push(countersOf(vm));
        return false;
      },
    }),
    intrinsics,
  });
  vm = started;
  started.evalBytecode(spin).dispose();
  const counter = seen.length < 3 ? [] : [...(seen[0] ?? [])].filter((at) => seen.every((others) => others.has(at)));
  const call = started.newFunction('call', () => started.undefined);
  const print = started.newFunction('print', () => started.undefined);
  started.callFunction(started.evalBytecode(fence), started.undefined).dispose();
  const guest = started.evalBytecode(guestCode);
  const parts = started.callFunction(guest, started.undefined, call, print);
  const tokens = ['0', '1', '2', '3'].map((index) => started.exportHandle(parts.getProp(index)));
  for (const handle of [call, print, guest, parts]) handle.dispose();
  const snapshot = started.snapshot();
  // Its memory is what machines begin with, and is not touched again.
  started.dispose();
  return { snapshot, tokens, counter: counter.length === 1 ? (counter[0] ?? null) : null };
}

/**
 * Where the engine counts down to its next question, found by looking: when it asks, the count has just been set anew, to `defaultPolls`.
 * With it we are asked more often, since 10,000 turns of a loop whose body is one costly operation take minutes. Offsets in words.
 */
function countersOf(vm: QuickJS): Set<number> {
  const exports = vm._getExports();
  const words = new Int32Array(exports.memory.buffer, exports.qjs_get_context_ptr(), 256);
  return new Set([...words.keys()].filter((at) => words[at] === defaultPolls));
}

function counterOf(vm: QuickJS, counter: number | null): Engine['polls'] {
  if (counter === null) return null;
  const exports = vm._getExports();
  let words = new Int32Array(0);
  let last = defaultPolls;
  return (count) => {
    // Memory that grew is another buffer.
    if (words.length === 0) words = new Int32Array(exports.memory.buffer, exports.qjs_get_context_ptr(), 256);
    // The engine begins its count anew before it asks. A pattern that is being matched asks by a count of its own, which is as long.
    const since = words[counter] === defaultPolls ? last : defaultPolls;
    words[counter] = count;
    last = count;
    return since;
  };
}

/** One for compiling, which runs nothing. */
export async function startCompiler(): Promise<QuickJS> {
  return await QuickJS.create({ wasm, memoryLimit: limits.maxSandboxMemoryBytes });
}
