/**
 * An OpenAPI document as data: its version, references and operations. Supports 3.0, 3.1 and 3.2 (read like 3.1), and Swagger 2.0. External references are
 * not fetched. `schemas.ts` reads schemas; `import.ts` creates tools.
 * OpenAPI Specification 3.1.1, "OpenAPI Object", "Paths Object", "Reference Object".
 */
import { collectParts, isDeeperThan, isRecord, type Json } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { fromSwagger } from './from-swagger.ts';
import { firstWarnings, Problem, quoted, type Warning } from '../problem.ts';
import { resolvePointer } from '../schema/schema-references.ts';

/** Objects and arrays of an OpenAPI document, with YAML aliases expanded: large public documents of 5 MB have some 300,000. */
const maxOpenApiParts = 1_000_000;

export type OpenApiDescription = {
  root: Json;
  /** OpenAPI 3.0, whose schema dialect has `nullable` and boolean bounds. */
  isOld: boolean;
  /** Adds a warning; duplicates are ignored. */
  warn(path: string, message: string): void;
  warnings(): Warning[];
};

/** Throws `upstream_error` if the value is not a supported OpenAPI document. */
export function readOpenApi(value: unknown): OpenApiDescription {
  if (!isRecord(value)) throw descriptionFault('is not an object with fields such as openapi and paths');
  const isSwagger = value.swagger !== undefined;
  // YAML reads an unquoted 2.0 as a number.
  if (isSwagger && !/^2(?:\.0)?$/.test(String(value.swagger)))
    throw descriptionFault(`is Swagger ${quoted(String(value.swagger))}; Swagger 2.0 and OpenAPI 3 are supported`);
  const version = isSwagger ? '3.0.3' : typeof value.openapi === 'string' ? value.openapi : '';
  if (!/^3\.[012](?:\.|$)/.test(version)) {
    throw descriptionFault(
      version === '' ? 'has no `openapi` field with its version' : `has the version ${quoted(version)}, but only 3.0 and 3.1 are supported`,
    );
  }
  // Counts the expanded size: YAML aliases can repeat one part many times.
  if (collectParts(value, maxOpenApiParts) === null) throw descriptionFault(`has more than ${maxOpenApiParts} parts`);
  if (isDeeperThan(value, limits.maxOpenApiDepth)) throw descriptionFault(`nests deeper than ${limits.maxOpenApiDepth} levels`);
  const warned = new Map<string, Warning>();
  return {
    root: isSwagger ? fromSwagger(value) : value,
    isOld: version.startsWith('3.0'),
    warn(path, message) {
      if (warned.size <= limits.maxReportedIssues) warned.set(`${path}\n${message}`, { path, message });
    },
    warnings: () => firstWarnings([...warned.values()], 'warnings about the document'),
  };
}

export function descriptionFault(message: string): Problem {
  return new Problem('upstream_error', `The OpenAPI document ${message}.`, { retryable: false });
}

/** Returns the object at `where`, with references followed; null and a warning if it is not usable. */
export function resolveReference({ root, warn }: OpenApiDescription, value: unknown, where: string): Json | null {
  let part = value;
  for (let hops = 0; isRecord(part) && typeof part.$ref === 'string'; hops++) {
    const reference = part.$ref;
    const target = reference.startsWith('#') ? resolvePointer(root, reference) : undefined;
    if (target === undefined || hops === maxHops) {
      warn(where, referenceFaultText(reference, hops === maxHops));
      return null;
    }
    part = target;
  }
  if (isRecord(part)) return part;
  if (part !== undefined) warn(where, 'is not an object; skipped');
  return null;
}

const maxHops = 32;

export function referenceFaultText(reference: string, isEndless = false): string {
  if (isEndless) return `the reference ${quoted(reference)} is circular`;
  const why = reference.startsWith('#')
    ? 'is not in the document'
    : 'is outside the document and is never fetched: bundle it into the document';
  return `the reference ${quoted(reference)} ${why}`;
}

export type FoundOperation = {
  /** Upper case. */
  method: string;
  /** With a leading slash. */
  path: string;
  operationId: string | null;
  tags: readonly string[];
  operation: Json;
  item: Json;
};

/** `name`: of the tool. */
export type NamedOperation = FoundOperation & { name: string };

/** Without TRACE, which `fetch` cannot send (Fetch Standard, "forbidden method"). */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** Returns all operations in the order of the document. `webhooks` are calls to other services and not operations of the API. */
export function operationsOf(api: OpenApiDescription): FoundOperation[] {
  const { root, warn } = api;
  if (root.paths !== undefined && !isRecord(root.paths)) throw descriptionFault('has `paths` that are not an object');
  const found: FoundOperation[] = [];
  for (const [written, value] of Object.entries(root.paths ?? {})) {
    if (written.startsWith('x-')) continue;
    const path = written.startsWith('/') ? written : `/${written}`;
    const item = pathItem(api, value, written);
    if (item === null) continue;
    const refusal = pathFault(path);
    if (refusal !== null) {
      warn(`paths.${written}`, `${refusal}; its operations are skipped`);
      continue;
    }
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      if (!isRecord(operation)) {
        warn(`paths.${written}.${method}`, 'is not an object; skipped');
        continue;
      }
      const operationId = typeof operation.operationId === 'string' && operation.operationId !== '' ? operation.operationId : null;
      const tags = Array.isArray(operation.tags) ? operation.tags.filter((tag) => typeof tag === 'string') : [];
      found.push({ method: method.toUpperCase(), path, operationId, tags, operation, item });
    }
  }
  return found;
}

/** Merges the members next to a path item's reference with those of its target. */
function pathItem(api: OpenApiDescription, value: unknown, path: string): Json | null {
  if (!isRecord(value) || typeof value.$ref !== 'string') return resolveReference(api, value, `paths.${path}`);
  const target = resolveReference(api, value, `paths.${path}`);
  const { $ref: _reference, ...own } = value;
  return target === null ? null : Object.fromEntries([...Object.entries(target), ...Object.entries(own)]);
}

function pathFault(path: string): string | null {
  if (path.length > limits.maxUrlLength) return 'the path is too long';
  if (/[?#]/.test(path)) return 'the path contains "?" or "#", which end a path: declare query parameters as parameters';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'the path contains a backslash or a control character';
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return 'the path contains "." or ".." as a segment';
  return null;
}
