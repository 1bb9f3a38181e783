/**
 * Adds fuel metering to a WebAssembly binary: each loop iteration, each entry of a function that calls others, and each block of copied or
 * filled memory decrements a counter. When the counter is used up, the module calls an imported function, which refills it or stops the
 * module with a trap. No code in the module runs for long without using fuel, so the host can limit any work, also where no clock advances.
 * `build-engine.ts` runs this when the bundle is built: Workers cannot compile WebAssembly at run time.
 * Format: WebAssembly Core Specification 2.0, chapter 5 (binary format).
 */

import { WasmReader, s32, wasmText, u32, WasmWriter } from './wasm-binary.ts';

type Options = {
  /** Name under which the counter (a mutable i32 global) is exported. */
  fuelExport: string;
  /** Imported function `() -> i32`, called when the counter is negative. Nonzero: trap. */
  settleImport: { module: string; name: string };
};

/** Cost of a loop iteration that loads words (each may be a pointer that misses the caches). Other iterations cost 1. */
const chaseFuel = 4;
/** Bytes copied or filled per unit of fuel. */
const bytesPerFuel = 128;

const sections = { type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 } as const;
const i32 = 0x7f;

export function meterWasm(binary: Uint8Array, options: Options): Uint8Array<ArrayBuffer> {
  const found = readSections(binary);
  const contents = (id: number): WasmReader =>
    new WasmReader(found.find((section) => section.id === id)?.content ?? missing(`section ${id}`));
  const imports = readImports(contents(sections.import));
  const settle = imports.indexOf(`${options.settleImport.module}.${options.settleImport.name}`);
  if (settle < 0) missing(`import ${options.settleImport.module}.${options.settleImport.name}`);
  const functions = contents(sections.function).u32();
  const firstType = contents(sections.type).u32();
  const fuel = contents(sections.global).u32();
  const added = imports.length + functions;
  const context: Context = { fuel, settle: added, copy: added + 1, fill: added + 2 };
  const appended: Record<number, number[][]> = {
    [sections.type]: [
      [0x60, 0, 0],
      [0x60, 3, i32, i32, i32, 0],
    ],
    [sections.function]: [u32(firstType), u32(firstType + 1), u32(firstType + 1)],
    // Enough for the engine to start; the host sets it before it runs anything else.
    [sections.global]: [[i32, 1, 0x41, ...s32(0x7fffffff), 0x0b]],
    [sections.export]: [[...wasmText(options.fuelExport), 3, ...u32(fuel)]],
  };
  const out = new WasmWriter();
  out.bytes(binary.subarray(0, 8));
  for (const { id, content } of found) {
    const section = new WasmWriter();
    if (id === sections.code) writeCode(section, new WasmReader(content), context, settle);
    else if (appended[id] !== undefined) append(section, new WasmReader(content), appended[id]);
    else section.bytes(content);
    out.byte(id);
    out.sized(section);
  }
  return out.take();
}

/** Indices of the counter and of the added functions. */
type Context = { fuel: number; settle: number; copy: number; fill: number };

function append(section: WasmWriter, reader: WasmReader, entries: readonly number[][]): void {
  section.u32(reader.u32() + entries.length);
  section.bytes(reader.rest());
  for (const entry of entries) section.bytes(entry);
}

function writeCode(section: WasmWriter, reader: WasmReader, context: Context, settleImport: number): void {
  const count = reader.u32();
  section.u32(count + 3);
  for (let index = 0; index < count; index++) {
    const size = reader.u32();
    section.sized(meterFunction(new WasmReader(reader.take(size)), context));
  }
  const { fuel, settle } = context;
  // if (settleImport() !== 0) trap
  section.sized(bodyOf([0x10, ...u32(settleImport), 0x04, 0x40, 0x00, 0x0b]));
  const takeForBytes = [
    0x23,
    ...u32(fuel),
    0x20,
    2,
    0x41,
    ...s32(Math.log2(bytesPerFuel)),
    0x76,
    0x6b,
    0x24,
    ...u32(fuel),
    ...settleIfUsed(fuel, settle),
  ];
  const operands = [0x20, 0, 0x20, 1, 0x20, 2];
  section.sized(bodyOf([...takeForBytes, ...operands, 0xfc, 10, 0, 0]));
  section.sized(bodyOf([...takeForBytes, ...operands, 0xfc, 11, 0]));
}

function bodyOf(instructions: readonly number[]): WasmWriter {
  const body = new WasmWriter();
  body.byte(0);
  body.bytes(instructions);
  body.byte(0x0b);
  return body;
}

/** fuel -= units; if (fuel < 0) settle() */
function take(units: number, { fuel, settle }: Context): number[] {
  return [0x23, ...u32(fuel), 0x41, ...s32(units), 0x6b, 0x24, ...u32(fuel), ...settleIfUsed(fuel, settle)];
}

function settleIfUsed(fuel: number, settle: number): number[] {
  return [0x23, ...u32(fuel), 0x41, 0, 0x48, 0x04, 0x40, 0x10, ...u32(settle), 0x0b];
}

function meterFunction(reader: WasmReader, context: Context): WasmWriter {
  const body = new WasmWriter();
  const locals = reader.position;
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.u32();
    reader.byte();
  }
  body.bytes(reader.since(locals));
  const instructions: { bytes: ArrayLike<number>; follows: Block | null }[] = [];
  const open: Block[] = [];
  let calls = false;
  while (!reader.isAtEnd()) {
    const start = reader.position;
    const opcode = reader.byte();
    const operation = opcode === 0xfc ? reader.u32() : 0;
    skipImmediates(reader, opcode, operation);
    calls ||= opcode >= 0x10 && opcode <= 0x13;
    let follows: Block | null = null;
    if (opcode >= 0x02 && opcode <= 0x04) {
      const isLoop = opcode === 0x03;
      const block = { loads: false, dispatches: false, loop: null as Block | null };
      block.loop = isLoop ? block : (open.at(-1)?.loop ?? null);
      if (isLoop) follows = block;
      open.push(block);
    } else if (opcode === 0x0b) open.pop();
    const loop = open.at(-1)?.loop ?? null;
    if (loop !== null && opcode === 0x28) loop.loads = true;
    if (loop !== null && opcode === 0x0e) loop.dispatches = true;
    instructions.push({ bytes: copied(opcode, operation, context) ?? reader.since(start), follows });
  }
  // A function without calls and loops ends soon; one with calls may recurse.
  if (calls) body.bytes(take(1, context));
  for (const { bytes, follows } of instructions) {
    body.bytes(bytes);
    if (follows !== null) body.bytes(take(follows.loads && !follows.dispatches ? chaseFuel : 1, context));
  }
  return body;
}

/** Returns the call that replaces `memory.copy` or `memory.fill`; null for all other instructions. */
function copied(opcode: number, operation: number, { copy, fill }: Context): number[] | null {
  if (opcode !== 0xfc || (operation !== 10 && operation !== 11)) return null;
  return [0x10, ...u32(operation === 10 ? copy : fill)];
}

/** An open block, loop or branch. `loop`: the innermost loop around it, or itself. */
type Block = { loads: boolean; dispatches: boolean; loop: Block | null };

function skipImmediates(reader: WasmReader, opcode: number, operation: number): void {
  if (opcode === 0x43 || opcode === 0x44) reader.take(opcode === 0x43 ? 4 : 8);
  else for (let left = countImmediates(reader, opcode, operation); left > 0; left--) reader.leb();
}

/** Returns how many LEB128 numbers follow an instruction (chapter 5.4). An unknown instruction fails the build. */
function countImmediates(reader: WasmReader, opcode: number, operation: number): number {
  if (opcode === 0x0e) return reader.u32() + 1;
  if (opcode === 0x1c) return reader.u32();
  if (opcode === 0xfc) return bulkImmediates[operation] ?? unknownOpcode(opcode, operation);
  if (opcode === 0x11 || opcode === 0x13 || (opcode >= 0x28 && opcode <= 0x3e)) return 2;
  const isIn = (...ranges: readonly (readonly [first: number, last: number])[]): boolean =>
    ranges.some(([first, last]) => opcode >= first && opcode <= last);
  if (isIn([0x02, 0x04], [0x0c, 0x0d], [0x10, 0x10], [0x12, 0x12], [0x20, 0x26], [0x3f, 0x42], [0xd0, 0xd0], [0xd2, 0xd2])) return 1;
  if (isIn([0x00, 0x01], [0x05, 0x05], [0x0b, 0x0b], [0x0f, 0x0f], [0x1a, 0x1b], [0x45, 0xc4], [0xd1, 0xd1])) return 0;
  return unknownOpcode(opcode, operation);
}

/** Number of immediates after 0xfc and the operation. Initialization from data and tables (8, 9, 12 to 17) happens once, at the start. */
const bulkImmediates: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

function unknownOpcode(opcode: number, operation: number): never {
  throw new Error(`The instruction 0x${opcode.toString(16)} ${operation} cannot be metered. Add its immediates to meter-wasm.ts.`);
}

function missing(what: string): never {
  throw new Error(`The WebAssembly module has no ${what}.`);
}

function readSections(binary: Uint8Array): { id: number; content: Uint8Array }[] {
  const reader = new WasmReader(binary.subarray(8));
  const found: { id: number; content: Uint8Array }[] = [];
  while (!reader.isAtEnd()) {
    const id = reader.byte();
    found.push({ id, content: reader.take(reader.u32()) });
  }
  return found;
}

/** Returns the names of the imported functions, in order. A module with other imports is rejected: their indices are not counted here. */
function readImports(reader: WasmReader): string[] {
  return Array.from({ length: reader.u32() }, () => {
    const name = `${reader.name()}.${reader.name()}`;
    if (reader.byte() !== 0) throw new Error(`The import ${name} is not a function.`);
    reader.u32();
    return name;
  });
}
