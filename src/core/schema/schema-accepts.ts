/**
 * Whether one schema accepts every value that another one accepts. Compares them part by part; whatever is uncertain is "no". Decides whether
 * callers of a changed definition continue to work. References are expanded first (`schema-references.ts`).
 */
import { isRecord, listOf } from '../json/wire-value.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { keywordOf } from './schema-keywords.ts';
import { fixedChoices, isAnnotation, isPermissive, sameJson, typeOfValue, typesOf } from './schema-parts.ts';
import { expandReferences } from './schema-references.ts';
import { SchemaReport } from './schema-report.ts';

/**
 * `gone`: whether a property that only `narrow` describes is accepted, as the reader of a result ignores it, or is not, because callers
 * send it.
 */
export type Gone = 'ignored' | 'missed';

export function acceptsAll(wide: JsonSchema, narrow: JsonSchema, gone: Gone): boolean {
  if (sameJson(wide, narrow)) return true;
  // As without the keyword: it says nothing that callers would send.
  const { additionalProperties, ...described } = narrow;
  const before = additionalProperties === true ? described : narrow;
  const [all, some] = [wide, before].map((schema) => expandReferences(schema, 2, new SchemaReport()));
  return all !== undefined && some !== undefined && !all.isCut && !some.isCut && covers(all.schema, some.schema, gone);
}

function covers(wide: unknown, narrow: unknown, gone: Gone): boolean {
  if (wide === true || narrow === false || (isRecord(wide) && isPermissive(wide)) || sameJson(wide, narrow)) return true;
  if (!isRecord(wide) || !isRecord(narrow)) return false;
  const choices = fixedChoices(narrow);
  const allowed = fixedChoices(wide);
  if (allowed !== null && !(choices ?? [undefined]).every((choice) => allowed.some((one) => sameJson(one, choice)))) return false;
  const ways = alternatives(narrow);
  if (ways !== null) return ways.every((way) => covers(wide, way, gone));
  return (
    coversTypes(wide, narrow, choices) &&
    (alternatives(wide)?.some((way) => covers(way, narrow, gone)) ?? true) &&
    Object.keys(wide).every((keyword) => coversKeyword(keyword, wide, narrow, gone))
  );
}

/** The parts of `anyOf` or `oneOf`, each with the keywords beside it; null: it has neither. */
function alternatives(schema: JsonSchema): JsonSchema[] | null {
  const { anyOf, oneOf, ...rest } = schema;
  const parts = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (parts === null || (anyOf !== undefined && oneOf !== undefined)) return null;
  return parts.map((part) => (isRecord(part) ? { ...rest, ...part } : rest));
}

function coversTypes(wide: JsonSchema, narrow: JsonSchema, choices: readonly unknown[] | null): boolean {
  const allowed = typesOf(wide);
  if (allowed === null) return true;
  const types = typesOf(narrow) ?? (choices === null ? null : choices.map(typeOfValue));
  return types?.every((type) => allowed.includes(type) || (type === 'integer' && allowed.includes('number'))) ?? false;
}

function coversKeyword(keyword: string, wide: JsonSchema, narrow: JsonSchema, gone: Gone): boolean {
  const [all, some, { bound }] = [wide[keyword], narrow[keyword], keywordOf(keyword)];
  if (isAnnotation(keyword) || handled.has(keyword) || sameJson(all, some)) return true;
  if (keyword === 'properties') return coversProperties(wide, narrow, gone);
  if (keyword === 'required') return listOf(all).every((name) => listOf(some).includes(name));
  // Models send what is described, so closing a schema that was open refuses nothing that they send.
  if (keyword === 'additionalProperties') return all === false ? some !== true && !isRecord(some) : covers(all, some ?? true, gone);
  if (keyword === 'items') return some !== undefined && covers(all, some, gone);
  // Libraries write the bounds of all exact integers where none are meant.
  if (typeof all === 'number' && Math.abs(all) === Number.MAX_SAFE_INTEGER && bound === (all < 0 ? 'least' : 'most'))
    return typesOf(narrow)?.every((type) => type === 'integer') ?? false;
  if (typeof all !== 'number' || typeof some !== 'number') return false;
  return bound === 'least' ? all <= some : bound === 'most' && all >= some;
}

function coversProperties(wide: JsonSchema, narrow: JsonSchema, gone: Gone): boolean {
  const [all, some] = [wide, narrow].map(({ properties }) => (isRecord(properties) ? properties : {})) as [JsonSchema, JsonSchema];
  return Object.entries(some).every(([name, part]) => {
    if (Object.hasOwn(all, name)) return covers(all[name], part, gone);
    return gone === 'ignored' && wide.additionalProperties !== false;
  });
}

const handled: ReadonlySet<string> = new Set([
  'type',
  'nullable',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  '$schema',
  '$id',
  '$defs',
  'definitions',
]);
