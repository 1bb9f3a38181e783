/**
 * Parses a body from outside with its schema: errors become `invalid_request` with one issue each, at its path
 * (`tools[1].aliases[0]`). Used for every incoming document.
 */
import type { z } from 'zod';
import { invalidRequest } from './problem.ts';
import type { Issue } from './problem.ts';

/** Returns the parsed value. Throws `invalid_request` if it does not match the schema. */
export function parseDocument<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = parsePart(schema, value);
  if ('issues' in parsed) throw invalidRequest(parsed.issues);
  return parsed.data;
}

/** Returns the parsed value or its issues. `path`: the location of the value in `document`. */
export function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: readonly PropertyKey[] = [],
  document: unknown = value,
): { data: z.infer<Schema> } | { issues: Issue[] } {
  try {
    const parsed = schema.safeParse(value);
    return parsed.success ? { data: parsed.data } : { issues: issuesOf(parsed.error.issues, document, path) };
  } catch (error) {
    // Zod passes issues as arguments of one call, and the stack holds about a hundred thousand arguments.
    if (error instanceof RangeError) return { issues: [{ path: issuePath(path), message: 'has too many errors to list' }] };
    throw error;
  }
}

/**
 * Converts Zod's issues to ours: one issue per unknown field, `is missing` for absent values, and for a union the issues of the
 * closest branch.
 */
export function issuesOf(issues: readonly z.core.$ZodIssue[], value: unknown, base: readonly PropertyKey[] = []): Issue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: issuePath([...path, key]), message: 'unknown field' }));
    if (isMissing(issue, valueAt(value, path))) return [{ path: issuePath(path), message: 'is missing' }];
    if (issue.code === 'invalid_union') {
      const branch = closestBranch(issue.errors, valueAt(value, path));
      if (branch !== null) return issuesOf(branch, value, path);
    }
    // For an invalid record key, the inner issue says what is wrong with it.
    const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
    return [{ path: issuePath(path), message: message ?? (isNoNumber(issue) ? 'must be a number' : issue.message) }];
  });
}

/** Queries and headers are text that is converted to numbers; Zod would report the converted value. */
function isNoNumber(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'number' && issue.message.endsWith('NaN');
}

/** Whether a type, enum or format was expected and the value is absent. Our own refinements report missing values themselves. */
function isMissing({ code, path }: z.core.$ZodIssue, value: unknown): boolean {
  return value === undefined && path.length > 0 && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (part, key) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, key) ? (part as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}

/**
 * Returns the branch with the fewest issues among those that accepted the type of the value; null if every branch rejected the type.
 * An empty value is compared with the first branch, which is the usual form.
 */
function closestBranch(branches: readonly (readonly z.core.$ZodIssue[])[], value: unknown): readonly z.core.$ZodIssue[] | null {
  const fitting = branches.filter(
    (branch) => branch.length > 0 && !branch.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0),
  );
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty ? (fitting[0] ?? null) : (fitting.toSorted((one, other) => faultsIn(one) - faultsIn(other))[0] ?? null);
}

function faultsIn(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

/** `['tools', 1, 'aliases', 0]` → `tools[1].aliases[0]`. */
export function issuePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
