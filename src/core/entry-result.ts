/**
 * What a model is shown of a tool's result under an entry's rules: the parts that are picked, within so many bytes, and where the
 * rest can be read. Errors are never picked. Also what is wrong with a rule, as far as the tool's `outputSchema` tells. Used by the
 * call door and the compiler.
 */
import type { EntryResult } from './entry-rules.ts';
import { limits } from './limits.ts';
import type { Issue } from './problem.ts';
import { boundResult, fetchCall, keptContent } from './result-bound.ts';
import { partAt } from './schema-references.ts';
import { isObject } from './schema-types.ts';
import { contentText, type ContentBlock, type JsonSchema, type ToolResult } from './tool.ts';

/** `kept`: what to keep whole under the call's id, for `fetch_result`; null: nothing was left out that could be read. */
export type ShownResult = { shown: ToolResult; kept: ContentBlock[] | null };

/** `keptAs`: the id that what is left out will be kept under; null: there is no place for it. */
export function showResult(result: ToolResult, rules: EntryResult | undefined, keptAs: string | null): ShownResult {
  const maxBytes = rules?.maxBytes ?? limits.maxResultBytes;
  const pointers = result.isError ? undefined : rules?.pick;
  const picked = pointers === undefined ? null : pickParts(result, pointers);
  if (picked === null || picked.found.size === 0) {
    const bounded = boundResult(result, maxBytes, keptAs);
    const kept = keptAs === null || bounded === result ? null : keptContent(result, bounded);
    if (picked === null) return { shown: bounded, kept };
    return { shown: withNote(bounded, `[Not in this result: ${listed(picked.missing)}. All of it is shown.]`), kept };
  }
  return showPicked(result, picked, maxBytes, keptAs);
}

type Picked = { found: Map<string, unknown>; missing: string[] };

/** What is kept begins with the picked text, so that the note of a cut in it leads to the right place; the whole follows. */
function showPicked(result: ToolResult, { found, missing }: Picked, maxBytes: number, keptAs: string | null): ShownResult {
  const structuredContent = Object.fromEntries(found);
  const text: ContentBlock = { type: 'text', text: JSON.stringify(structuredContent) };
  const picked: ToolResult = { ...result, content: [text], structuredContent };
  const bounded = boundResult(picked, maxBytes, keptAs);
  const isCut = bounded !== picked;
  const kept = keptAs === null ? null : [...(isCut ? [text] : []), ...wholeOf(result)];
  const absent = missing.length === 0 ? '' : ` Not in this result: ${listed(missing)}.`;
  const offset = isCut ? contentText([text]).length + 1 : 0;
  const rest = keptAs === null ? '' : ` To read the whole: ${fetchCall({ callId: keptAs, offset })}`;
  return { shown: withNote(bounded, `[Only these parts of the result are shown.${absent}${rest}]`), kept };
}

function withNote(result: ToolResult, note: string): ToolResult {
  return { ...result, content: [...result.content, { type: 'text', text: note }] };
}

function listed(pointers: readonly string[]): string {
  return pointers.map((pointer) => JSON.stringify(pointer)).join(', ');
}

/** As text: the structured form too, where no text tells it. */
function wholeOf({ content, structuredContent }: ToolResult): ContentBlock[] {
  const told = structuredContent === undefined || content.some((block) => block.type === 'text' && isJsonText(block.text));
  return told ? content : [...content, { type: 'text', text: JSON.stringify(structuredContent) }];
}

function isJsonText(text: string): boolean {
  return readJson(text) !== null;
}

function pickParts(result: ToolResult, pointers: readonly string[]): Picked {
  const value = jsonOf(result);
  const found = new Map<string, unknown>();
  const missing: string[] = [];
  for (const pointer of new Set(pointers)) {
    const at = value === null ? null : valueAt(value.json, pointer);
    if (at === null) missing.push(pointer);
    else found.set(pointer, at.json);
  }
  return { found, missing };
}

type Found = { json: unknown } | null;

/** The structured form, else the first text that is JSON; null: neither. */
function jsonOf({ content, structuredContent }: ToolResult): Found {
  if (structuredContent !== undefined) return { json: structuredContent };
  for (const block of content) {
    const read = block.type === 'text' ? readJson(block.text) : null;
    if (read !== null) return read;
  }
  return null;
}

/** Objects and arrays only: a number or a word is text that happens to be JSON. */
function readJson(text: string): Found {
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    return { json: JSON.parse(text) };
  } catch {
    // Ordinary text: there is nothing to point into.
    return null;
  }
}

/** RFC 6901, section 4. */
function valueAt(value: unknown, pointer: string): Found {
  let part = value;
  for (const token of tokensOf(pointer)) {
    if (Array.isArray(part)) {
      if (!isIndex(token) || Number(token) >= part.length) return null;
      part = part[Number(token)];
    } else if (isObject(part) && Object.hasOwn(part, token)) part = part[token];
    else return null;
  }
  return { json: part };
}

function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function isIndex(token: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(token);
}

/** Warnings: pointers to what the tool's `outputSchema` does not tell of. `path`: of the entry. */
export function checkEntryResult(outputSchema: JsonSchema | undefined, rules: EntryResult | undefined, path: string): Issue[] {
  if (outputSchema === undefined) return [];
  return (rules?.pick ?? []).flatMap((pointer, index) => {
    if (mayHold(outputSchema, outputSchema, tokensOf(pointer), 0)) return [];
    return [
      { path: `${path}.result.pick[${index}]`, message: `${JSON.stringify(pointer)} is nothing that the tool's outputSchema tells of` },
    ];
  });
}

/** References within references; what is stranger than this is left to the call. */
const maxSteps = 64;

function mayHold(root: JsonSchema, schema: unknown, tokens: readonly string[], steps: number): boolean {
  const [token, ...rest] = tokens;
  if (token === undefined || !isObject(schema) || steps > maxSteps) return schema !== false;
  const next = (part: unknown, left: readonly string[] = tokens): boolean => mayHold(root, part, left, steps + 1);
  if (typeof schema.$ref === 'string' && next(partAt(root, schema.$ref))) return true;
  const branches = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (branches.some((branch) => next(branch))) return true;
  if (isObject(schema.properties) && Object.hasOwn(schema.properties, token)) return next(schema.properties[token], rest);
  if (isObject(schema.patternProperties)) return true;
  if (isObject(schema.additionalProperties)) return next(schema.additionalProperties, rest);
  if (schema.additionalProperties === true) return true;
  if (schema.items !== undefined || schema.prefixItems !== undefined)
    return isIndex(token) && (Array.isArray(schema.prefixItems) || Array.isArray(schema.items) || next(schema.items, rest));
  if (schema.properties !== undefined || branches.length > 0 || schema.$ref !== undefined) return false;
  return schema.type === undefined || schema.type === 'object' || schema.type === 'array' || Array.isArray(schema.type);
}
