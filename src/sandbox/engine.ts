/**
 * The engine (QuickJS in WebAssembly, `quickjs-wasi`), loaded by the first who runs code. Each machine is prepared anew: a copy of one that
 * was prepared once (its snapshot) took as long to make, and more memory.
 */
import { Intrinsics, QuickJS, type HostFunction, type JSValueHandle } from 'quickjs-wasi';
import wasm from 'quickjs-wasi/quickjs.wasm';
import { limits } from '../core/limits.ts';
import { fenceSource } from './guest-fence.ts';
import { guestSource } from './guest.ts';

/** No `eval`, no `Function`, nothing that clocks or outlives, and no `Proxy`, whose traps hide what a value is. */
const intrinsics =
  (Intrinsics.ALL & ~Intrinsics.EVAL & ~Intrinsics.PROXY & ~Intrinsics.WEAK_REF & ~Intrinsics.PERFORMANCE & ~Intrinsics.BIG_INT) >>> 0;

/** What the host does for a machine. They are called in the midst of its work: they take note, and never throw. */
export type Host = {
  /** `args`: read only where they are wanted, since each is a copy outside of the machine's memory. */
  call(id: number, name: string, args: { length: number; toString(): string }): void;
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

/** The guest's code, compiled once, and the place of the count. */
type Prepared = { fence: Uint8Array; guest: Uint8Array; counter: number | null };

let prepared: Promise<Prepared> | null = null;

export async function startEngine(host: Host): Promise<Engine> {
  prepared ??= prepare().catch((error: unknown) => {
    // Whatever it was, the next one tries again.
    prepared = null;
    throw error;
  });
  const { fence, guest, counter } = await prepared;
  // What runs until then is ours, and not what the host counts.
  let isReady = false;
  const vm = await QuickJS.create({ ...optionsFor({ ...host, interrupt: () => isReady && host.interrupt() }), intrinsics });
  try {
    const functions = [vm.newFunction('call', callOf(vm, host)), vm.newFunction('print', printOf(vm, host))];
    vm.callFunction(vm.evalBytecode(fence), vm.undefined).dispose();
    const parts = vm.callFunction(vm.evalBytecode(guest), vm.undefined, ...functions);
    const part = (index: number): JSValueHandle => parts.getProp(String(index));
    isReady = true;
    return { vm, begin: part(0), deliver: part(1), finish: part(2), fail: part(3), polls: counterOf(vm, counter) };
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

function callOf(vm: QuickJS, host: Host): HostFunction {
  return (id, name, args) => {
    if (id && name && args) host.call(id.toNumber(), name.toString(), args);
    return vm.undefined;
  };
}

function printOf(vm: QuickJS, host: Host): HostFunction {
  return (line) => {
    if (line) host.print(line.toString());
    return vm.undefined;
  };
}

async function prepare(): Promise<Prepared> {
  const compiler = await QuickJS.create({ wasm });
  const [fence, guest, spin] = [fenceSource, guestSource, 'for (let turn = 0; turn < 50000; turn++);'].map((source) =>
    compiler.compile(source, 'host'),
  );
  compiler.dispose();
  if (!fence || !guest || !spin) throw new Error('the sources of the guest are not whole');
  return { fence, guest, counter: await findCounter(spin) };
}

/**
 * Where the engine counts down to its next question, found by looking: when it asks, the count has just been set anew, to `defaultPolls`.
 * With it we are asked more often, since 10,000 turns of a loop whose body is one costly operation take minutes. An offset in words from the
 * engine's context, the same in every machine; null: none, or more than one, looks like it.
 */
async function findCounter(spin: Uint8Array): Promise<number | null> {
  const seen: Set<number>[] = [];
  const look = { words: (): Int32Array => new Int32Array(0) };
  const vm = await QuickJS.create({
    wasm,
    intrinsics,
    interruptHandler() {
      const words = look.words();
      seen.push(new Set([...words.keys()].filter((at) => words[at] === defaultPolls)));
      return false;
    },
  });
  look.words = () => contextOf(vm);
  vm.evalBytecode(spin).dispose();
  vm.dispose();
  const found = seen.length < 3 ? [] : [...(seen[1] ?? [])].filter((at) => seen.slice(1).every((others) => others.has(at)));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function contextOf(vm: QuickJS): Int32Array {
  const exports = vm._getExports();
  return new Int32Array(exports.memory.buffer, exports.qjs_get_context_ptr(), 256);
}

function counterOf(vm: QuickJS, counter: number | null): Engine['polls'] {
  if (counter === null) return null;
  let words: Int32Array = new Int32Array(0);
  let last = defaultPolls;
  return (count) => {
    // Memory that grew is another buffer.
    if (words.length === 0) words = contextOf(vm);
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
