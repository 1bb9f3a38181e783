/**
 * An OpenAPI document as data: its version, references and operations. Supports 3.0, 3.1 and 3.2 (read like 3.1), and Swagger 2.0. External references are
 * not fetched. `schemas.ts` reads schemas; `import.ts` creates tools.
 * OpenAPI Specification 3.1.1, "OpenAPI Object", "Paths Object", "Reference Object".
 */
import { collectParts, isDeeperThan, isRecord, type Json, listOf, recordOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToLength } from '../text/utf8.ts';
import { fromSwagger } from './from-swagger.ts';
import { lostMembers, type OpenApiObject } from './members.ts';
import { firstWarnings, Problem, quoted, type Warning } from '../problem.ts';
import { resolvePointer } from '../schema/schema-references.ts';

/** Objects and arrays of an OpenAPI document, with YAML aliases expanded: large public documents of 5 MB have some 300,000. */
const maxOpenApiParts = 1_000_000;

export type OpenApiDescription = {
  root: Json;
  /** OpenAPI 3.0, whose schema dialect has `nullable` and boolean bounds. */
  isOld: boolean;
  /** Adds a warning; duplicates are ignored, and of one with many paths the first ones are listed. */
  warn(path: string, message: string): void;
  warnings(): Warning[];
  /** Counts parts that are read. Throws `upstream_error` if operations share so large parts that reading them all takes minutes. */
  spend(parts: number): void;
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
      version === ''
        ? 'has no `openapi` field with its version'
        : `has the version ${quoted(version)}, but only 3.0, 3.1 and 3.2 are supported`,
    );
  }
  // Counts the expanded size: YAML aliases can repeat one part many times.
  if (collectParts(value, maxOpenApiParts) === null) throw descriptionFault(`has more than ${maxOpenApiParts} parts`);
  if (isDeeperThan(value, limits.maxOpenApiDepth)) throw descriptionFault(`nests deeper than ${limits.maxOpenApiDepth} levels`);
  const { warn, warnings } = collectWarnings();
  const api = {
    root: isSwagger ? fromSwagger(value, warn) : value,
    isOld: version.startsWith('3.0'),
    warn,
    warnings,
    spend: createBudget(),
  };
  accountForRoot(api);
  return api;
}

/** Parts that may be read for all operations together; those of large public documents are some 300,000. */
const maxReadParts = 1_500_000;

function createBudget(): OpenApiDescription['spend'] {
  let left = maxReadParts;
  return (parts) => {
    left -= parts;
    if (left < 0) throw descriptionFault('has operations that share very large parts. List the operations you need in include');
  };
}

/** Places of one message, each with a warning of its own; further ones are counted. */
const maxPlaces = 3;
/** A path in a warning, in characters. */
const maxPathLength = 300;

function collectWarnings(): Pick<OpenApiDescription, 'warn' | 'warnings'> {
  const places = new Map<string, Set<string>>();
  return {
    warn(path, message) {
      if (places.size > limits.maxReportedIssues) return;
      const known = places.get(message) ?? new Set();
      places.set(message, known);
      if (known.size <= limits.maxReportedIssues) known.add(cutToLength(path, maxPathLength));
    },
    warnings() {
      const all = [...places].flatMap(([message, paths]): Warning[] => {
        const more = paths.size - maxPlaces;
        const shown = [...paths].slice(0, maxPlaces);
        return shown.map((path, index) => ({
          path,
          message: more > 0 && index === maxPlaces - 1 ? `${message} (and at ${more} more places)` : message,
        }));
      });
      return firstWarnings(all, 'warnings about the document', limits.maxReportedIssues);
    },
  };
}

/** Reports the members of an object that calls do not follow (`members.ts`). */
export function account({ warn, spend }: OpenApiDescription, kind: OpenApiObject, object: unknown, where: string): void {
  spend(Object.keys(recordOf(object)).length);
  for (const { member, message } of lostMembers(kind, recordOf(object))) warn(where === '' ? member : `${where}.${member}`, message);
}

/** The parts of operations are accounted for where they are read. */
function accountForRoot(api: OpenApiDescription): void {
  const { info, tags, externalDocs, components } = api.root;
  account(api, 'OpenAPI', api.root, '');
  account(api, 'Info', info, 'info');
  account(api, 'Contact', recordOf(info).contact, 'info.contact');
  account(api, 'License', recordOf(info).license, 'info.license');
  account(api, 'External Documentation', externalDocs, 'externalDocs');
  account(api, 'Components', components, 'components');
  for (const [index, tag] of listOf(tags).entries()) account(api, 'Tag', tag, `tags[${index}]`);
}

export function descriptionFault(message: string): Problem {
  return new Problem('upstream_error', `The OpenAPI document ${message}.`, { retryable: false });
}

/**
 * Returns the object at `where`, with references followed; null and a warning if it is not usable. A description beside a reference replaces
 * that of its target.
 */
export function resolveReference(api: OpenApiDescription, value: unknown, where: string): Json | null {
  if (!isRecord(value) || typeof value.$ref !== 'string') return resolveSchema(api, value, where);
  account(api, 'Reference', value, where);
  const target = resolveSchema(api, value, where);
  return target === null || typeof value.description !== 'string' ? target : { ...target, description: value.description };
}

/** As `resolveReference`, for a schema, whose members beside a reference `schemas.ts` reads. */
export function resolveSchema({ root, warn }: OpenApiDescription, value: unknown, where: string): Json | null {
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
  /** As in the document, with a leading slash. */
  path: string;
  /** What is called. `query`: decoded names and values that the path fixes. */
  target: { path: string; query: readonly (readonly [name: string, value: string])[] };
  operationId: string | null;
  tags: readonly string[];
  operation: Json;
  item: Json;
};

/** The path of an operation in warnings. */
export function operationPath({ path, method }: Pick<FoundOperation, 'path' | 'method'>): string {
  return `paths.${path}.${method.toLowerCase()}`;
}

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
    account(api, 'Path Item', item, `paths.${written}`);
    const target = targetOf(api, path, `paths.${written}`);
    if (target === null) continue;
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      if (!isRecord(operation)) {
        warn(`paths.${written}.${method}`, 'is not an object; skipped');
        continue;
      }
      const operationId = typeof operation.operationId === 'string' && operation.operationId !== '' ? operation.operationId : null;
      const tags = Array.isArray(operation.tags) ? operation.tags.filter((tag) => typeof tag === 'string') : [];
      found.push({ method: method.toUpperCase(), path, target, operationId, tags, operation, item });
    }
  }
  return found;
}

/** Merges the members next to a path item's reference with those of its target. */
function pathItem(api: OpenApiDescription, value: unknown, path: string): Json | null {
  const target = resolveSchema(api, value, `paths.${path}`);
  if (target === null || !isRecord(value) || typeof value.$ref !== 'string') return target;
  const { $ref: _reference, ...own } = value;
  return { ...target, ...own };
}

/** Splits a path that has a query. null and a warning: no operation can be called there. */
function targetOf({ warn }: OpenApiDescription, written: string, where: string): FoundOperation['target'] | null {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(written) ?? [];
  const refusal = pathFault(path);
  if (refusal !== null) {
    warn(where, `${refusal}; its operations are skipped`);
    return null;
  }
  if (query !== '') warn(where, `the path has a query, which each call sends: ${quoted(query)}`);
  if (fragment !== '') warn(where, 'the part of the path after "#" is not sent');
  return { path, query: [...new URLSearchParams(query)] };
}

function pathFault(path: string): string | null {
  if (path.length > limits.maxUrlLength) return 'the path is too long';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'the path contains a backslash or a control character';
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return 'the path contains "." or ".." as a segment';
  return null;
}
