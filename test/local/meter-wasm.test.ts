/** A small handwritten module, metered. `test/sandbox/` tests the effect on the engine. */
import { expect, it } from 'vitest';
import { meterWasm } from '../../src/local/build/meter-wasm.ts';

const section = (id: number, ...content: number[]): number[] => [id, content.length, ...content];
const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];

/** Imports `env.settle`; has 1 page of memory; exports one function, `run`. */
function moduleOf(body: readonly number[]): Uint8Array {
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 2, 0x60, 0, 1, 0x7f, 0x60, 0, 0),
    ...section(2, 1, ...text('env'), ...text('settle'), 0, 0),
    ...section(3, 1, 1),
    ...section(5, 1, 0, 1),
    ...section(6, 1, 0x7f, 1, 0x41, 0, 0x0b),
    ...section(7, 1, ...text('run'), 0, 1),
    ...section(10, 1, body.length + 2, 0, ...body, 0x0b),
  ]);
}

type Run = { fuel: WebAssembly.Global; settled: number; run: () => void };

/** `settle` adds this amount of fuel this many times, and then stops the module. */
function instantiate(body: readonly number[], refills: number, fuel = 1_000): Run {
  const { Module, Instance } = WebAssembly as unknown as {
    Module: new (bytes: Uint8Array) => WebAssembly.Module;
    Instance: new (module: WebAssembly.Module, imports: object) => WebAssembly.Instance;
  };
  const metered = meterWasm(moduleOf(body), { fuelExport: 'fuel', settleImport: { module: 'env', name: 'settle' } });
  const made: Partial<Run> = { settled: 0 };
  const settle = (): number => {
    made.settled = (made.settled ?? 0) + 1;
    if (made.settled > refills) return 1;
    if (made.fuel) made.fuel.value = fuel;
    return 0;
  };
  const { exports } = new Instance(new Module(metered), { env: { settle } });
  return Object.assign(made, { fuel: exports.fuel, run: exports.run }) as Run;
}

const spin = [0x03, 0x40, 0x0c, 0, 0x0b];
const recurse = [0x10, 1, 0x10, 1];
const copy = [0x41, 0, 0x41, 0, 0x41, 0x80, 0x80, 0x04, 0xfc, 10, 0, 0];
const fill = [0x41, 0, 0x41, 7, 0x41, 0x80, 0x80, 0x04, 0xfc, 11, 0];

it.each([
  ['a loop that does not end', spin],
  ['a recursion that does not end', recurse],
])('stops %s without fuel', (_, body) => {
  const module = instantiate(body, 3);
  module.fuel.value = 100;
  expect(module.run).toThrow(WebAssembly.RuntimeError);
  expect(module.settled).toBe(4);
});

it.each([
  ['copies', copy],
  ['fills', fill],
])('uses fuel for memory that it %s, by size', (_, body) => {
  const module = instantiate(body, 0);
  module.fuel.value = 1_000;
  module.run();
  expect(module.fuel.value).toBe(1_000 - 65_536 / 128);
  expect(module.run).toThrow(WebAssembly.RuntimeError);
});

it('uses more fuel for loops that load words', () => {
  const turnsOf = (body: readonly number[]): number => {
    const module = instantiate(body, 0);
    module.fuel.value = 100;
    module.run();
    return 100 - Number(module.fuel.value);
  };
  expect(turnsOf([0x03, 0x40, 0x0b])).toBe(1);
  expect(turnsOf([0x03, 0x40, 0x41, 0, 0x28, 2, 0, 0x1a, 0x0b])).toBe(4);
});

it('rejects unknown instructions, and modules without the import', () => {
  expect(() => instantiate([0xfd, 0], 0)).toThrow('The instruction 0xfd 0 cannot be metered');
  expect(() => meterWasm(moduleOf(spin), { fuelExport: 'fuel', settleImport: { module: 'env', name: 'other' } })).toThrow(
    'The WebAssembly module has no import env.other',
  );
});
