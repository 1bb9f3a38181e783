/** Checks the entries of a toolset that stand for a web search: one tool does, and its schema takes what a search has. Not part of the eager start. */
import { listOf, recordOf } from '../../json/wire-value.ts';
import type { Issue } from '../../problem.ts';
import { toStrictSchema } from '../arguments/strict-schema.ts';
import type { NamedEntry } from '../named-entry.ts';

export function checkSearchEntries(entries: readonly NamedEntry[]): Issue[] {
  return entries.flatMap(({ path, source, definition }, index) => {
    const at = `${path}.standsFor`;
    if (index > 0) return [{ path: at, message: 'is set for another entry already: one tool stands for a web search' }];
    if (definition === null) return [];
    const { properties, required } = toStrictSchema(definition.inputSchema, source.arguments ?? {});
    const others = listOf(required).filter((name) => name !== 'query');
    const isQuery = recordOf(recordOf(properties).query).type === 'string';
    if (isQuery && others.length === 0) return [];
    const message = isQuery
      ? `requires ${others.join(', ')}, which a search does not have: set a preset or a default`
      : 'has no text argument "query": rename one to it';
    return [{ path: at, message: `cannot be ${source.standsFor}: the tool ${message}` }];
  });
}
