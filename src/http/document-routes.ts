/**
 * List, read, write and delete for one kind of document, the same for agents, providers, secrets and what triggers turns. What differs (names,
 * schemas, what may be shown, who may) is the kind's own file in `routes/`. Toolsets do more and have routes of their own.
 */
import { z } from 'zod';
import type { Principal, Scope } from '../core/principal.ts';
import { orNull, Problem, quoted } from '../core/problem.ts';
import type { Catalog, DocumentKind, StoredDocument } from '../ports/catalog.ts';
import { isUnbound } from './access.ts';
import { conditionHeaders, documentAnswer, etag, etagHeader, writeConditions } from './documents.ts';
import { PageQuery, pageOf } from './paging.ts';
import { mount } from './route.ts';
import type { App } from './route.ts';
import { Warning } from '../core/warning.ts';
import type { Services } from '../wiring.ts';

export type DocumentRoutes<Body extends z.ZodType> = {
  kind: DocumentKind;
  /** `agent`, also the path parameter; its plural is the path. */
  noun: 'agent' | 'provider' | 'secret' | 'webhook' | 'schedule' | 'subscription';
  tag: string;
  scopes: readonly Scope[];
  name: z.ZodType<string>;
  body: Body;
  view: z.ZodObject;
  /** The view of one with its `warnings`, where a kind has such. Absent: as `view`. */
  reviewed?: z.ZodObject;
  /** What a reader may see, made from what is stored, and of some kinds from how it stands now. */
  toView(document: StoredDocument, reader: DocumentReader): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** What is stored, made from what was sent. Throws to refuse. */
  toDocument(name: string, body: z.infer<Body>): Record<string, unknown>;
  /** Throws `forbidden`. `body` is given on writes. */
  authorize(principal: Principal, name: string, body?: z.infer<Body>): void;
  /** Of what is stored: whether a bound key may see, and so replace, it. */
  isVisible(principal: Principal, document: StoredDocument): boolean;
};

/** Of `reviewed`, and of a body that may be what GET showed. */
export const shownWarnings = z
  .array(Warning)
  .optional()
  .meta({ readOnly: true, description: 'What cannot work as things are now. Absent: nothing.' });

export type DocumentReader = { services: Services; principal: Principal };

export function mountDocumentRoutes<Body extends z.ZodType>(app: App, routes: DocumentRoutes<Body>): void {
  const { kind, noun, tag, scopes, toView } = routes;
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const list = `/v1/${noun}s`;
  const path = `${list}/{${noun}}`;
  const params = z.object({ [noun]: routes.name });
  const written = routes.view
    .extend({
      warnings: z.array(Warning).optional().meta({ description: 'What was stored although it cannot work yet. Absent: nothing.' }),
    })
    .meta({ id: `Written${Noun}` });
  // Keyed by a name known only here, so its value is `string | undefined` to the compiler; `params` has checked it.
  const nameOf = (values: Record<string, string>): string => values[noun] ?? '';

  mount(
    app,
    {
      method: 'get',
      path: list,
      operationId: `list${Noun}s`,
      tag,
      scopes,
      summary: `List ${noun}s`,
      query: PageQuery,
      answers: { 200: { description: `A page of ${noun}s.`, schema: pageOf(routes.view) } },
    },
    async ({ c, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal.workspace).list(kind, query);
      const visible = items.filter((item) => routes.isVisible(principal, item));
      return c.json({ items: await Promise.all(visible.map((item) => toView(item, { services, principal }))), nextCursor });
    },
  );

  mount(
    app,
    {
      method: 'get',
      path,
      operationId: `get${Noun}`,
      tag,
      scopes,
      summary: `Read one ${noun}`,
      params,
      answers: { 200: { description: `The ${noun}.`, schema: routes.reviewed ?? routes.view, headers: etagHeader } },
    },
    async ({ c, services, principal, params }) => {
      const name = nameOf(params);
      routes.authorize(principal, name);
      const document = await services.catalog(principal.workspace).get(kind, name);
      requireVisible(principal, document);
      return documentAnswer(c, document, withWarnings(await toView(document, { services, principal }), document.warnings));
    },
  );

  mount(
    app,
    {
      method: 'put',
      path,
      operationId: `put${Noun}`,
      tag,
      scopes,
      summary: `Write one ${noun}`,
      params,
      headers: conditionHeaders,
      body: { schema: routes.body },
      answers: {
        200: { description: 'Replaced, or already so.', schema: written, headers: etagHeader },
        201: { description: 'Made.', schema: written, headers: { ...etagHeader, location: `Of the ${noun}.` } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, body }) => {
      const name = nameOf(params);
      routes.authorize(principal, name, body);
      const stored = routes.toDocument(name, body);
      const catalog = services.catalog(principal.workspace);
      await requireReplaceable(catalog, principal, name);
      const { document, created, warnings } = await catalog.put(kind, name, stored, writeConditions(c));
      const tag = { etag: etag(document.version) };
      const answer = withWarnings(await toView(document, { services, principal }), warnings);
      if (!created) return c.json(answer, 200, tag);
      return c.json(answer, 201, { ...tag, location: `${list}/${encodeURIComponent(name)}` });
    },
  );

  mount(
    app,
    {
      method: 'delete',
      path,
      operationId: `delete${Noun}`,
      tag,
      scopes,
      summary: `Delete one ${noun}`,
      params,
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params }) => {
      const name = nameOf(params);
      routes.authorize(principal, name);
      const catalog = services.catalog(principal.workspace);
      await requireReplaceable(catalog, principal, name);
      await catalog.remove(kind, name, writeConditions(c));
      return c.body(null, 204);
    },
  );

  function requireVisible(principal: Principal, document: StoredDocument): void {
    if (routes.isVisible(principal, document)) return;
    throw new Problem(
      'forbidden',
      `This key is bound to a part of the workspace to which the ${noun} ${quoted(document.name)} does not belong.`,
    );
  }

  /** What stands there now counts too: else a bound key could take over what it may not even read. */
  async function requireReplaceable(catalog: Catalog, principal: Principal, name: string): Promise<void> {
    if (isUnbound(principal)) return;
    const standing = await orNull(catalog.get(kind, name));
    if (standing !== null) requireVisible(principal, standing);
  }
}

function withWarnings(view: Record<string, unknown>, warnings: readonly Warning[] = []): Record<string, unknown> {
  return { ...view, ...(warnings.length > 0 && { warnings }) };
}
