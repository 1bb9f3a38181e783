/**
 * Checks the argument rules of an entry against the tool that it names, when the toolset is written. Each error has its path
 * (`tools[3].arguments.preset.method`). Used by the compiler (`edition.ts`).
 */
import type { EntryArguments, ToolsetEntry } from '../toolset.ts';
import { isRecord } from '../../json/wire-value.ts';
import { checkInput } from '../../schema/input-schema.ts';
import type { KnownTools } from '../known-tools.ts';
import { limits } from '../../limits/limits.ts';
import { type Issue, issuePath } from '../../problem.ts';
import { resolvePointer } from '../../schema/schema-references.ts';
import { typesOf } from '../../schema/schema-parts.ts';
import { secretUseRefusal } from '../../secrets/secret.ts';
import { createSuggester } from '../../names/suggest.ts';
import type { JsonSchema, ToolDefinition } from '../../tools/tool.ts';
import { argumentAliases } from './argument-aliases.ts';
import { type Preset, presetValues, readPreset } from './entry-arguments.ts';

export function checkEntryArguments(
  { source, definition, path }: { source: ToolsetEntry; definition: ToolDefinition | null; path: string },
  known: KnownTools,
): Issue[] {
  const rules = source.arguments;
  if (definition === null || rules === undefined) return [];
  const base = `${path}.arguments`;
  const properties = propertiesOf(definition.inputSchema);
  return [
    ...unknownArguments(definition, properties, rules, base),
    ...misnamed(properties, rules, base),
    ...misvalued(definition.inputSchema, properties, rules, base),
    ...foreignPresets(definition, properties, rules, base, known),
  ];
}

/** All schemas that apply to an argument, by argument name. `open`: arguments that the schema does not name are allowed. */
type Properties = { parts: Map<string, unknown[]>; open: boolean };

/** The properties of the root and of every subschema that applies to it. */
function propertiesOf(source: JsonSchema): Properties {
  const parts = new Map<string, unknown[]>();
  let open = false;
  const seen = new Set<unknown>();
  const waiting: unknown[] = [source];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (!isRecord(part) || seen.has(part)) continue;
    seen.add(part);
    if (isRecord(part.properties)) {
      for (const [name, property] of Object.entries(part.properties)) parts.set(name, [...(parts.get(name) ?? []), property]);
    }
    if (part.additionalProperties === true || isRecord(part.additionalProperties) || isRecord(part.patternProperties)) open = true;
    if (typeof part.$ref === 'string') waiting.push(resolvePointer(source, part.$ref) ?? null);
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) if (Array.isArray(part[keyword])) waiting.push(...part[keyword]);
    for (const keyword of ['if', 'then', 'else']) if (isRecord(part[keyword])) waiting.push(part[keyword]);
    if (isRecord(part.dependentSchemas)) waiting.push(...Object.values(part.dependentSchemas));
  }
  return { parts, open: open || (parts.size === 0 && source.additionalProperties !== false) };
}

function unknownArguments(definition: ToolDefinition, { parts, open }: Properties, rules: EntryArguments, base: string): Issue[] {
  if (open) return [];
  const named: [string, string][] = [
    ...Object.keys(rules.preset ?? {}).map((name): [string, string] => [name, `${base}.preset.${name}`]),
    ...Object.keys(rules.default ?? {}).map((name): [string, string] => [name, `${base}.default.${name}`]),
    ...Object.entries(rules.rename ?? {}).map(([shown, own]): [string, string] => [own, `${base}.rename.${shown}`]),
    ...argumentAliases(rules).map(({ name, argument }): [string, string] => [argument, `${base}.alias.${name}`]),
  ];
  const suggest = createSuggester(() => [...parts.keys()].map((other) => [other, other] as const), 5);
  return named
    .filter(([name]) => !parts.has(name))
    .map(([name, path]) => ({ path, message: `${definition.canonical} has no argument ${JSON.stringify(name)}${suggest(name)}` }));
}

function misnamed({ parts }: Properties, rules: EntryArguments, base: string): Issue[] {
  const { preset = {}, rename = {}, default: defaults = {} } = rules;
  const issues: Issue[] = [];
  const shownAs = new Map<string, string>();
  const taken = (name: string): boolean => parts.has(name) || Object.hasOwn(preset, name) || Object.hasOwn(defaults, name);
  for (const [shown, own] of Object.entries(rename)) {
    const path = `${base}.rename.${shown}`;
    const before = shownAs.get(own);
    if (Object.hasOwn(preset, own)) issues.push({ path, message: `${own} is preset, so it is not shown. Remove the preset or the rename` });
    else if (before !== undefined) issues.push({ path, message: `${own} is already shown as ${before}. Use one name` });
    if (shown !== own && taken(shown)) issues.push({ path, message: `the tool already has an argument ${shown}. Choose another name` });
    shownAs.set(own, shown);
  }
  for (const { name, argument } of argumentAliases(rules))
    if (Object.hasOwn(preset, argument))
      issues.push({
        path: `${base}.alias.${name}`,
        message: `${argument} is preset, so no call can set it. Remove the preset or the alias`,
      });
  for (const name of Object.keys(defaults)) {
    if (Object.hasOwn(preset, name))
      issues.push({ path: `${base}.default.${name}`, message: `${name} is preset, so its default is never used. Remove one of them` });
  }
  return issues;
}

/** Presets and defaults that the tool would reject, whatever else a call contains. */
function misvalued(
  source: JsonSchema,
  { parts }: Properties,
  { preset = {}, default: defaults = {} }: EntryArguments,
  base: string,
): Issue[] {
  const properties = Object.fromEntries(
    Array.from(parts, ([name, several]) => [name, several.length === 1 ? several[0] : { anyOf: several }]),
  );
  // The other members of the source are included so that references resolve.
  const schema = { $defs: source.$defs, definitions: source.definitions, properties };
  const issuesOf = (values: Record<string, unknown>, where: string): Issue[] =>
    checkInput(schema, values).map(({ path, message }) => ({
      path: path.startsWith('[') ? `${where}${path}` : `${where}.${path}`,
      message,
    }));
  return [...misread(preset, base), ...issuesOf(presetValues(preset), `${base}.preset`), ...issuesOf(defaults, `${base}.default`)];
}

/** An object with the single member `secret` or `caller` is a reference; with an invalid value it is a mistake of the author. */
function misread(preset: NonNullable<EntryArguments['preset']>, base: string): Issue[] {
  return Object.entries(preset).flatMap(([name, written]) => {
    if (!isRecord(written) || Object.keys(written).length !== 1 || readPreset(written).kind !== 'value') return [];
    const [member = ''] = Object.keys(written);
    if (member !== 'secret' && member !== 'caller') return [];
    return [
      { path: issuePath([base, 'preset', name, member]), message: `must be a name. For a literal object of this form, write {"value": …}` },
    ];
  });
}

/** Presets whose value comes from a secret or a caller field: the value is text, and the secret must exist. */
function foreignPresets(
  definition: ToolDefinition,
  { parts }: Properties,
  { preset = {} }: EntryArguments,
  base: string,
  known: KnownTools,
): Issue[] {
  return Object.entries(preset).flatMap(([name, written]) => {
    const read = readPreset(written);
    if (read.kind === 'value') return [];
    const path = `${base}.preset.${name}`;
    const several = parts.get(name) ?? [true];
    if (!several.some((part) => acceptsText(definition.inputSchema, part, { parts: limits.maxSchemaParts }, 0)))
      return [{ path, message: `${read.kind === 'secret' ? 'a secret' : 'a caller field'} is text, but ${name} does not accept text` }];
    return read.kind === 'secret' ? missingSecret(definition, read, path, known) : [];
  });
}

function missingSecret(
  definition: ToolDefinition,
  { secret }: Extract<Preset, { kind: 'secret' }>,
  path: string,
  known: KnownTools,
): Issue[] {
  // If the compiler does not know the secrets, they are checked at the call.
  if (known.secret === undefined) return [];
  const binding = known.secret(secret);
  if (binding === undefined) return [{ path, message: `there is no secret ${JSON.stringify(secret)}` }];
  const host = known.host?.(definition.server);
  const refusal = secretUseRefusal(binding, { tool: definition.canonical, ...(host !== undefined && { host }) });
  return refusal === null ? [] : [{ path, message: `the secret ${JSON.stringify(secret)} may not be used here: ${refusal}` }];
}

/** The depth to which a type is searched. Real schemas are shallower. */
const maxSteps = 64;

/** `budget`: the number of subschemas that may still be visited, since references multiply. Beyond it, the check is left to the call. */
function acceptsText(root: JsonSchema, part: unknown, budget: { parts: number }, steps: number): boolean {
  budget.parts -= 1;
  if (part === false) return false;
  if (!isRecord(part) || steps > maxSteps || budget.parts < 0) return true;
  const takes = (inner: unknown): boolean => acceptsText(root, inner, budget, steps + 1);
  if (typeof part.$ref === 'string' && !takes(resolvePointer(root, part.$ref) ?? true)) return false;
  const types = typesOf(part);
  if (types !== null && !types.includes('string')) return false;
  if (Array.isArray(part.enum) && !part.enum.some((choice) => typeof choice === 'string')) return false;
  if (Object.hasOwn(part, 'const') && typeof part.const !== 'string') return false;
  for (const list of [part.anyOf, part.oneOf]) if (Array.isArray(list) && list.length > 0 && !list.some(takes)) return false;
  return !Array.isArray(part.allOf) || part.allOf.every(takes);
}
