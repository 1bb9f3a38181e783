/**
 * The filter of a webhook, in CEL: which events count. It sees `event` (text), `payload` (whatever came) and `headers` (by name
 * in any case, as in `headers["X-GitHub-Event"]`). What may be said, and why its work is bounded, is `filter-rules.ts`; the language
 * is `@marcbachmann/cel-js`, which interprets and makes no code of an expression.
 *
 * A field that is not there is a fault, and then the filter does not match; in `a && b` and `a || b` it does not matter where the other
 * side decides. So `event == "issues" && payload.issue.number == 3` needs no `has(payload.issue)`; a negation of what may be absent does.
 * Numbers of the payload are doubles: `payload.number == 42` and `> 41` hold, to reckon write `int(payload.number) % 2`.
 */
import { Environment } from '@marcbachmann/cel-js';
import { limits } from '../../limits.ts';
import type { Issue } from '../../problem.ts';
import { FilterRefused, guardFilter, guards } from './filter-rules.ts';
import type { TriggerScope } from '../templates/template.ts';

/** `fault`: why it could not be said; then it does not match. */
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

/** What is written: no deeper and no longer than this. */
const written = variables(new Environment({ limits: { maxAstNodes: limits.maxFilterParts, maxDepth: limits.maxFilterDepth } }));

/** The same with its guards and with all of its brackets, each of which is one deeper: `a && b && c` is `((a && b) && c)`. */
const guarded = variables(new Environment({ homogeneousAggregateLiterals: false, limits: { maxDepth: 3 * limits.maxFilterParts } }))
  .registerFunction(`${guards.single}(dyn): dyn`, single)
  .registerFunction(`${guards.items}(dyn): dyn`, countedItems)
  .registerFunction(`${guards.short}(dyn): dyn`, short);

function compileFilter(text: string): Filter {
  const parsed = written.parse(text);
  // Before the types are looked at: it says what there is instead.
  const guardedText = guardFilter(parsed.ast);
  const { valid, type, error } = parsed.check();
  if (!valid) throw error ?? new Error('it is no expression');
  if (type !== 'bool' && type !== 'dyn')
    throw new Error(`it says ${type ?? 'something'}, and has to say true or false: compare it with ==`);
  const evaluate = guarded.parse(guardedText);
  return (scope) => {
    try {
      const matches: unknown = evaluate(contextOf(scope));
      if (typeof matches === 'boolean') return { matches, fault: null };
      return { matches: false, fault: 'it says neither true nor false of this event' };
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
 * Objects as maps: the evaluator asks each that it meets for its first field, which takes as long as there are fields in an object, and
 * no time in a map. Nor can a field be taken for something of the language then (`constructor`). What stands deeper than JSON may is
 * left out.
 */
function asMaps(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => asMaps(item, depth - 1));
  return new Map(Object.entries(value).map(([name, member]) => [name, asMaps(member, depth - 1)]));
}

/** Thrown by guards: said as it stands. */
class TooMuch extends Error {}

function single(value: unknown): unknown {
  if (isMany(value))
    throw new TooMuch('a list or an object is compared: compare a value in it, its size(), or with one that is written out');
  return value;
}

function countedItems(value: unknown): unknown {
  const count = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
  if (count > limits.maxFilterItems) throw new TooMuch(`a list of ${count} items is gone through, which may have ${limits.maxFilterItems}`);
  return value;
}

function short(value: unknown): unknown {
  if (isMany(value)) throw new TooMuch('lists and objects are not added');
  if (typeof value === 'string' && value.length > limits.maxFilterTextLength)
    throw new TooMuch(`a text of ${value.length} characters is added to another, which may have ${limits.maxFilterTextLength}`);
  return value;
}

function isMany(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // Objects are such as the filter has written out.
  return Array.isArray(value) || value instanceof Map || Object.getPrototypeOf(value) === Object.prototype;
}

/** Of the library's errors the sentence without the drawing of the text. */
function faultOf(error: unknown): { message: string; at: number | null } {
  if (error instanceof FilterRefused) return { message: error.message, at: error.at };
  if (!(error instanceof Error)) return { message: String(error), at: null };
  const summary = 'summary' in error && typeof error.summary === 'string' ? error.summary : error.message;
  const range: unknown = 'range' in error ? error.range : undefined;
  const at = typeof range === 'object' && range !== null && 'start' in range && typeof range.start === 'number' ? range.start : null;
  return { message: `${summary.slice(0, limits.maxQuotedLength * 3)}${hintOf(summary)}`, at };
}

/** What whoever wrote it may have meant. */
function hintOf(summary: string): string {
  const [, name] = /^Unknown variable: (\w{1,40})$/.exec(summary) ?? [];
  if (name !== undefined)
    return `: fields of the event stand in payload, as in payload.${name} or payload["a-b"]; there are event, payload and headers`;
  if (summary.startsWith('has() invalid argument'))
    return ': it takes a path with dots; for all else there is `in`, as in "x-kind" in headers';
  if (/^no such overload: .*double>? [-+*/%] u?int|^no such overload: u?int [-+*/%] .*double/.test(summary))
    return ': numbers of an event are doubles, so write 1.0, or int(payload.number) + 1';
  return '';
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  return `line ${before.split('\n').length}, column ${at - before.lastIndexOf('\n')}`;
}
