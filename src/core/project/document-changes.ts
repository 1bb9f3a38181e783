/** The difference between a stored document and the one that replaces it, as a list of changed paths. */
import * as z from 'zod';
import { canonicalJson } from '../hash.ts';
import { issuePath } from '../problem.ts';
import { limits } from '../limits/limits.ts';
import type { ServerTool } from '../servers/server-tool.ts';
import { cutToLength } from '../text/utf8.ts';

export const DocumentChange = z
  .object({
    path: z.string(),
    before: z.string().optional().meta({ description: 'As JSON, shortened. Absent: it is added.' }),
    after: z.string().optional().meta({ description: 'As JSON, shortened. Absent: it is removed.' }),
  })
  .meta({ id: 'DocumentChange' });
export type DocumentChange = z.infer<typeof DocumentChange>;

/** Returns at most `limits.maxShownChanges` changes, see `boundedChanges`. */
export function documentChanges(before: unknown, after: unknown): DocumentChange[] {
  const changes: DocumentChange[] = [];
  compare(before, after, [], changes);
  return boundedChanges(changes);
}

/** A last one without values says that there are more than `limits.maxShownChanges`. */
export function boundedChanges(changes: DocumentChange[]): DocumentChange[] {
  if (changes.length <= limits.maxShownChanges) return changes;
  return [...changes.slice(0, limits.maxShownChanges), { path: '…' }];
}

/** The tools that a server lists, as changes compare them: definitions by name. */
export function comparedTools(tools: readonly ServerTool[]): Record<string, unknown> {
  return Object.fromEntries(
    tools.flatMap(({ name, state, description, inputSchema, outputSchema, annotations, aliases }) => {
      const definition = { description, inputSchema, outputSchema, annotations, aliases };
      return state === 'missing' ? [] : [[name, state === 'ready' ? definition : { state, ...definition }]];
    }),
  );
}

function compare(before: unknown, after: unknown, path: readonly PropertyKey[], changes: DocumentChange[]): void {
  if (changes.length > limits.maxShownChanges || canonicalJson(before) === canonicalJson(after)) return;
  const [one, other] = [partsOf(before), partsOf(after)];
  if (one === null || other === null || Array.isArray(before) !== Array.isArray(after)) {
    changes.push({
      path: issuePath(path),
      ...(before !== undefined && { before: shown(before) }),
      ...(after !== undefined && { after: shown(after) }),
    });
    return;
  }
  for (const key of new Set([...one.keys(), ...other.keys()])) compare(one.get(key), other.get(key), [...path, key], changes);
}

function partsOf(value: unknown): Map<PropertyKey, unknown> | null {
  if (Array.isArray(value)) return new Map(value.entries());
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function shown(value: unknown): string {
  return cutToLength(canonicalJson(value), limits.maxQuotedLength * 2);
}
