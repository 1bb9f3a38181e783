/**
 * Splits `allOf`, `anyOf`, `oneOf` and type lists: a schema becomes a list of plain schemas, one of which a value must match. For providers
 * that do not accept these keywords at all, or not at the top level (`schema-narrow.ts`, `schema-compiler.ts`).
 */
import { pointer } from '../json/json-pointer.ts';
import { limits } from '../limits/limits.ts';
import { joinDescriptions, mergeSchemas, withChoice } from './schema-merge.ts';
import { keywordOf } from './schema-keywords.ts';
import { isAnnotation, without, hasType } from './schema-parts.ts';
import type { SchemaReport } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';
import { cutToLength } from '../text/utf8.ts';

/** Text added to a part's description for rules that its provider does not accept. */
const maxSchemaWords = 400;

/** `effort`: the remaining work allowed for one schema's alternatives, in merged keywords and fields. */
export type AlternativesContext = { path: string; report: SchemaReport; effort: { left: number } };

/**
 * Returns plain schemas with at most one type each and none of the keywords above. Empty: no value matches. A plain schema is returned
 * alone. More than `limits.maxSchemaBranches` alternatives are dropped.
 */
export function alternativesOf(schema: JsonSchema, place: AlternativesContext): JsonSchema[] {
  const whole = mergeAllOf(schema, place, true);
  if (whole === false) return [];
  const branches = branchesOf(whole, place);
  if (branches === null) return splitTypes(whole);
  const found: JsonSchema[] = [];
  for (const branch of branches) {
    found.push(...alternativesOf(branch, place));
    if (found.length > limits.maxSchemaBranches || place.effort.left < 0) {
      place.report.add(place.path, 'too many alternatives: they are dropped');
      return splitTypes(without(whole, 'anyOf', 'oneOf'));
    }
  }
  return found;
}

/** Charges the cost of a merge; false: the effort is exhausted. */
function spend({ effort }: AlternativesContext, ...schemas: JsonSchema[]): boolean {
  for (const schema of schemas) {
    effort.left -= Object.keys(schema).length + (isRecord(schema.properties) ? Object.keys(schema.properties).length : 0);
  }
  return effort.left >= 0;
}

/**
 * Merges the parts of `allOf`. `force`: drops and reports what one schema cannot express; otherwise such a part remains in `allOf`.
 * `false`: no value matches all parts.
 */
export function mergeAllOf(schema: JsonSchema, place: AlternativesContext, force: boolean): JsonSchema | false {
  if (!Array.isArray(schema.allOf)) return schema;
  let merged: JsonSchema = without(schema, 'allOf');
  const kept: unknown[] = [];
  for (const [index, part] of schema.allOf.entries()) {
    const plain = isRecord(part) ? mergeAllOf(part, place, force) : part;
    if (plain === false) return false;
    if (!isRecord(plain)) continue;
    const isMany = !spend(place, merged, plain);
    const { schema: both, lost } = isMany ? { schema: merged, lost: Object.keys(plain) } : mergeSchemas(merged, plain);
    if (both === false) return false;
    if (lost.length === 0 || force) merged = both;
    else kept.push(part);
    if (force)
      for (const keyword of lost)
        place.report.add(place.path, `allOf: ${keyword} of part ${index} cannot be merged with the others and is dropped`);
  }
  if (kept.length < schema.allOf.length) place.report.add(pointer(place.path, 'allOf'), 'its parts are merged');
  return kept.length === 0 ? merged : kept.length === schema.allOf.length ? schema : { ...merged, allOf: kept };
}

/** Returns the schema once for each branch of its `anyOf` and `oneOf`; null if it has neither. */
function branchesOf(schema: JsonSchema, place: AlternativesContext): JsonSchema[] | null {
  const { path, report } = place;
  const keyword = ['anyOf', 'oneOf'].find((name) => Array.isArray(schema[name]));
  if (keyword === undefined) return null;
  if (keyword === 'oneOf') report.add(pointer(path, keyword), 'converted to anyOf: more than one alternative may match');
  const rest = without(schema, keyword);
  const rules = Object.fromEntries(Object.entries(rest).filter(([name]) => !isAnnotation(name)));
  const branches = schema[keyword] as unknown[]; // An array, as checked above.
  const groups = requiredGroups(branches);
  if (groups !== null) {
    report.add(pointer(path, keyword), 'removed: the description says which fields are required together');
    return [appendDescription(rest, groups)];
  }
  return branches.flatMap((branch) => {
    if (branch === false) return [];
    if (!isRecord(branch) || !spend(place, rules, branch)) return [rest];
    const { schema: both, lost } = mergeSchemas(rules, branch);
    for (const name of lost) report.add(path, `${keyword}: ${name} cannot be merged with the keywords next to it and is dropped`);
    // Texts of a branch without other keywords describe the whole schema.
    return both === false ? [] : [joinDescriptions(rest, both)];
  });
}

/**
 * Returns "At least one of …" for branches that only name required fields, because expanding them would repeat the whole schema. null: they
 * contain more.
 */
function requiredGroups(branches: readonly unknown[]): string | null {
  const groups: string[] = [];
  for (const branch of branches) {
    if (!isRecord(branch) || !Array.isArray(branch.required)) return null;
    if (!Object.keys(branch).every((keyword) => keyword === 'required' || keyword === 'type' || isAnnotation(keyword))) return null;
    groups.push(branch.required.join(' and '));
  }
  return `Needed: ${groups.join('; or ')}.`;
}

/** Appends a text to the description. */
export function appendDescription(schema: JsonSchema, words: string): JsonSchema {
  const before = typeof schema.description === 'string' && schema.description !== '' ? `${schema.description} ` : '';
  return { ...schema, description: `${before}${cutToLength(words, maxSchemaWords)}` };
}

/** Returns one schema for each type, with the keywords of that type. */
function splitTypes(schema: JsonSchema): JsonSchema[] {
  if (typeof schema.type === 'string') return fitChoices(schema, schema.type);
  const normalized = withChoice(schema);
  const types = Array.isArray(normalized.type) ? (normalized.type as string[]) : typesOfChoices(normalized);
  if (types === null) return [schema];
  const needed = types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  return needed.flatMap((type) => fitChoices(withoutOtherTypes({ ...normalized, type }, type), type));
}

function typesOfChoices({ enum: choices }: JsonSchema): string[] | null {
  if (!Array.isArray(choices)) return null;
  return ['string', 'number', 'boolean', 'null', 'object', 'array'].filter((type) => choices.some((value) => hasType(value, type)));
}

function fitChoices(schema: JsonSchema, type: string): JsonSchema[] {
  const choices = Array.isArray(schema.enum) ? schema.enum : null;
  if (choices === null) return [schema];
  const fitting = choices.filter((value) => hasType(value, type));
  if (fitting.length === choices.length) return [schema];
  return fitting.length === 0 ? [] : [{ ...schema, enum: fitting }];
}

/** Returns the schema without keywords that only apply to other types. */
export function withoutOtherTypes(schema: JsonSchema, type: string): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword]) => {
    const about = keywordOf(keyword).of;
    return about === null || about === (type === 'integer' ? 'number' : type);
  });
  return entries.length === Object.keys(schema).length ? schema : Object.fromEntries(entries);
}
