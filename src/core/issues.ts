/**
 * Parsing a body from outside with its schema: faults become `invalid_request` with one issue for each, at its path
 * (`tools[1].aliases[0]`). Used wherever a document enters.
 */
import type { z } from 'zod';
import { invalidRequest } from './problem.ts';
import type { Issue } from './problem.ts';

/** The parsed value, or `invalid_request`. */
export function parseDocument<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = parsePart(schema, value);
  if ('issues' in parsed) throw invalidRequest(parsed.issues);
  return parsed.data;
}

/** The parsed value, or its faults. `path`: where it stands in `document`. */
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
    // Zod hands issues on as arguments of one call, and a stack holds about a hundred thousand.
    if (error instanceof RangeError) return { issues: [{ path: pathText(path), message: 'has more faults than can be told' }] };
    throw error;
  }
}

/** Zod's issues of this value as ours: unknown fields one by one, missing ones as such, and of a union the branch that came closest. */
export function issuesOf(issues: readonly z.core.$ZodIssue[], value: unknown, base: readonly PropertyKey[] = []): Issue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: pathText([...path, key]), message: 'unknown field' }));
    if (isMissing(issue, valueAt(value, path))) return [{ path: pathText(path), message: 'is missing' }];
    if (issue.code === 'invalid_union') {
      const branch = closestBranch(issue.errors, valueAt(value, path));
      if (branch !== null) return issuesOf(branch, value, path);
    }
    // Of a name in a table: what is wrong with it is said within.
    const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
    return [{ path: pathText(path), message: message ?? (isNoNumber(issue) ? 'must be a number' : issue.message) }];
  });
}

/** Of a query or header, which is text: Zod would say what it became. */
function isNoNumber(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'number' && issue.message.endsWith('NaN');
}

/** A type, a choice or a form was asked for, and there is nothing; a rule of our own says itself what it misses. */
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
 * The branch with the fewest faults among those that took the value's type; null when every branch refused the type itself. A
 * value that says nothing is held against the first, the usual form.
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
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
