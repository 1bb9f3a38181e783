/**
 * Versioned documents over HTTP: `ETag`, `If-Match`, `If-None-Match` (RFC 9110 §13), the same for toolsets, agents,
 * providers, secrets and the policy.
 */
import type { EditionPointer } from '../core/toolset/edition-tool.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import type { StoredDocument, WriteOptions } from '../ports/catalog.ts';
import type { AppContext } from './context.ts';

export const conditionHeaders = {
  'if-match': 'The `ETag` that the document must still have, or `*`: it must exist. Lost: 412.',
  'if-none-match': '`*`: it must not exist yet.',
};

export const etagHeader = { etag: '`"<version>"`' };
export const editionHeader = { 'x-moniker-edition': '`name@version.revision` that was used.' };

export function etag(version: number): string {
  return `"${version}"`;
}

export function editionName(pointer: EditionPointer): string {
  return `${pointer.toolset}@${pointer.version}.${pointer.revision}`;
}

/** A document as GET shows it; 304 when the caller has this version already. */
export function documentResponse(c: AppContext, document: StoredDocument, body: unknown): Response {
  const tag = etag(document.version);
  const headers = { etag: tag };
  if (matchesEtag(c, tag)) return new Response(null, { status: 304, headers });
  return c.json(body as object, 200, headers);
}

/** Of a GET: the caller has what this tag stands for. */
export function matchesEtag(c: AppContext, tag: string): boolean {
  const known = c.req.header('if-none-match');
  return known?.split(',').some((part) => part.trim().replace(/^W\//, '') === tag) === true;
}

/** What a write was conditioned on. Throws `precondition_failed` for a tag that is none of ours. */
export function writeConditions(c: AppContext): WriteOptions {
  const ifMatch = c.req.header('if-match')?.trim();
  return { ...(ifMatch !== undefined && { ifMatch: ifMatch === '*' ? '*' : versionOf(ifMatch) }), ...ifNoneMatch(c) };
}

export function ifNoneMatch(c: AppContext): { ifNoneMatch?: true } {
  const given = c.req.header('if-none-match')?.trim();
  if (given === undefined) return {};
  if (given !== '*') throw invalidRequest([{ path: 'if-none-match', message: 'only `*` (must not exist) is taken on writes' }]);
  return { ifNoneMatch: true };
}

/** A document that says its own name must say the one in the path. */
export function requireSameName(name: string, body: { name?: string }): void {
  if (body.name !== undefined && body.name !== name) {
    throw invalidRequest([{ path: 'name', message: `differs from the name in the path, ${JSON.stringify(name)}` }]);
  }
}

/** Strong comparison: a weak tag never matches. Without quotes it is taken too: people type it so. */
function versionOf(tag: string): number {
  const match = /^(?:"([1-9][0-9]{0,8})"|([1-9][0-9]{0,8}))$/.exec(tag);
  if (match !== null) return Number(match[1] ?? match[2]);
  if (tag.includes(',')) throw invalidRequest([{ path: 'if-match', message: 'give one version' }]);
  throw new Problem('precondition_failed', 'The version in If-Match is not one this resource ever had.');
}
