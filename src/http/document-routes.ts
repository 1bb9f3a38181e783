/**
 * List, read, write and delete for one kind of document, the same for agents, providers, secrets and what triggers turns. What differs (names,
 * schemas, what is shown, which keys read it) is in the kind's own file in `routes/`. Toolsets do more and have routes of their own.
 * Documents belong to the whole workspace: bound keys neither read nor write them, except where a kind has a `reading` of its own.
 */
import { z } from 'zod';
import type { Principal, Scope } from '../core/principal.ts';
import type { Catalog, DocumentKind, StoredDocument, WriteOptions } from '../ports/catalog.ts';
import { conditionHeaders, documentResponse, etag, etagHeader, writeConditions } from './documents.ts';
import { pageFor, PageQuery, pageOf } from './paging.ts';
import { mountRoute } from './route.ts';
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
  /** How bound keys read this kind. Absent: they do not. */
  reading?: DocumentReading;
  /** Decides about a write once more, with what is stored. Returns the conditions under which the decision holds; throws `forbidden`. */
  check?(
    catalog: Catalog,
    principal: Principal,
    name: string,
    document: Record<string, unknown>,
    options: WriteOptions,
  ): Promise<WriteOptions>;
};

export type DocumentReading = {
  /** Throws `forbidden`, in the same words for a document that does not exist where the name alone does not decide. */
  get(catalog: Catalog, principal: Principal, name: string): Promise<StoredDocument>;
  /** All that a bound key reads, sorted by name. */
  list(catalog: Catalog, principal: Principal): Promise<readonly StoredDocument[]>;
};

/** Of `reviewed`, and of a body that may be what GET showed. */
export const shownWarnings = z
  .array(Warning)
  .optional()
  .meta({ readOnly: true, description: 'What cannot work as things are now. Absent: nothing.' });

export type DocumentReader = { services: Services; principal: Principal };

export function mountDocumentRoutes<Body extends z.ZodType>(app: App, routes: DocumentRoutes<Body>): void {
  const { kind, noun, tag, scopes, toView, reading } = routes;
  const workspace = tag;
  const forReading = reading === undefined ? { workspace } : {};
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

  mountRoute(
    app,
    {
      method: 'get',
      path: list,
      operationId: `list${Noun}s`,
      tag,
      scopes,
      ...forReading,
      summary: `List ${noun}s`,
      query: PageQuery,
      answers: { 200: { description: `A page of ${noun}s.`, schema: pageOf(routes.view) } },
    },
    async ({ c, services, principal, query }) => {
      const catalog = services.catalog(principal);
      const { items, nextCursor } = await pageFor(principal, {
        list: kind,
        query,
        all: (page) => catalog.list(kind, page),
        own: async () => (await reading?.list(catalog, principal)) ?? [],
        nameOf: ({ name }) => name,
      });
      return c.json({ items: await Promise.all(items.map((item) => toView(item, { services, principal }))), nextCursor });
    },
  );

  mountRoute(
    app,
    {
      method: 'get',
      path,
      operationId: `get${Noun}`,
      tag,
      scopes,
      ...forReading,
      summary: `Read one ${noun}`,
      params,
      answers: { 200: { description: `The ${noun}.`, schema: routes.reviewed ?? routes.view, headers: etagHeader } },
    },
    async ({ c, services, principal, params }) => {
      const name = nameOf(params);
      const catalog = services.catalog(principal);
      const document = await (reading?.get(catalog, principal, name) ?? catalog.get(kind, name));
      return documentResponse(c, document, withWarnings(await toView(document, { services, principal }), document.warnings));
    },
  );

  mountRoute(
    app,
    {
      method: 'put',
      path,
      operationId: `put${Noun}`,
      tag,
      scopes,
      workspace,
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
      const stored = routes.toDocument(name, body);
      const catalog = services.catalog(principal);
      const given = writeConditions(c);
      const conditions = (await routes.check?.(catalog, principal, name, stored, given)) ?? given;
      const { document, created, warnings } = await catalog.put(kind, name, stored, conditions);
      const tag = { etag: etag(document.version) };
      const answer = withWarnings(await toView(document, { services, principal }), warnings);
      if (!created) return c.json(answer, 200, tag);
      return c.json(answer, 201, { ...tag, location: `${list}/${encodeURIComponent(name)}` });
    },
  );

  mountRoute(
    app,
    {
      method: 'delete',
      path,
      operationId: `delete${Noun}`,
      tag,
      scopes,
      workspace,
      summary: `Delete one ${noun}`,
      params,
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params }) => {
      await services.catalog(principal).remove(kind, nameOf(params), writeConditions(c));
      return c.body(null, 204);
    },
  );
}

function withWarnings(view: Record<string, unknown>, warnings: readonly Warning[] = []): Record<string, unknown> {
  return { ...view, ...(warnings.length > 0 && { warnings }) };
}
