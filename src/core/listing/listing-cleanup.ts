/**
 * What models may be given of a listed schema that has no fault (`listing-schema.ts`): without hidden characters, references that lead
 * elsewhere, and texts that nobody would read to their end. Nothing is fetched.
 */
import { pointer } from '../json-pointer.ts';
import type { Finding } from './hold.ts';
import { addFinding } from './listing-findings.ts';
import { partsOf } from './listing-schema.ts';
import { cleanText, cleanValue, isSeen } from './listing-text.ts';
import type { CleanedText } from './listing-text.ts';
import { isObjectMember } from '../reserved-names.ts';
import { dataKeywords, namedParts } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';

/** What there is to say of it is added to `findings`. The same object where nothing was to be changed. */
export function cleanSchema(schema: JsonSchema, path: string, findings: Finding[]): JsonSchema {
  const places = new Set(idsOf(schema));
  return cleanPart(schema, { path, findings, places, role: 'schema' }) as JsonSchema; // An object stays one.
}

/** `map`: of schemas by name. `value`: data. */
type Cleaning = { path: string; findings: Finding[]; places: ReadonlySet<string>; role: 'schema' | 'map' | 'value' };

function cleanPart(part: unknown, cleaning: Cleaning): unknown {
  if (Array.isArray(part))
    return keptOrNew(
      part,
      part.map((item, index) => cleanPart(item, at(cleaning, String(index), cleaning.role))),
    );
  if (!isRecord(part)) return typeof part === 'string' ? tell(cleaning, cleanValue(part)) : part;
  let isChanged = false;
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(part)) {
    const cleaned = cleanMember(key, member, cleaning);
    if (cleaned !== member) isChanged = true;
    if (cleaned !== undefined) members.push([key, cleaned]);
  }
  // `fromEntries` makes `__proto__` a member like any other.
  return isChanged ? Object.fromEntries(members) : part;
}

/** undefined: left out. */
function cleanMember(key: string, member: unknown, cleaning: Cleaning): unknown {
  const inside = at(cleaning, key, roleIn(cleaning.role, key));
  if (!isSeen(key)) {
    found(inside, 'hidden-key', 'is a name with characters that cannot be seen; left out');
    return undefined;
  }
  if (cleaning.role !== 'schema') {
    if (cleaning.role === 'map' && isObjectMember(key)) found(inside, 'object-member-key', 'is named like a member of every object');
    return cleanPart(member, inside);
  }
  if (typeof member !== 'string') return cleanPart(member, inside);
  if (key === 'description' || key === 'title' || key === '$comment') return tell(inside, cleanText(member));
  if (key === '$ref' && !member.startsWith('#') && !isOwnPlace(member, cleaning.places)) {
    found(inside, 'remote-ref', 'lies elsewhere and is never fetched: any value is taken');
    return undefined;
  }
  // Without its hidden characters it would be another pattern.
  if (key === 'pattern' && !isSeen(member)) {
    found(inside, 'hidden-pattern', 'holds characters that cannot be seen; left out');
    return undefined;
  }
  return tell(inside, cleanValue(member));
}

function roleIn(role: Cleaning['role'], key: string): Cleaning['role'] {
  if (role === 'map') return 'schema';
  if (role === 'value' || dataKeywords.has(key)) return 'value';
  return namedParts.has(key) ? 'map' : 'schema';
}

function isOwnPlace(reference: string, places: ReadonlySet<string>): boolean {
  return places.has(reference.split('#', 1)[0] ?? '');
}

/** `$id`s within the schema: references to them lead nowhere else. */
function idsOf(schema: JsonSchema): string[] {
  return (partsOf(schema) ?? []).flatMap((part) => (isRecord(part) && typeof part.$id === 'string' ? [part.$id.replace(/#$/, '')] : []));
}

function at(cleaning: Cleaning, key: string, role: Cleaning['role']): Cleaning {
  return { ...cleaning, path: pointer(cleaning.path, key), role };
}

function tell(cleaning: Cleaning, cleaned: CleanedText): string {
  for (const { finding, message } of cleaned.findings) found(cleaning, finding, message);
  return cleaned.text;
}

function found(cleaning: Cleaning, finding: string, message: string): void {
  addFinding(cleaning.findings, { finding, path: cleaning.path, message });
}

function keptOrNew(part: readonly unknown[], cleaned: readonly unknown[]): readonly unknown[] {
  return cleaned.some((item, index) => item !== part[index]) ? cleaned : part;
}
