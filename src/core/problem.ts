/**
 * A problem: an error as data, with a code from one closed catalogue (contract §9). Thrown as `Problem` when a request fails; passed as
 * `ProblemBody` in streams and across Durable Object RPC, where an error would lose its fields. `http/problems.ts` renders it in the
 * error shape of each dialect.
 */
import { limits } from './limits/limits.ts';
import { withSingleStops } from './text/sentence.ts';
import { cutToLength } from './text/utf8.ts';
import * as z from 'zod';

/** Every code with which a request can fail, and its status. The codes are part of the public contract. */
export const problemCatalogue = {
  malformed_request: { status: 400, title: 'The request is not valid HTTP' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'No valid key was given' },
  forbidden: { status: 403, title: 'The key does not allow this' },
  not_found: { status: 404, title: 'Not found' },
  unknown_tool: { status: 404, title: 'No tool has this name' },
  model_not_found: { status: 404, title: 'Model not found' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  conflict: { status: 409, title: 'The request conflicts with the state of the resource' },
  name_conflict: { status: 409, title: 'Two tools claim one name' },
  acknowledgement_required: { status: 409, title: 'The findings have to be acknowledged' },
  ambiguous_tool: { status: 409, title: 'The name matches more than one tool' },
  tool_held: { status: 409, title: 'The tool is held until its change is accepted' },
  precondition_failed: { status: 412, title: 'The resource has changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not accepted' },
  invalid_request: { status: 422, title: 'The request is not valid' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key was used with another body' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  upstream_error: { status: 502, title: 'The upstream returned an error' },
  not_configured: { status: 503, title: 'The service is not configured' },
  unavailable: { status: 503, title: 'The service cannot do this now' },
  upstream_timeout: { status: 504, title: 'The upstream did not respond in time' },
  insufficient_storage: { status: 507, title: 'Nothing can be stored now' },
  loop_detected: { status: 508, title: 'The request came back to where it started' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCatalogue;

/** One error of an input: `path` is a JSON path without a leading `$`, such as `tools[1].aliases[0]`; `''` is the whole input. */
export type Issue = { path: string; message: string };

const codes = Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]]; // Object.keys forgets the literal type.

/** The wire format, as `application/problem+json` and as the `problem` of an `error` event. */
export const ProblemSchema = z
  .looseObject({
    type: z.string().meta({ description: 'A place of this service that explains the `code` (RFC 9457 §3.1.1: a relative reference).' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong, and what to do.' }),
    code: z.enum(codes),
    requestId: z.string().optional(),
    issues: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'With `invalid_request`: every issue with its path, such as `tools[1].aliases[0]`.' }),
  })
  .meta({
    id: 'Problem',
    example: {
      type: '/docs/errors#not_found',
      title: 'Not found',
      status: 404,
      detail: 'There is no toolset "demo".',
      code: 'not_found',
      requestId: 'req_1',
    },
  });
export type ProblemBody = z.infer<typeof ProblemSchema>;

/** An expected failure of a request. `extra` members (such as `issues`) are shown to the caller and must not contain secrets. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly detail: string;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, detail: string, extra: Record<string, unknown> = {}, options?: ErrorOptions) {
    const text = withSingleStops(detail);
    super(`${code}: ${text}`, options);
    this.code = code;
    this.detail = text;
    this.extra = extra;
  }

  /** That of its code, unless it has one of its own: the failure of a model provider keeps the provider's status. */
  get status(): number {
    const { status } = this.extra;
    return typeof status === 'number' ? status : problemCatalogue[this.code].status;
  }

  toBody(): ProblemBody {
    const { title } = problemCatalogue[this.code];
    return { ...this.extra, type: `/docs/errors#${this.code}`, title, status: this.status, detail: this.detail, code: this.code };
  }

  static fromBody(body: ProblemBody): Problem {
    const { type: _type, title: _title, detail, code, ...extra } = body;
    return new Problem(code, detail, extra);
  }
}

/** Quotes a caller's own text for a detail, shortened, so that a long hostile path or name is not echoed in full. */
export function quoted(text: string): string {
  return JSON.stringify(cutToLength(text, limits.maxQuotedLength));
}

/** The result of a Durable Object RPC call: a thrown error would lose its class and fields. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; problem: ProblemBody };

/** On the calling side of RPC: returns the value, or throws the problem. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw Problem.fromBody(outcome.problem);
}

/** On the called side of RPC: converts problems to data; all other errors are internal and are rethrown. */
export async function toOutcome<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error.toBody() };
    throw error;
  }
}

/** Resolves to null instead of failing with `not_found`. */
export async function nullIfNotFound<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return null;
    throw error;
  }
}

/** Used everywhere an idempotency key is compared. */
export function idempotencyMismatch(): Problem {
  return new Problem(
    'idempotency_mismatch',
    'This Idempotency-Key was used with another body in the last 24 hours. Use a new key for a new request.',
  );
}

/** Returns the most common refusal: an input with issues, each with its path. */
export function invalidRequest(issues: Issue[], detail?: string): Problem {
  const first = issues[0];
  const summary = first === undefined ? 'The request is not valid.' : `${first.path === '' ? 'body' : first.path}: ${first.message}`;
  return new Problem('invalid_request', detail ?? summary, { issues: issues.slice(0, limits.maxReportedIssues) });
}

/** A warning about a document that is stored anyway. `path` has the same format as in an issue. */
export const Warning = z.object({ path: z.string(), message: z.string() }).meta({ id: 'Warning' });
export type Warning = z.infer<typeof Warning>;

/** Returns the first warnings and the number of further ones, at `path`. `what`: the kind of warning, in the plural. */
export function firstWarnings(
  warnings: readonly Warning[],
  what: string,
  most: number = limits.maxReportedWarnings,
  path = 'tools',
): Warning[] {
  const more = warnings.length - most;
  if (more <= 0) return [...warnings];
  return [...warnings.slice(0, most), { path, message: `and ${more} more ${what}` }];
}

// Parsing with a schema. Used for every incoming document: errors become `invalid_request` with one issue each, at its path
// (`tools[1].aliases[0]`).

/** Returns the parsed value. Throws `invalid_request` if it does not match the schema. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
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
