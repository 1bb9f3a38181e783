/** A pattern as re2js compiles it: instructions that read a character, or lead to others. Followed by `pattern-search.ts` and `pattern-filter.ts`. */
import type { RE2JS } from 're2js';

/** An instruction of re2js 2.10, and the kinds of instructions. Those from `rune` on read a character. */
export type Instruction = { op: number; out: number; arg: number; runes: Int32Array; matchRune(rune: number): boolean };
export const kinds = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  assertion: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  rune: 8,
  any: 10,
} as const;

/** Characters that are looked up in tables. */
export const latin = 256;
export const newline = 10;

export type PatternProgram = {
  instructions: readonly Instruction[];
  start: number;
  /** For each instruction, the characters below `latin` that it reads. */
  tables: readonly Uint8Array[];
};

export function readProgram(compiled: RE2JS): PatternProgram {
  const { inst, start } = compiled.re2().prog as { inst: readonly Instruction[]; start: number };
  return { instructions: inst, start, tables: tablesOf(inst) };
}

export function isRead({ instructions, tables }: PatternProgram, state: number, character: number): boolean {
  if (character < latin) return (tables[state] as Uint8Array)[character] === 1;
  const instruction = instructions[state] as Instruction;
  return instruction.op >= kinds.any || (instruction.op >= kinds.rune && instruction.matchRune(character));
}

/** Characters beyond the basic plane have two units. */
export function widthOf(character: number): number {
  return character > 0xffff ? 2 : 1;
}

/** Instructions that follow each other often read the same characters, and share a table. */
function tablesOf(instructions: readonly Instruction[]): Uint8Array[] {
  let last: { instruction: Instruction; table: Uint8Array } | null = null;
  return instructions.map((instruction) => {
    if (last === null || !isSame(instruction, last.instruction)) last = { instruction, table: tableOf(instruction) };
    return last.table;
  });
}

function tableOf(instruction: Instruction): Uint8Array {
  const { op } = instruction;
  return Uint8Array.from({ length: latin }, (_, character) => {
    if (op >= kinds.any) return Number(op === kinds.any || character !== newline);
    return Number(op >= kinds.rune && instruction.matchRune(character));
  });
}

function isSame(one: Instruction, other: Instruction): boolean {
  const isAlike = one.op === other.op && one.arg === other.arg && one.runes.length === other.runes.length;
  return isAlike && one.runes.every((rune, index) => rune === other.runes[index]);
}
