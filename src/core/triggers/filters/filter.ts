/**
 * The filter of a webhook, in CEL: it selects the events that count. Variables: `event` (text), `payload` (the parsed body) and `headers`
 * (by name in any case, as in `headers["X-GitHub-Event"]`). `filter-rules.ts` defines the allowed subset and bounds its work.
 * `@marcbachmann/cel-js` interprets the expression without generating code.
 * A missing field is an error, and then the filter does not match; in `a && b` and `a || b` the error is ignored if the other side decides.
 * So `event == "issues" && payload.issue.number == 3` needs no `has(payload.issue)`, but the negation of an optional field does. Numbers in
 * the payload are doubles: `payload.number == 42` and `> 41` work; for integer arithmetic write `int(payload.number) % 2`.
 */
import { Environment } from '@marcbachmann/cel-js';
import { limits } from '../../limits/limits.ts';
import type { Issue } from '../../problem.ts';
import { FilterError, checkFilter, filterGuards } from './filter-rules.ts';
import type { TriggerScope } from '../templates/render-template.ts';

/** Parts of a filter (a name, a path step, an operator, a value), and their nesting depth; every path step adds one level. */
export const maxFilterParts = 400;
const maxFilterDepth = 24;
/**
 * Items that `exists` and similar operators scan: GitHub lists at most 2,048 commits. Each item that does not match costs some
 * microseconds.
 */
export const maxFilterItems = 2_500;
/** Texts that a filter concatenates. */
const maxFilterTextLength = 10_000;

/** `fault`: why the filter could not be evaluated; then it does not match. */
export type Filter = (scope: TriggerScope) => { matches: boolean; fault: string | null };

/** `path` of the issue: the field of the document. */
export function parseFilter(text: string, path: string): { filter: Filter } | { issue: Issue } {
  try {
    return { filter: compileFilter(text) };
  } catch (error) {
    const { message, at } = faultOf(error);
    return { issue: { path, message: at === null ? message : `${placeOf(text, at)}: ${message}` } };
  }
}

const variables = (environment: Environment): Environment =>
  environment.registerVariable('event', 'string').registerVariable('payload', 'dyn').registerVariable('headers', 'map<string, string>');

/** Parses the expression with limits on its size and depth. */
const written = variables(new Environment({ limits: { maxAstNodes: maxFilterParts, maxDepth: maxFilterDepth } }));

/** Parses the guarded expression with all its parentheses, each one level deeper: `a && b && c` becomes `((a && b) && c)`. */
const guarded = variables(new Environment({ homogeneousAggregateLiterals: false, limits: { maxDepth: 3 * maxFilterParts } }))
  .registerFunction(`${filterGuards.single}(dyn): dyn`, single)
  .registerFunction(`${filterGuards.items}(dyn): dyn`, countedItems)
  .registerFunction(`${filterGuards.short}(dyn): dyn`, short);

function compileFilter(text: string): Filter {
  const parsed = written.parse(text);
  // Before type checking, because its errors name the alternatives.
  const guardedText = checkFilter(parsed.ast);
  const { valid, type, error } = parsed.check();
  if (!valid) throw error ?? new Error('it is not an expression');
  if (type !== 'bool' && type !== 'dyn')
    throw new Error(`its result is ${type ?? 'unknown'}, but must be true or false: compare it with ==`);
  const evaluate = guarded.parse(guardedText);
  return (scope) => {
    try {
      const matches: unknown = evaluate(contextOf(scope));
      if (typeof matches === 'boolean') return { matches, fault: null };
      return { matches: false, fault: 'its result for this event is neither true nor false' };
    } catch (error) {
      return { matches: false, fault: faultOf(error).message };
    }
  };
}

function contextOf({ payload, own }: TriggerScope): Record<string, unknown> {
  const { event, headers } = own;
  return {
    event: typeof event === 'string' ? event : '',
    payload: asMaps(payload ?? null, limits.maxJsonDepth),
    headers: asMaps(headers ?? {}, 2),
  };
}

/**
 * Converts objects to maps. For objects, the evaluator looks up the first field at each access, which takes time proportional to their
 * size; for maps it does not, and fields cannot shadow members of the language (`constructor`). Drops values nested deeper than JSON
 * allows.
 */
function asMaps(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => asMaps(item, depth - 1));
  return new Map(Object.entries(value).map(([name, member]) => [name, asMaps(member, depth - 1)]));
}

/** Thrown by guards; the message is reported unchanged. */
class TooMuch extends Error {}

function single(value: unknown): unknown {
  if (isMany(value)) throw new TooMuch('lists and objects cannot be compared: compare a value in it, its size(), or use a literal');
  return value;
}

function countedItems(value: unknown): unknown {
  const count = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
  if (count > maxFilterItems) throw new TooMuch(`a loop runs over a list of ${count} items; at most ${maxFilterItems} are allowed`);
  return value;
}

function short(value: unknown): unknown {
  if (isMany(value)) throw new TooMuch('lists and objects cannot be added');
  if (typeof value === 'string' && value.length > maxFilterTextLength)
    throw new TooMuch(`a string of ${value.length} characters is concatenated; at most ${maxFilterTextLength} are allowed`);
  return value;
}

function isMany(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // Objects are literals of the filter.
  return Array.isArray(value) || value instanceof Map || Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns the message of the library's error without its excerpt. */
function faultOf(error: unknown): { message: string; at: number | null } {
  if (error instanceof FilterError) return { message: error.message, at: error.at };
  if (!(error instanceof Error)) return { message: String(error), at: null };
  const summary = 'summary' in error && typeof error.summary === 'string' ? error.summary : error.message;
  const range: unknown = 'range' in error ? error.range : undefined;
  const at = typeof range === 'object' && range !== null && 'start' in range && typeof range.start === 'number' ? range.start : null;
  return { message: `${summary.slice(0, limits.maxQuotedLength * 3)}${hintOf(summary)}`, at };
}

/** Returns a hint at what the author may have meant. */
function hintOf(summary: string): string {
  const [, name] = /^Unknown variable: (\w{1,40})$/.exec(summary) ?? [];
  if (name !== undefined)
    return `: fields of the event are in payload, as in payload.${name} or payload["a-b"]; the variables are event, payload and headers`;
  if (summary.startsWith('has() invalid argument')) return ': it takes a path with dots; otherwise use `in`, as in "x-kind" in headers';
  if (/^no such overload: .*double>? [-+*/%] u?int|^no such overload: u?int [-+*/%] .*double/.test(summary))
    return ': numbers of an event are doubles, so write 1.0, or int(payload.number) + 1';
  return '';
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  return `line ${before.split('\n').length}, column ${at - before.lastIndexOf('\n')}`;
}
