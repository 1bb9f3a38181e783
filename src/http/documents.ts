/**
 * Versioned documents over HTTP: `ETag`, `If-Match`, `If-None-Match` (RFC 9110 §13), the same for toolsets, agents, providers, secrets and
 * the policy.
 */
import type { EditionPointer } from '../core/toolset/edition-tool.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import type { StoredDocument, WriteOptions } from '../ports/catalog.ts';
import type { AppContext } from './middleware/request-context.ts';

export const conditionHeaders = {
  'if-match': 'The expected current `ETag`, or `*` if the document must exist. Otherwise 412.',
  'if-none-match': '`*`: the document must not exist yet. Otherwise 412.',
};

export const etagHeader = { etag: '`"<version>"`' };
export const editionHeader = { 'x-moniker-edition': 'The edition that was used, as `name@version.revision`.' };

export function etag(version: number): string {
  return `"${version}"`;
}

export function editionName(pointer: EditionPointer): string {
  return `${pointer.toolset}@${pointer.version}.${pointer.revision}`;
}

/** Returns a document as GET shows it, or 304 if the caller already has this version. */
export function documentResponse(c: AppContext, document: StoredDocument, body: unknown): Response {
  const tag = etag(document.version);
  const headers = { etag: tag };
  if (matchesEtag(c, tag)) return new Response(null, { status: 304, headers });
  return c.json(body as object, 200, headers);
}

/** Returns whether the caller of a GET has the document with this tag. */
export function matchesEtag(c: AppContext, tag: string): boolean {
  const known = c.req.header('if-none-match');
  return known?.split(',').some((part) => part.trim().replace(/^W\//, '') === tag) === true;
}

/** Parses If-Match and If-None-Match of a write. Throws `precondition_failed` for an unknown tag. */
export function writeConditions(c: AppContext): WriteOptions {
  const ifMatch = c.req.header('if-match')?.trim();
  return { ...(ifMatch !== undefined && { ifMatch: ifMatch === '*' ? '*' : versionOf(ifMatch) }), ...ifNoneMatch(c) };
}

export function ifNoneMatch(c: AppContext): { ifNoneMatch?: true } {
  const given = c.req.header('if-none-match')?.trim();
  if (given === undefined) return {};
  if (given !== '*') throw invalidRequest([{ path: 'if-none-match', message: 'writes accept only `*` (must not exist)' }]);
  return { ifNoneMatch: true };
}

/** A `name` in the body must equal the name in the path. */
export function requireSameName(name: string, body: { name?: string }): void {
  if (body.name !== undefined && body.name !== name) {
    throw invalidRequest([{ path: 'name', message: `differs from the name in the path, ${JSON.stringify(name)}` }]);
  }
}

/** Strong comparison: a weak tag never matches. A tag without quotes is accepted, since users often type it so. */
function versionOf(tag: string): number {
  const match = /^(?:"([1-9][0-9]{0,8})"|([1-9][0-9]{0,8}))$/.exec(tag);
  if (match !== null) return Number(match[1] ?? match[2]);
  if (tag.includes(',')) throw invalidRequest([{ path: 'if-match', message: 'give one version' }]);
  throw new Problem('precondition_failed', 'The version in If-Match is not one this resource ever had.');
}
