/**
 * Cleans a listed schema that passed `listing-schema.ts` for use by models: removes hidden characters and remote references, and cuts long
 * texts. Fetches nothing.
 */
import { pointer } from '../json/json-pointer.ts';
import { type Finding, addFinding } from '../tools/hold.ts';
import { cleanDescription, cleanValue, hasNoHiddenCharacters, type CleanedText } from '../tools/listing-text.ts';
import { isObjectMember } from '../names/reserved-names.ts';
import { dataKeywords, namedParts } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { collectParts, isRecord, mapItems, mapMembers } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';

/** Adds what it changes to `findings`. Returns the same object if nothing changed. */
export function cleanSchema(schema: JsonSchema, path: string, findings: Finding[]): JsonSchema {
  const places = new Set(idsOf(schema));
  return cleanPart(schema, { path, findings, places, role: 'schema' }) as JsonSchema; // An object remains an object.
}

/** `map`: schemas by name. `value`: data. */
type Cleaning = { path: string; findings: Finding[]; places: ReadonlySet<string>; role: 'schema' | 'map' | 'value' };

function cleanPart(part: unknown, cleaning: Cleaning): unknown {
  if (Array.isArray(part)) return mapItems(part, (item, index) => cleanPart(item, at(cleaning, String(index), cleaning.role)));
  if (isRecord(part)) return mapMembers(part, (member, key) => cleanMember(key, member, cleaning));
  return typeof part === 'string' ? report(cleaning, cleanValue(part)) : part;
}

/** undefined: the member is removed. */
function cleanMember(key: string, member: unknown, cleaning: Cleaning): unknown {
  const inside = at(cleaning, key, roleIn(cleaning.role, key));
  if (!hasNoHiddenCharacters(key)) {
    found(inside, 'hidden-key', 'is a name with invisible characters; removed');
    return undefined;
  }
  if (cleaning.role !== 'schema') {
    if (cleaning.role === 'map' && isObjectMember(key)) found(inside, 'object-member-key', 'has the name of a built-in object member');
    return cleanPart(member, inside);
  }
  if (typeof member !== 'string') return cleanPart(member, inside);
  if (key === 'description' || key === 'title' || key === '$comment') return report(inside, cleanDescription(member));
  if (key === '$ref' && !member.startsWith('#') && !isOwnPlace(member, cleaning.places)) {
    found(inside, 'remote-ref', 'is a remote reference, which is never fetched; any value is accepted');
    return undefined;
  }
  // Without the hidden characters it would be a different pattern.
  if (key === 'pattern' && !hasNoHiddenCharacters(member)) {
    found(inside, 'hidden-pattern', 'contains invisible characters; removed');
    return undefined;
  }
  return report(inside, cleanValue(member));
}

function roleIn(role: Cleaning['role'], key: string): Cleaning['role'] {
  if (role === 'map') return 'schema';
  if (role === 'value' || dataKeywords.has(key)) return 'value';
  return namedParts.has(key) ? 'map' : 'schema';
}

function isOwnPlace(reference: string, places: ReadonlySet<string>): boolean {
  return places.has(reference.split('#', 1)[0] ?? '');
}

/** The `$id`s in the schema: references to them stay inside it. */
function idsOf(schema: JsonSchema): string[] {
  return (collectParts(schema, limits.maxSchemaSourceParts) ?? []).flatMap((part) =>
    isRecord(part) && typeof part.$id === 'string' ? [part.$id.replace(/#$/, '')] : [],
  );
}

function at(cleaning: Cleaning, key: string, role: Cleaning['role']): Cleaning {
  return { ...cleaning, path: pointer(cleaning.path, key), role };
}

function report(cleaning: Cleaning, cleaned: CleanedText): string {
  for (const { finding, message } of cleaned.findings) found(cleaning, finding, message);
  return cleaned.text;
}

function found(cleaning: Cleaning, finding: string, message: string): void {
  addFinding(cleaning.findings, { finding, path: cleaning.path, message });
}
