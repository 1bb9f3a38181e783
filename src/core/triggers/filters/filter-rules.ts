/**
 * The subset of CEL that filters may use (github.com/google/cel-spec: doc/langdef.md), and the rewriting that keeps evaluation linear in
 * the size of the event, since an administrator's expression runs on up to a megabyte of untrusted data. Supported is what inspects JSON;
 * regular expressions, dates, bytes and nested loops are not.
 * The expression is rewritten with guards where the event determines the cost: compared values are scalar (lists and objects only with
 * literals), lists in `exists` and similar macros are bounded, strings joined by `+` are short; and in such macros the event may only be
 * compared with the item. `filter.ts` implements the guards.
 */
import { quoted } from '../../problem.ts';

/** A node of the parsed expression. `start`: its offset in `input`. */
export type FilterPart = { readonly input: string; readonly start: number; readonly end: number } & (
  | { readonly op: 'value'; readonly args: unknown }
  | { readonly op: 'id'; readonly args: string }
  | { readonly op: '.' | '.?'; readonly args: readonly [FilterPart, string] }
  | { readonly op: '[]' | '[?]'; readonly args: readonly [FilterPart, FilterPart] }
  | { readonly op: 'call'; readonly args: readonly [string, readonly FilterPart[]] }
  | { readonly op: 'rcall'; readonly args: readonly [string, FilterPart, readonly FilterPart[]] }
  | { readonly op: 'list'; readonly args: readonly FilterPart[] }
  | { readonly op: 'map'; readonly args: readonly (readonly [FilterPart, FilterPart])[] }
  | { readonly op: '?:'; readonly args: readonly FilterPart[] }
  | { readonly op: '!_' | '-_'; readonly args: FilterPart }
  | { readonly op: BinaryOperator; readonly args: readonly [FilterPart, FilterPart] }
);
type BinaryOperator = '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

/** The variables of a filter. */
export const filterVariables: readonly string[] = ['event', 'payload', 'headers'];

/** Functions that filters cannot call themselves. */
export const filterGuards = { single: 'moniker_single', items: 'moniker_items', short: 'moniker_short' } as const;

const macros: readonly string[] = ['all', 'exists', 'exists_one', 'map', 'filter'];
const calls: readonly string[] = ['has', 'size', 'int', 'uint', 'double', 'string', 'bool', 'dyn', 'type'];
const methods: readonly string[] = ['size', 'contains', 'startsWith', 'endsWith', 'lowerAscii', 'upperAscii', 'trim', 'substring'];
const comparisons: readonly string[] = ['==', '!=', '<', '<=', '>', '>='];

/** An unsupported expression and its position. */
export class FilterError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Throws `FilterRefused`. The recursion is as deep as the parser allows. */
export function checkFilter(part: FilterPart): string {
  return write(part, null);
}

/** `item`: the name of the loop variable inside a macro; otherwise null. */
function write(part: FilterPart, item: string | null): string {
  switch (part.op) {
    case 'value':
      return literal(part);
    case 'id':
      return identifier(part, item);
    case '.':
      return `${write(part.args[0], item)}.${fieldName(part.args[1], part)}`;
    case '[]':
      return `${write(part.args[0], item)}[${isHeaders(part.args[0]) ? headerName(part.args[1], item) : write(part.args[1], item)}]`;
    case '.?':
    case '[?]':
      throw new FilterError('optional fields (.?) are not supported: check has(payload.a) first', part.start);
    case 'call':
      return call(part, item);
    case 'rcall':
      return method(part, item);
    case 'list':
      return `[${part.args.map((each) => write(each, item)).join(', ')}]`;
    case 'map':
      return `{${part.args.map(([key, value]) => `${write(key, item)}: ${write(value, item)}`).join(', ')}}`;
    case '?:': {
      const [condition = '', yes = '', no = ''] = part.args.map((each) => write(each, item));
      return `(${condition} ? ${yes} : ${no})`;
    }
    case '!_':
    case '-_':
      return `${part.op.charAt(0)}(${write(part.args, item)})`;
    default:
      return binary(part, item);
  }
}

/** JSON numbers are doubles: integers that they cannot represent are compared in rounded form. */
function literal({ args: value, input, start, end }: Extract<FilterPart, { op: 'value' }>): string {
  if (value instanceof Uint8Array) throw new FilterError('bytes (b"…") are not supported, because JSON has none', start);
  if (typeof value !== 'bigint' || Number.isSafeInteger(Number(value))) return input.slice(start, end);
  return `dyn(${Number(value).toFixed(1)})`;
}

function identifier({ args: name, start }: Extract<FilterPart, { op: 'id' }>, item: string | null): string {
  if (item !== null && filterVariables.includes(name))
    throw new FilterError(
      `in a loop, ${name} can only be compared with the item (as in ${item}.id == ${name}.id), because anything else takes too long`,
      start,
    );
  return name;
}

function fieldName(name: string, { start }: FilterPart): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new FilterError(`write the field ${quoted(name)} in brackets: ["…"]`, start);
  return name;
}

function call({ args: [name, given], start }: Extract<FilterPart, { op: 'call' }>, item: string | null): string {
  if (!calls.includes(name)) throw new FilterError(`filters have no function ${quoted(name)}; use ${calls.join(', ')}`, start);
  const [first] = given;
  // `has` only tests for existence and reads no value.
  if (name === 'has' && first !== undefined && isPathOf(first, filterVariables)) return `has(${write(first, null)})`;
  return `${name}(${given.map((each) => write(each, item)).join(', ')})`;
}

function method(part: Extract<FilterPart, { op: 'rcall' }>, item: string | null): string {
  const [name, receiver, given] = part.args;
  if (macros.includes(name)) return macro(part, item);
  if (name === 'matches')
    throw new FilterError('regular expressions are not supported: use startsWith, endsWith, contains or in', part.start);
  if (!methods.includes(name))
    throw new FilterError(`filters have no method ${quoted(name)}; use ${[...methods, ...macros].join(', ')}`, part.start);
  if (name === 'contains' && given[0]?.op !== 'value')
    throw new FilterError('contains requires a string literal, as in contains("urgent")', given[0]?.start ?? part.start);
  return `${write(receiver, item)}.${name}(${given.map((each) => write(each, item)).join(', ')})`;
}

function macro({ args: [name, list, given], start }: Extract<FilterPart, { op: 'rcall' }>, item: string | null): string {
  if (item !== null) throw new FilterError(`${name} is nested in another loop, which takes too long for a large event`, start);
  const [variable, ...rest] = given;
  if (variable?.op !== 'id') throw new FilterError(`${name} needs a name for the item first, as in ${name}(x, x.id == 1)`, start);
  const itemName = variable.args;
  if (filterVariables.includes(itemName))
    throw new FilterError(`the item cannot be named ${itemName}, because that name is taken`, variable.start);
  return `${filterGuards.items}(${write(list, null)}).${name}(${[itemName, ...rest.map((each) => write(each, itemName))].join(', ')})`;
}

type Binary = Extract<FilterPart, { op: BinaryOperator }>;

function binary(part: Binary, item: string | null): string {
  const { op, args } = part;
  const [left, right] = args;
  if (comparisons.includes(op)) return `(${compared(left, right, item)} ${op} ${compared(right, left, item)})`;
  if (op === 'in') {
    const wanted = isHeaders(right) ? headerName(left, item) : write(left, item);
    return `(${guarded(left, filterGuards.single, wanted)} in ${write(right, item)})`;
  }
  if (op === '+')
    return `(${guarded(left, filterGuards.short, write(left, item))} + ${guarded(right, filterGuards.short, write(right, item))})`;
  return `(${write(left, item)} ${op} ${write(right, item)})`;
}

function compared(part: FilterPart, other: FilterPart, item: string | null): string {
  if (item !== null && isPathOf(part, filterVariables) && !isPathOf(other, filterVariables))
    return `${filterGuards.single}(${write(part, null)})`;
  const written = write(part, item);
  // The comparison reads no more than the size of the literal.
  return other.op === 'list' || other.op === 'map' ? written : guarded(part, filterGuards.single, written);
}

function guarded({ op }: FilterPart, guard: string, written: string): string {
  return op === 'value' || op === 'list' || op === 'map' ? written : `${guard}(${written})`;
}

function isHeaders(part: FilterPart): boolean {
  return part.op === 'id' && part.args === 'headers';
}

/** Senders document header names in mixed case; they are stored in lower case. */
function headerName(part: FilterPart, item: string | null): string {
  return part.op === 'value' && typeof part.args === 'string' ? JSON.stringify(part.args.toLowerCase()) : write(part, item);
}

/** Returns whether the part is a path such as `payload.a["b"]` that starts at one of these variables. */
function isPathOf(part: FilterPart, variables: readonly string[]): boolean {
  let at = part;
  for (;;) {
    if (at.op === 'id') return variables.includes(at.args);
    if (at.op !== '.' && at.op !== '[]') return false;
    if (at.op === '[]' && at.args[1].op !== 'value') return false;
    [at] = at.args;
  }
}
