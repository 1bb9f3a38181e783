/**
 * Finds pointers of an entry that can match nothing according to the tool's `outputSchema`, and warns when the toolset is written.
 * Used by the compiler (`edition.ts`); `entry-result.ts` applies the pointers.
 */
import type { EntryResult } from './entry-rules.ts';
import { isIndex, pointerTokens } from '../json/json-pointer.ts';
import { limits } from '../limits.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import type { Issue } from '../problem.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** Returns warnings; none if the tool declares no output schema. `path`: the path of the entry. */
export function checkEntryResult(outputSchema: JsonSchema | undefined, rules: EntryResult | undefined, path: string): Issue[] {
  if (outputSchema === undefined) return [];
  return (rules?.pick ?? []).flatMap((pointer, index) => {
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
