/**
 * Converts a JSON Schema to a TypeScript type that a model writes code against. It is for reading: what TypeScript cannot express is
 * wider here, and calls check the arguments against the schema. Any schema is converted, in bounded work; recursive types end in
 * `unknown`. Model: `generateTypes` of `@cloudflare/codemode` (developers.cloudflare.com/agents, "Code Mode").
 */
import { resolvePointer } from '../schema/schema-references.ts';
import { typesOf } from '../schema/schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, listOf } from '../json/wire-value.ts';
import { oneLine } from '../text/paragraphs.ts';
import { hiddenCharacter } from '../text/visible-text.ts';

/** Schemas that one declaration is built from, so that references cannot multiply it. */
const maxDeclaredParts = 400;
/** Members of one object. */
const maxDeclaredMembers = 60;
const maxDeclaredMemberComment = 120;

/** `depth`: levels of objects and lists. `comments`: null for no comments on members. */
export type TypeDetail = { depth: number; comments: Comments | null };

/** Called for each member that has a comment. */
export type Comments = { isNew(name: string, comment: string): boolean };

export function typeText(schema: unknown, detail: TypeDetail): string {
  return typeOf(schema, { root: isRecord(schema) ? schema : {}, detail, open: new Set(), parts: 0 }, 0);
}

type Writing = { root: JsonSchema; detail: TypeDetail; open: Set<unknown>; parts: number };

const any = 'unknown';
const anyObject = `Record<string, ${any}>`;

function typeOf(schema: unknown, writing: Writing, depth: number): string {
  if (schema === false) return 'never';
  writing.parts += 1;
  if (!isRecord(schema) || writing.parts > maxDeclaredParts || writing.open.size >= maxOpen) return any;
  if (writing.open.has(schema)) return any;
  writing.open.add(schema);
  const text = allOf([
    referred(schema, writing, depth),
    ...listOf(schema.allOf).map((part) => typeOf(part, writing, depth)),
    alternatives(schema, writing, depth),
    plain(schema, writing, depth),
  ]);
  writing.open.delete(schema);
  return text;
}

/** Maximum nesting, references and alternatives included: deeper types are of no use to a reader and would overflow the stack. */
const maxOpen = 40;

function referred({ $ref }: JsonSchema, writing: Writing, depth: number): string {
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return any;
  return typeOf(resolvePointer(writing.root, $ref), writing, depth);
}

/** For both `oneOf` and `anyOf`: the check of the call enforces that exactly one matches. */
function alternatives(schema: JsonSchema, writing: Writing, depth: number): string {
  const lists = [schema.anyOf, schema.oneOf].map(listOf).filter((list) => list.length > 0);
  return allOf(
    lists.map((list) =>
      oneOf(
        list.slice(0, maxChoices).map((part) => typeOf(part, writing, depth)),
        list.length > maxChoices,
      ),
    ),
  );
}

const maxChoices = 24;

function plain(schema: JsonSchema, writing: Writing, depth: number): string {
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return oneOf(schema.enum.slice(0, maxChoices).map(literal), schema.enum.length > maxChoices);
  const types = typesOf(schema) ?? impliedTypes(schema);
  return types === null ? any : oneOf(types.map((type) => typeNamed(type, schema, writing, depth)));
}

function impliedTypes({ properties, additionalProperties, items, prefixItems }: JsonSchema): string[] | null {
  if (isRecord(properties) || isRecord(additionalProperties)) return ['object'];
  return items !== undefined || Array.isArray(prefixItems) ? ['array'] : null;
}

function typeNamed(type: string, schema: JsonSchema, writing: Writing, depth: number): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return listType(schema, writing, depth + 1);
    case 'object':
      return objectType(schema, writing, depth + 1);
    default:
      // `string`, `number`, `boolean` and `null` have the same names in TypeScript.
      return type;
  }
}

function listType({ items, prefixItems }: JsonSchema, writing: Writing, depth: number): string {
  if (depth > writing.detail.depth) return `${any}[]`;
  const first = [...listOf(prefixItems), ...listOf(items)];
  if (first.length > 0) return `[${[...first.slice(0, maxChoices).map((part) => typeOf(part, writing, depth)), `...${any}[]`].join(', ')}]`;
  return `${grouped(typeOf(items ?? true, writing, depth))}[]`;
}

function objectType(schema: JsonSchema, writing: Writing, depth: number): string {
  const { properties, additionalProperties, patternProperties } = schema;
  const named = isRecord(properties) ? Object.entries(properties) : [];
  const others = isRecord(patternProperties) ? Object.values(patternProperties)[0] : additionalProperties;
  if (depth > writing.detail.depth) return anyObject;
  const isOpen = isRecord(others) || (named.length === 0 && others !== false);
  const record = isOpen ? `Record<string, ${typeOf(others ?? true, writing, depth)}>` : null;
  if (named.length === 0) return record ?? '{}';
  const needed = new Set<unknown>(listOf(schema.required));
  const told = named.slice(0, maxDeclaredMembers).map(([name, part]) => {
    return `${memberComment(name, part, writing)}${memberName(name)}${needed.has(name) ? '' : '?'}: ${typeOf(part, writing, depth)}`;
  });
  const more = named.length - told.length;
  const members = `{ ${told.join('; ')}${more > 0 ? `; /* … ${more} more */` : ''} }`;
  return record === null ? members : `${members} & ${record}`;
}

function memberComment(name: string, schema: unknown, { detail }: Writing): string {
  if (!isRecord(schema) || detail.comments === null) return '';
  const { description, format, default: fallback } = schema;
  const text = typeof description === 'string' ? description : '';
  const hints = [
    ...(typeof format === 'string' && !text.includes(format) ? [format] : []),
    ...(isShort(fallback) ? [`default ${JSON.stringify(fallback)}`] : []),
  ];
  // Hints come last and are never cut, since a type cannot express them.
  const hint = hints.length === 0 ? '' : `(${hints.join(', ').slice(0, maxHintLength)})`;
  const told = commentText(text, maxDeclaredMemberComment).slice(4, -3);
  const comment = commentText(`${told} ${hint}`, maxDeclaredMemberComment + maxHintLength + 8);
  return comment !== '' && detail.comments.isNew(name, comment) ? `${comment} ` : '';
}

const maxHintLength = 60;

/** Whether the value is short enough for a comment. */
function isShort(value: unknown): boolean {
  return value !== undefined && value !== null && (JSON.stringify(value)?.length ?? maxHintLength) < 30;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return value.length <= maxLiteralLength ? literalText(value) : 'string';
  if (value === null || typeof value === 'boolean') return literalText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? literalText(value) : 'number';
  return any;
}

const maxLiteralLength = 80;

/** Types that add nothing are dropped. */
function allOf(types: readonly string[]): string {
  const told = new Set(types);
  told.delete(any);
  if (told.size > 1) told.delete(anyObject);
  if (told.size === 0) return any;
  return told.size === 1 ? [...told].join() : [...told].map(grouped).join(' & ');
}

/** A union with `unknown` is `unknown`. `isCut`: there are further members. */
function oneOf(types: readonly string[], isCut = false): string {
  const told = [...new Set(types)];
  if (told.length === 0 || told.includes(any)) return any;
  if (!isCut) return told.join(' | ');
  // A cut list of string literals still means a string.
  return told.every((type) => type.startsWith('"')) ? `${told.join(' | ')} | string` : any;
}

/** Adds parentheses around types that another operator could split. */
function grouped(type: string): string {
  return /^(?:[\w.]+|"[^"\\]*"|[{[][^{}[\]&|]*[}\]])$/.test(type) ? type : `(${type})`;
}

// Untrusted text in TypeScript: names, literals and comments that cannot be parsed as anything else, whatever they contain. Used by the
// declarations of code mode (`tool-declarations.ts`).

/** Returns a member name: unchanged if it is an identifier, else in quotes. Reserved words are valid member names. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalText(name);
}

/** `tools.read_file`, `tools["a-b"]`. */
export function memberOf(object: string, name: string): string {
  const member = memberName(name);
  return member === name ? `${object}.${name}` : `${object}[${member}]`;
}

/**
 * Returns a literal type. JSON literals are valid TypeScript; invisible characters and Markdown fences are written as code points.
 */
export function literalText(value: string | number | boolean | null): string {
  return JSON.stringify(value).replace(hidden, escaped).replaceAll('```', escaped('`').repeat(3));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * Returns `/** … *\/` on one line, or '' for an empty text. The text cannot end the comment or a Markdown fence around it, and
 * invisible characters are removed, since between `*` and `/` they would hide an end.
 */
export function commentText(text: string, maxLength: number): string {
  const line = oneLine(text.replace(hidden, ''));
  const cut = line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}…`;
  return cut === '' ? '' : `/** ${cut.replaceAll('*/', '*\\/').replaceAll('```', "'''")} */`;
}

const hidden = new RegExp(hiddenCharacter, 'gu');
