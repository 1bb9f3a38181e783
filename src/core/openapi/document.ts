/**
 * An OpenAPI document as data, and what stands where in it: its version, its references, its operations. 3.0 and 3.1 (and 3.2, which reads
 * the same here). Whatever leads out of the document is not fetched. Not here: schemas (`schemas.ts`), and what becomes a tool (`import.ts`).
 *
 * OpenAPI Specification 3.1.1, "OpenAPI Object", "Paths Object", "Reference Object".
 */
import { isDeeperThan } from '../json-depth.ts';
import { limits } from '../limits.ts';
import { Problem, quoted } from '../problem.ts';
import { partAt } from '../schema/schema-references.ts';
import { hasMoreParts } from '../schema/schema-size.ts';
import { firstWarnings, type Warning } from '../warning.ts';
import { isRecord, type Json } from '../wire-value.ts';

export type OpenApiDocument = {
  root: Json;
  /** 3.0: schemas in a dialect of their own, with `nullable` and boolean bounds. */
  isOld: boolean;
  /** Each text once. */
  warn(path: string, message: string): void;
  warnings(): Warning[];
};

/** Throws `upstream_error` for what is no document that can be read. */
export function readOpenApi(value: unknown): OpenApiDocument {
  if (!isRecord(value)) throw fault('is no map of fields, such as openapi: and paths:');
  if (value.swagger !== undefined)
    throw fault(`is of Swagger ${quoted(String(value.swagger))}. Convert it to OpenAPI 3 (for example with swagger2openapi) and give that`);
  const version = typeof value.openapi === 'string' ? value.openapi : '';
  if (!/^3\.[012](?:\.|$)/.test(version)) {
    throw fault(version === '' ? 'has no `openapi` field with its version' : `is of version ${quoted(version)}; 3.0 and 3.1 are read`);
  }
  // Counted as it would be written out: aliases of YAML make one part stand in many places.
  if (hasMoreParts(value, limits.maxOpenApiParts)) throw fault(`has more than ${limits.maxOpenApiParts} parts`);
  if (isDeeperThan(value, limits.maxOpenApiDepth)) throw fault(`nests deeper than ${limits.maxOpenApiDepth} levels`);
  const warned = new Map<string, Warning>();
  return {
    root: value,
    isOld: version.startsWith('3.0'),
    warn(path, message) {
      if (warned.size <= limits.maxToldIssues) warned.set(`${path}\n${message}`, { path, message });
    },
    warnings: () => firstWarnings([...warned.values()], 'warnings about the document'),
  };
}

export function fault(message: string): Problem {
  return new Problem('upstream_error', `The OpenAPI document ${message}.`, { retryable: false });
}

/** What stands there, references followed; null: nothing that can be used, which was warned of. */
export function follow({ root, warn }: OpenApiDocument, value: unknown, where: string): Json | null {
  let part = value;
  for (let hops = 0; isRecord(part) && typeof part.$ref === 'string'; hops++) {
    const reference = part.$ref;
    const target = reference.startsWith('#') ? partAt(root, reference) : undefined;
    if (target === undefined || hops === maxHops) {
      warn(where, referenceWords(reference, hops === maxHops));
      return null;
    }
    part = target;
  }
  if (isRecord(part)) return part;
  if (part !== undefined) warn(where, 'is not an object; left out');
  return null;
}

const maxHops = 32;

export function referenceWords(reference: string, isEndless = false): string {
  if (isEndless) return `the reference ${quoted(reference)} comes to no end`;
  const why = reference.startsWith('#') ? 'is not in the document' : 'lies outside the document and is never fetched: bundle it in';
  return `the reference ${quoted(reference)} ${why}`;
}

export type FoundOperation = {
  /** Upper case. */
  method: string;
  /** With a slash before it. */
  path: string;
  operationId: string | null;
  tags: readonly string[];
  operation: Json;
  item: Json;
};

/** Without TRACE, which nobody can send (Fetch Standard, "forbidden method"). */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** All of them, in the order of the document. `webhooks` are calls to others, and no operations of the API. */
export function operationsOf(document: OpenApiDocument): FoundOperation[] {
  const { root, warn } = document;
  if (root.paths !== undefined && !isRecord(root.paths)) throw fault('has `paths` that are no map');
  const found: FoundOperation[] = [];
  for (const [written, value] of Object.entries(root.paths ?? {})) {
    if (written.startsWith('x-')) continue;
    const path = written.startsWith('/') ? written : `/${written}`;
    const item = pathItem(document, value, written);
    if (item === null) continue;
    const refusal = pathFault(path);
    if (refusal !== null) {
      warn(`paths.${written}`, `${refusal}; its operations are left out`);
      continue;
    }
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      if (!isRecord(operation)) {
        warn(`paths.${written}.${method}`, 'is not an object; left out');
        continue;
      }
      const operationId = typeof operation.operationId === 'string' && operation.operationId !== '' ? operation.operationId : null;
      const tags = Array.isArray(operation.tags) ? operation.tags.filter((tag) => typeof tag === 'string') : [];
      found.push({ method: method.toUpperCase(), path, operationId, tags, operation, item });
    }
  }
  return found;
}

/** Members beside a path item's reference stand beside those of its target. */
function pathItem(document: OpenApiDocument, value: unknown, path: string): Json | null {
  if (!isRecord(value) || typeof value.$ref !== 'string') return follow(document, value, `paths.${path}`);
  const target = follow(document, value, `paths.${path}`);
  const { $ref: _reference, ...own } = value;
  return target === null ? null : Object.fromEntries([...Object.entries(target), ...Object.entries(own)]);
}

function pathFault(path: string): string | null {
  if (path.length > limits.maxUrlLength) return 'the path is too long';
  if (/[?#]/.test(path)) return 'the path holds "?" or "#", which end a path: describe query parameters as such';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'the path holds a backslash or a control character';
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return 'the path holds "." or ".." as a segment';
  return null;
}
