/**
 * Schemas of structured results for the 2025 revisions, whose root is an object: another schema becomes the schema of the member `result`, as
 * the SDK's server does it, whose clients expect it.
 */
import { isRecord } from '../../core/json/wire-value.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';

export function isObjectSchema(schema: JsonSchema): boolean {
  return schema.type === 'object';
}

export function wrapSchema(schema: JsonSchema): JsonSchema {
  const { $schema } = schema;
  const result = hasOwnBase(schema) ? schema : moved(schema, false);
  return { ...(typeof $schema === 'string' && { $schema }), type: 'object', properties: { result }, required: ['result'] };
}

/** Its references do not start at the root of the document (JSON Schema 2020-12, §8.2.1). */
function hasOwnBase({ $id }: Record<string, unknown>): boolean {
  return typeof $id === 'string' && !$id.startsWith('#');
}

/** Members that are data, not schemas. */
const dataMembers: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Members whose own members are named by the author of the schema. */
const namedMembers: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Returns the schema with its references to the root changed to the place that it moves to. `areNames`: the members are named by the author. */
function moved(node: unknown, areNames: boolean): unknown {
  if (Array.isArray(node)) return node.map((item: unknown) => moved(item, false));
  if (!isRecord(node) || (!areNames && hasOwnBase(node))) return node;
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => {
    if (areNames) return [name, moved(value, false)];
    if ((name === '$ref' || name === '$dynamicRef') && typeof value === 'string') return [name, movedReference(value)];
    return [name, dataMembers.has(name) ? value : moved(value, namedMembers.has(name))];
  });
  return Object.fromEntries(entries);
}

function movedReference(reference: string): string {
  const isOfRoot = reference === '#' || reference.startsWith('#/');
  return isOfRoot ? `#/properties/result${reference.slice(1)}` : reference;
}
