/**
 * Returns the input schema that a model sees under an entry's rules: without hidden arguments, with renamed arguments and new defaults. It
 * never rejects more than necessary; calls are checked against the tool's own schema in any case. Used when an edition is compiled;
 * `entry-arguments.ts` maps the arguments.
 */
import { announcedAliases } from './argument-aliases.ts';
import { presetValues } from './entry-arguments.ts';
import type { EntryArguments } from '../toolset.ts';
import { checkInput } from '../../schema/input-schema.ts';
import { limits } from '../../limits/limits.ts';
import { without } from '../../schema/schema-parts.ts';
import { resolvePointer } from '../../schema/schema-references.ts';
import { prefixReferences } from '../../schema/prefix-references.ts';
import type { JsonSchema } from '../../tools/tool.ts';
import { isRecord } from '../../json/wire-value.ts';

/** Returns the same object if the rules change nothing. Keeps the key order of the source. `announces`: whether the schema names announced aliases. */
export function toStrictSchema(source: JsonSchema, rules: EntryArguments, announces = true): JsonSchema {
  const view = readRules(source, rules, announces);
  if ([view.hidden, view.shown, view.defaults, view.aliases].every(({ size }) => size === 0)) return source;
  const body = narrow(view, source, new Set<string>());
  const shown = isRecord(body) ? prefixReferences(body, source) : source;
  // For example a preset that an open schema does not name.
  return JSON.stringify(shown) === JSON.stringify(source) ? source : shown;
}

type View = {
  source: JsonSchema;
  /** Preset arguments. `known`: those whose value is known at compile time. */
  hidden: ReadonlySet<string>;
  known: Record<string, unknown>;
  /** Own name → shown name. */
  shown: ReadonlyMap<string, string>;
  defaults: ReadonlyMap<string, unknown>;
  /** Own name → announced aliases. */
  aliases: ReadonlyMap<string, readonly string[]>;
  /** The number of parts that may still be visited: references can expand a small schema without limit. */
  budget: { parts: number };
};

function readRules(source: JsonSchema, rules: EntryArguments, announces: boolean): View {
  const { preset = {}, rename = {}, default: defaults = {} } = rules;
  return {
    source,
    hidden: new Set(Object.keys(preset)),
    known: presetValues(preset),
    shown: new Map(Object.entries(rename).flatMap(([shown, own]) => (shown === own ? [] : [[own, shown]]))),
    defaults: new Map(Object.entries(defaults)),
    aliases: announces ? announcedAliases(rules) : new Map(),
    budget: { parts: limits.maxSchemaParts },
  };
}

/**
 * Narrows one schema that describes the arguments object: the root, or a part that applies together with it. `open`: the references that
 * were followed to it.
 */
function narrow(view: View, part: unknown, open: ReadonlySet<string>): unknown {
  if (!isRecord(part)) return part;
  if (isSpent(view)) return {};
  const { schema, inside } = follow(view, part, open);
  const entries: [string, unknown][] = [];
  const also: unknown[] = [];
  const needed: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case 'properties':
        entries.push([keyword, isRecord(value) ? narrowProperties(view, value) : value]);
        break;
      case 'required':
        if (Array.isArray(value)) needed.push(...value.filter((name) => typeof name === 'string'));
        entries.push([keyword, value]);
        break;
      case 'dependentRequired':
      case 'dependentSchemas':
      case 'dependencies':
        if (isRecord(value)) entries.push([keyword, narrowDependents(view, value, { inside, also, needed })]);
        break;
      case 'minProperties':
      case 'maxProperties':
        entries.push([keyword, typeof value === 'number' ? fewer(view, keyword, value) : value]);
        break;
      case 'anyOf':
      case 'oneOf':
        if (Array.isArray(value)) entries.push(...narrowChoice(view, keyword, value, schema, inside));
        break;
      case 'allOf':
        entries.push([keyword, Array.isArray(value) ? value.map((branch) => narrow(view, branch, inside)) : value]);
        break;
      case 'not':
        // Without the hidden part it would reject values that the full schema accepts.
        if (!mentionsHidden(view, value, inside)) entries.push([keyword, narrow(view, value, inside)]);
        break;
      case 'if':
        also.push(...narrowCondition(view, schema, inside));
        break;
      case 'then':
      case 'else':
        break;
      case 'propertyNames':
        if (view.shown.size === 0) entries.push([keyword, value]);
        break;
      default:
        entries.push([keyword, value]);
    }
  }
  return assemble(view, entries, also, needed);
}

/** Keeps `required` in its position; the results of conditions and dependents are added to `allOf`. */
function assemble(view: View, entries: [string, unknown][], also: readonly unknown[], needed: readonly string[]): JsonSchema {
  const required = [...new Set(needed)]
    .filter((name) => !view.hidden.has(name) && !view.defaults.has(name))
    .map((name) => nameOf(view, name));
  const schema = Object.fromEntries(entries);
  const rest = also.filter((part) => part !== true && !(isRecord(part) && Object.keys(part).length === 0));
  if (needed.length > 0 && required.length === 0) delete schema.required;
  else if (needed.length > 0) schema.required = required;
  if (rest.length > 0) schema.allOf = [...(Array.isArray(schema.allOf) ? schema.allOf : []), ...rest];
  return schema;
}

/** Returns whether the budget is used up. The rest is then shown as any value and checked by the tool's own schema. */
function isSpent({ budget }: View): boolean {
  budget.parts -= 1;
  return budget.parts < 0;
}

/** The longest chain of references. Real chains have one or two links, but each target may nest as deep as a schema can. */
const maxHops = 16;

type Followed = { schema: JsonSchema; inside: ReadonlySet<string> };

/** Follows a reference at the root, since its target describes the arguments, too. A reference that leads back to itself adds nothing. */
function follow(view: View, schema: JsonSchema, open: ReadonlySet<string>): Followed {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return { schema, inside: open };
  const target = resolvePointer(view.source, reference);
  if (!isRecord(target)) return { schema, inside: open };
  const siblings = without(schema, '$ref');
  if (open.has(reference) || open.size >= maxHops) return { schema: siblings, inside: open };
  const inside = new Set([...open, reference]);
  const bare = without(target, '$defs', 'definitions');
  // Keywords next to a reference may conflict with the target's, so both are kept side by side. A reference in the target is resolved
  // later.
  const meets = bare.$ref !== undefined || Object.keys(siblings).some((keyword) => Object.hasOwn(bare, keyword) && !words.has(keyword));
  if (!meets) return { schema: { ...bare, ...siblings }, inside };
  return { schema: { ...siblings, allOf: [...(Array.isArray(siblings.allOf) ? siblings.allOf : []), bare] }, inside };
}

const words: ReadonlySet<string> = new Set(['title', 'description', '$schema', '$id', '$comment', 'default', 'examples']);

function nameOf(view: View, own: string): string {
  return view.shown.get(own) ?? own;
}

function narrowProperties(view: View, properties: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, part]): [string, unknown][] => {
      if (view.hidden.has(name)) return [];
      const mapped = view.defaults.has(name) ? withDefault(part, view.defaults.get(name)) : part;
      return [[nameOf(view, name), withAliases(mapped, view.aliases.get(name))]];
    }),
  );
}

function withDefault(part: unknown, value: unknown): unknown {
  if (isRecord(part)) return { ...part, default: value };
  return part === true ? { default: value } : part;
}

function withAliases(part: unknown, aliases: readonly string[] | undefined): unknown {
  if (aliases === undefined || part === false) return part;
  const schema = isRecord(part) ? part : {};
  const text = typeof schema.description === 'string' && schema.description !== '' ? `${schema.description}\n` : '';
  return { ...schema, description: `${text}Also accepted as ${aliases.join(', ')}.` };
}

type Gathered = { inside: ReadonlySet<string>; also: unknown[]; needed: string[] };

/** A dependent schema of an argument that is always present applies always. */
function narrowDependents(view: View, dependents: Record<string, unknown>, { inside, also, needed }: Gathered): Record<string, unknown> {
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(dependents)) {
    const always = view.hidden.has(name) || view.defaults.has(name);
    if (Array.isArray(value)) {
      const names = value.filter((other) => typeof other === 'string');
      if (always) needed.push(...names);
      const left = names.filter((other) => !view.hidden.has(other) && !view.defaults.has(other)).map((other) => nameOf(view, other));
      if (!view.hidden.has(name)) kept.push([nameOf(view, name), left]);
    } else {
      const part = narrow(view, value, inside);
      if (always) also.push(part);
      else kept.push([nameOf(view, name), part]);
    }
  }
  return Object.fromEntries(kept);
}

function fewer(view: View, keyword: 'minProperties' | 'maxProperties', count: number): number {
  return Math.max(0, count - view.hidden.size - (keyword === 'minProperties' ? view.defaults.size : 0));
}

/** Removes branches that the presets rule out. If all are ruled out, all remain; the fault is reported elsewhere. */
function narrowChoice(
  view: View,
  keyword: 'anyOf' | 'oneOf',
  branches: readonly unknown[],
  schema: JsonSchema,
  inside: ReadonlySet<string>,
): [string, unknown][] {
  const fitting = branches.filter((branch) => fitsPresets(view, branch, inside));
  const left = (fitting.length === 0 ? branches : fitting).map((branch) => narrow(view, branch, inside));
  // The discriminator may be hidden, so more than one branch may match.
  const blurred = keyword === 'oneOf' && left.length > 1 && branches.some((branch) => mentionsHidden(view, branch, inside));
  return [[blurred && schema.anyOf === undefined ? 'anyOf' : keyword, left]];
}

/** The presets may decide an `if`. A condition that is undecided and refers to hidden arguments is dropped. */
function narrowCondition(view: View, schema: JsonSchema, inside: ReadonlySet<string>): unknown[] {
  const { if: condition, then: met = true, else: unmet = true } = schema;
  const mapped = (): unknown[] => [
    {
      if: narrow(view, condition, inside),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      ...(schema.then !== undefined && { then: narrow(view, met, inside) }),
      ...(schema.else !== undefined && { else: narrow(view, unmet, inside) }),
    },
  ];
  if (!mentionsHidden(view, condition, inside)) return mapped();
  if (!fitsPresets(view, condition, inside)) return [narrow(view, unmet, inside)];
  const plain = isRecord(condition) ? follow(view, condition, inside).schema : {};
  const decidable = Object.keys(plain).every((keyword) => ['properties', 'required', 'type', ...words].includes(keyword));
  const properties = isRecord(plain.properties) ? Object.keys(plain.properties) : [];
  const named = [...properties, ...(Array.isArray(plain.required) ? plain.required : [])];
  const allKnown = named.every((name) => typeof name === 'string' && Object.hasOwn(view.known, name));
  if (decidable && allKnown) return [narrow(view, met, inside)];
  const hiddenKnown = named.every((name) => !view.hidden.has(String(name)) || Object.hasOwn(view.known, String(name)));
  return decidable && hiddenKnown ? mapped() : [];
}

/** Returns whether a part of the schema can apply to a call with the known presets. */
function fitsPresets(view: View, part: unknown, open: ReadonlySet<string>): boolean {
  if (part === false) return false;
  if (!isRecord(part) || isSpent(view)) return true;
  const { schema, inside } = follow(view, part, open);
  const properties = isRecord(schema.properties) ? schema.properties : {};
  // Iterates over the part's names, since there may be thousands of presets.
  const names = Object.keys(properties).filter((name) => Object.hasOwn(view.known, name));
  const shut = schema.additionalProperties === false && schema.patternProperties === undefined;
  if (shut && [...view.hidden].some((name) => !Object.hasOwn(properties, name))) return false;
  if (names.length > 0 && !acceptsKnown(view, properties, names)) return false;
  const all = Array.isArray(schema.allOf) ? schema.allOf : [];
  return all.every((branch) => fitsPresets(view, branch, inside));
}

function acceptsKnown(view: View, properties: Record<string, unknown>, names: readonly string[]): boolean {
  const trial = {
    $defs: view.source.$defs,
    definitions: view.source.definitions,
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
  };
  return checkInput(trial, Object.fromEntries(names.map((name) => [name, view.known[name]]))).length === 0;
}

function mentionsHidden(view: View, part: unknown, open: ReadonlySet<string>): boolean {
  if (!isRecord(part)) return false;
  if (isSpent(view)) return true;
  const { schema, inside } = follow(view, part, open);
  const named = [
    ...(isRecord(schema.properties) ? Object.keys(schema.properties) : []),
    ...(Array.isArray(schema.required) ? schema.required : []),
  ];
  if (named.some((name) => view.hidden.has(name))) return true;
  const parts = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...parts, schema.not, schema.if].some((inner) => mentionsHidden(view, inner, inside));
}
