/**
 * The engine: QuickJS in WebAssembly (`quickjs-wasi`) with added fuel metering (`src/local/build/meter-wasm.ts`), so that it cannot run for
 * long without calling the host. Loaded when code runs for the first time. Each machine is prepared from scratch: restoring a snapshot
 * of a prepared one took as long, and more memory.
 */
import { Intrinsics, QuickJS, type HostFunction, type JSValueHandle } from 'quickjs-wasi';
import { limits } from '../core/limits/limits.ts';
import { sandboxPrelude } from './sandbox-prelude.ts';
import wasm from './quickjs.wasm';
import { KB } from '../core/limits/units.ts';

/** The stack of one machine for calls of its functions: the engine's own stack is 1 MB, and it uses more of the isolate's. */
const maxSandboxStackBytes = 256 * KB;

/** No `eval`, no `Function`, no clock, nothing that outlives a run, and no `Proxy`, whose traps can hide what a value is. */
const intrinsics =
  (Intrinsics.ALL & ~Intrinsics.EVAL & ~Intrinsics.PROXY & ~Intrinsics.WEAK_REF & ~Intrinsics.PERFORMANCE & ~Intrinsics.BIG_INT) >>> 0;

/** The host functions of a machine. The machine calls these during its work; they record the call and never throw. */
export type Host = {
  /** `args` is read only on demand: each read is a copy outside the machine's memory. */
  call(id: number, name: string, args: { length: number; toString(): string }): void;
  print(line: { toString(): string }): void;
  /** Called when the fuel is used up. Either sets `fuel` and returns true, or returns false to stop the machine permanently. */
  refuel(): boolean;
  now(): number;
};

/**
 * The fuel of a machine: one unit for each loop iteration in the engine, each call of an engine function that may recurse, and each
 * 128 bytes copied or filled; 2 to 10 ns. A loop iteration of the guest takes about 30 units.
 */
export type Fuel = { value: number };

export type Engine = {
  vm: QuickJS;
  fuel: Fuel;
  begin: JSValueHandle;
  deliver: JSValueHandle;
  finish: JSValueHandle;
  fail: JSValueHandle;
};

/** The result, not its promise, which would never settle if the request that started it ended. */
let prepared: Uint8Array | null = null;

/** Starts a machine. Until it returns only our own code runs, which fuel does not limit. */
export async function startEngine(host: Host): Promise<Engine> {
  prepared ??= await prepare();
  const guest = prepared;
  let isReady = false;
  const vm = await QuickJS.create({ ...optionsFor({ ...host, refuel: () => !isReady || host.refuel() }), intrinsics });
  try {
    const functions = [vm.newFunction('call', callOf(vm, host)), vm.newFunction('print', printOf(vm, host))];
    const parts = vm.callFunction(vm.evalBytecode(guest), vm.undefined, ...functions);
    const part = (index: number): JSValueHandle => parts.getProp(String(index));
    isReady = true;
    return { vm, fuel: fuelOf(vm), begin: part(0), deliver: part(1), finish: part(2), fail: part(3) };
  } catch (error) {
    vm.dispose();
    throw error;
  }
}

/** Starts a machine that only compiles. `refuel`: as for `Host`. */
export async function startCompiler(refuel: () => boolean): Promise<{ vm: QuickJS; fuel: Fuel }> {
  const vm = await QuickJS.create({ wasm, memoryLimit: limits.maxSandboxMemoryBytes, interruptHandler: () => !refuel() });
  return { vm, fuel: fuelOf(vm) };
}

/** Returns the fuel counter and turns off the engine's own polling, which uses the same handler but does not reach built-in functions. */
function fuelOf(vm: QuickJS): Fuel {
  const exports = vm._getExports() as ReturnType<QuickJS['_getExports']> & { fuel: Fuel };
  exports.qjs_set_interrupt_handler(0);
  return exports.fuel;
}

function optionsFor(host: Host) {
  return {
    wasm,
    memoryLimit: limits.maxSandboxMemoryBytes,
    maxStackSize: maxSandboxStackBytes,
    // The engine traps when this returns true.
    interruptHandler: () => !host.refuel(),
    timezoneOffset: 0,
    wasi: (memory: WebAssembly.Memory) => ({
      // In nanoseconds, constant during a run.
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.trunc(host.now())) * 1_000_000n, true);
        return 0;
      },
      // The engine's own output is discarded.
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
    if (line) host.print(line);
    return vm.undefined;
  };
}

async function prepare(): Promise<Uint8Array> {
  const compiler = await QuickJS.create({ wasm });
  const guest = compiler.compile(sandboxPrelude, 'host');
  compiler.dispose();
  return guest;
}
