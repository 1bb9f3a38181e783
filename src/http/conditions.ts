/**
 * Versioned documents over HTTP: `ETag`, `If-Match`, `If-None-Match` (RFC 9110 §13), the same for toolsets, agents, providers, secrets and
 * the policy.
 */
import type { EditionPointer } from '../core/toolset/edition-tool.ts';
import type { Plan } from '../core/turn/plan.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import type { StoredDocument, WriteOptions } from '../ports/catalog.ts';
import type { AppContext } from './middleware/request-context.ts';
import type { Answered } from './route.ts';

export const conditionHeaders = {
  'if-match': 'The expected current `ETag`, or `*` if the document must exist. Otherwise 412.',
  'if-none-match': '`*`: the document must not exist yet. Otherwise 412.',
};

export const etagHeader = { etag: '`"<version>"`' };
export const editionHeader = { 'x-moniker-edition': 'The edition that was used, as `name@version.revision`.' };

/** The header of a request that brings tools of its own. */
export const replacedHeader = {
  'x-moniker-replaced-tools':
    'Server tools that the turn does not offer because a tool of the request has one of their names, as `canonical=name`.',
};

const maxReplacedShown = 20;

/** Returns the header that warns of replaced tools; empty if there are none. */
export function replacedToolsHeader({ replaced = [] }: Pick<Plan, 'replaced'>): { 'x-moniker-replaced-tools'?: string } {
  if (replaced.length === 0) return {};
  const shown = replaced.slice(0, maxReplacedShown).map(({ canonical, by }) => `${canonical}=${by}`);
  const rest = replaced.length > shown.length ? ['...'] : [];
  return { 'x-moniker-replaced-tools': [...shown, ...rest].join(', ') };
}

export function etag(version: number): string {
  return `"${version}"`;
}

export function editionName(pointer: EditionPointer): string {
  return `${pointer.toolset}@${pointer.version}.${pointer.revision}`;
}

export const readConditionHeaders = { 'if-none-match': 'A known `ETag`: the response is 304 if the document still has it.' };
export const unchanged = { description: 'The document has the `ETag` of `If-None-Match`.', headers: etagHeader };

type VersionAnswer<Body> = {
  (status: 200, body: Body, headers: { etag: string }): Answered;
  (status: 304, body: null, headers: { etag: string }): Answered;
};

/** Answers a GET with a versioned document, or 304 if the caller already has this version. */
export function answerDocument<Body>(
  { c, answer }: { c: AppContext; answer: VersionAnswer<Body> },
  { version }: Pick<StoredDocument, 'version'>,
  body: NoInfer<Body>,
): Answered {
  const headers = { etag: etag(version) };
  return matchesEtag(c, headers.etag) ? answer(304, null, headers) : answer(200, body, headers);
}

type WriteAnswer<Body> = {
  (status: 200, body: Body, headers: { etag: string }): Answered;
  (status: 201, body: Body, headers: { etag: string; location: string }): Answered;
};

/** Answers a PUT of a versioned document: 201 with its `location` if it is new, otherwise 200. */
export function answerWrite<Body>(
  answer: WriteAnswer<Body>,
  { document, created }: { document: Pick<StoredDocument, 'version'>; created: boolean },
  location: string,
  body: NoInfer<Body>,
): Answered {
  const headers = { etag: etag(document.version) };
  return created ? answer(201, body, { ...headers, location }) : answer(200, body, headers);
}

/** The body of a stored document as its type: documents are validated when they are written. */
export function storedBody<Body extends object>({ body }: Pick<StoredDocument, 'body'>): Body {
  return body as Body;
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
