/**
 * The part of a tool's result that a model sees under the rules of an entry: the picked parts, bounded in bytes, and a note of where
 * the rest can be read. Errors are shown whole. Used by the call path.
 */
import type { EntryResult } from './toolset.ts';
import { valueAt, type PointerResult, isIndex, pointerTokens } from '../json/json-pointer.ts';
import { limits } from '../limits/limits.ts';
import type { NamedEntry } from './named-entry.ts';
import { quoted, type Issue } from '../problem.ts';
import { boundResult, fetchCall, contentToStore, modelBounds, type ResultBounds } from './result-bound.ts';
import { visibleJson } from '../text/visible-text.ts';
import { contentText, type ContentBlock, type ToolResult, type JsonSchema } from '../tools/tool.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import { isRecord, tryParse } from '../json/wire-value.ts';
import { listFirst } from '../text/paragraphs.ts';

/** `kept`: the content to store under the id of the call, for `fetch_result`; null: nothing readable was left out. */
type ShownResult = { shown: ToolResult; kept: ContentBlock[] | null };

/**
 * `keptAs`: the id under which the omitted content will be stored; null if it cannot be stored. `given`: what the reader gets without a
 * rule.
 */
export function showResult(
  result: ToolResult,
  rules: EntryResult | undefined,
  keptAs: string | null,
  given: ResultBounds = modelBounds,
): ShownResult {
  const bounds = rules?.maxBytes === undefined ? given : { ...given, text: rules.maxBytes };
  const pointers = result.isError ? undefined : rules?.pick;
  const picked = pointers === undefined ? null : pickParts(result, pointers);
  if (picked === null || picked.found.size === 0) {
    const bounded = boundResult(result, bounds, keptAs);
    const kept = keptAs === null || bounded === result ? null : contentToStore(result, bounded);
    if (picked === null) return { shown: bounded, kept };
    return { shown: withNote(bounded, `[Not in this result: ${listed(picked.missing)}. The whole result is shown.]`), kept };
  }
  return showPicked(result, picked, bounds, keptAs);
}

/** `tooMuch`: pointers that match, but whose values would make the result larger than the original. */
type Picked = { found: Map<string, unknown>; missing: string[]; tooMuch: string[] };

/** The stored content begins with the picked text, so that the offset in the note of a cut is correct; the whole result follows. */
function showPicked(result: ToolResult, { found, missing, tooMuch }: Picked, bounds: ResultBounds, keptAs: string | null): ShownResult {
  const structuredContent = Object.fromEntries(found);
  const text: ContentBlock = { type: 'text', text: visibleJson(structuredContent) };
  const picked: ToolResult = { ...result, content: [text], structuredContent };
  const bounded = boundResult(picked, bounds, keptAs);
  const isCut = bounded !== picked;
  const kept = keptAs === null ? null : [...(isCut ? [text] : []), ...wholeOf(result)];
  const absent = missing.length === 0 ? '' : ` Not in this result: ${listed(missing)}.`;
  const over = tooMuch.length === 0 ? '' : ` Left out because the result would be too large: ${listed(tooMuch)}.`;
  const offset = isCut ? contentText([text]).length + 1 : 0;
  const rest = keptAs === null ? '' : ` To read the whole result: ${fetchCall({ callId: keptAs, offset })}`;
  return { shown: withNote(bounded, `[Only these parts of the result are shown.${absent}${over}${rest}]`), kept };
}

function withNote(result: ToolResult, note: string): ToolResult {
  return { ...result, content: [...result.content, { type: 'text', text: note }] };
}

/** A pointer may be up to a kilobyte long, and the list is shown next to the picked parts. */
const maxListedPointers = 10;

function listed(pointers: readonly string[]): string {
  return listFirst(pointers.map(quoted), maxListedPointers);
}

/** As text, including the structured form if no text block contains it. */
function wholeOf({ content, structuredContent }: ToolResult): ContentBlock[] {
  const told = structuredContent === undefined || content.some((block) => block.type === 'text' && readJson(block.text) !== null);
  return told ? content : [...content, { type: 'text', text: visibleJson(structuredContent) }];
}

function pickParts(result: ToolResult, pointers: readonly string[]): Picked {
  const value = jsonOf(result);
  const found = new Map<string, unknown>();
  const missing: string[] = [];
  const tooMuch: string[] = [];
  // One picked part may contain another: fifty pointers could return fifty times a result of some megabytes.
  let left: number = limits.maxToolReplyBytes;
  for (const pointer of new Set(pointers)) {
    const at = value === null ? null : valueAt(value.json, pointerTokens(pointer));
    if (at === null) {
      missing.push(pointer);
      continue;
    }
    left -= left < 0 ? 0 : JSON.stringify(at.json).length;
    if (left < 0 && found.size > 0) tooMuch.push(pointer);
    else found.set(pointer, at.json);
  }
  return { found, missing, tooMuch };
}

/** Returns the structured form, else the first text block that is JSON; null: neither. */
function jsonOf({ content, structuredContent }: ToolResult): PointerResult {
  if (structuredContent !== undefined) return { json: structuredContent };
  for (const block of content) {
    const read = block.type === 'text' ? readJson(block.text) : null;
    if (read !== null) return read;
  }
  return null;
}

/** Objects and arrays only: a number or a string is text that happens to be valid JSON. */
function readJson(text: string): PointerResult {
  if (!/^\s*[{[]/.test(text)) return null;
  const json = tryParse(text);
  return json === undefined ? null : { json };
}

// Finds pointers of an entry that can match nothing according to the tool's `outputSchema`, and warns when the toolset is written.
// Used by the compiler (`edition.ts`).

/** Returns warnings; none if the tool declares no output schema. */
export function checkEntryResult({ source, definition, path }: Pick<NamedEntry, 'source' | 'definition' | 'path'>): Issue[] {
  const outputSchema = definition?.outputSchema;
  if (outputSchema === undefined) return [];
  return (source.result?.pick ?? []).flatMap((pointer, index) => {
    if (mayHold(outputSchema, outputSchema, pointerTokens(pointer), { parts: limits.maxSchemaParts, steps: 0 })) return [];
    return [{ path: `${path}.result.pick[${index}]`, message: `${JSON.stringify(pointer)} is not in the tool's outputSchema` }];
  });
}

/** A pointer has at most half as many tokens as characters, and there may be references between them. */
const maxSteps = 1_000;

/**
 * `budget`: the number of subschemas that may still be visited, since references multiply, and the depth. Beyond it, the check is
 * left to the call.
 */
function mayHold(root: JsonSchema, schema: unknown, tokens: readonly string[], budget: { parts: number; steps: number }): boolean {
  const [token, ...rest] = tokens;
  budget.parts -= 1;
  if (token === undefined || !isRecord(schema) || budget.steps > maxSteps || budget.parts < 0) return schema !== false;
  const next = (part: unknown, left: readonly string[] = tokens): boolean => {
    budget.steps += 1;
    const holds = mayHold(root, part, left, budget);
    budget.steps -= 1;
    return holds;
  };
  if (typeof schema.$ref === 'string' && next(resolvePointer(root, schema.$ref))) return true;
  const branches = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (branches.some((branch) => next(branch))) return true;
  if (isRecord(schema.properties) && Object.hasOwn(schema.properties, token)) return next(schema.properties[token], rest);
  if (isRecord(schema.patternProperties)) return true;
  if (isRecord(schema.additionalProperties)) return next(schema.additionalProperties, rest);
  if (schema.additionalProperties === true) return true;
  if (schema.items !== undefined || schema.prefixItems !== undefined)
    return isIndex(token) && (Array.isArray(schema.prefixItems) || Array.isArray(schema.items) || next(schema.items, rest));
  if (schema.properties !== undefined || branches.length > 0 || schema.$ref !== undefined) return false;
  return schema.type === undefined || schema.type === 'object' || schema.type === 'array' || Array.isArray(schema.type);
}
