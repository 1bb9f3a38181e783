/**
 * List, read, write, patch and delete routes for one kind of document: the same for agents, providers, secrets and triggers. The kind's file in
 * `routes/` defines names, schemas, views and access. Toolsets have separate routes. Documents belong to the whole workspace: bound keys
 * neither read nor write them, unless a kind defines `reading`.
 */
import * as z from 'zod';
import { replaceHidden } from '../core/secrets/hidden-values.ts';
import { requireAllowed } from '../core/people/authority.ts';
import type { Principal, Scope } from '../core/people/principal.ts';
import { nullIfNotFound, Problem, quoted, Warning } from '../core/problem.ts';
import type { CatalogPort, DocumentKind, StoredDocument, WriteOptions } from '../ports/catalog.ts';
import { requireSameName, storedBody } from './conditions.ts';
import { pageFor, PageQuery, pageOf, withUnstored } from './paging.ts';
import type { Patching } from './patch.ts';
import { defineRoute, type Route, type Sent } from './route.ts';
import type { HttpServices } from './services.ts';
import { optionalWarnings, shownIfAny, storedDocument, versionFields } from './stored-document.ts';

export type DocumentRoutes<Body extends z.ZodType, View extends z.ZodObject> = {
  kind: DocumentKind;
  /** For example `agent`. Also the name of the path parameter; the plural is the path. */
  noun: 'agent' | 'provider' | 'secret' | 'webhook' | 'schedule' | 'subscription' | 'alias' | 'suite' | 'member';
  /** Where the words of the routes do not follow from `noun`: in sentences, in the path, and in ids of operations. */
  words?: { one: string; many: string; path: string; id: string; ids: string };
  tag: string;
  scopes: readonly Scope[];
  name: z.ZodType<string>;
  body: Body;
  view: View;
  /** The `warnings` of one document, which only its own view has, for kinds that have them. */
  warnings?: z.ZodType;
  /** Returns the view of a stored document; some kinds add current state. Default: its body and its name. */
  toView?(document: StoredDocument, reader: DocumentReader): Sent<z.input<View>> | Promise<Sent<z.input<View>>>;
  /** Returns the views of what exists without a document; a document of the same name replaces it. Default: none. */
  unstored?(services: HttpServices): readonly (Sent<z.input<View>> & { readonly name: string })[];
  /** Members that GET adds. Accepted and ignored on writes, as `warnings` are, so that the output of GET can be sent back. */
  shown?: readonly string[];
  /** The stored body has the name, too. */
  storesName?: true;
  /** Members that a PUT without them keeps, for PATCH. Default: none. */
  unshown?: Pick<Patching<Body, unknown>, 'kept' | 'removable'>;
  /** Whether the Catalog stores earlier versions of this kind. */
  hasVersions?: true;
  /** How bound keys read this kind. Default: they cannot. */
  reading?: DocumentReading;
  /**
   * An additional check of a write against the stored document. Returns the conditions under which the decision holds; throws `forbidden`.
   */
  check?(
    catalog: CatalogPort,
    principal: Principal,
    name: string,
    document: Record<string, unknown>,
    options: WriteOptions,
  ): Promise<WriteOptions>;
};

export type DocumentReading = {
  /** Throws `forbidden`, with the same message for a missing document unless the name alone decides. */
  get(catalog: CatalogPort, principal: Principal, name: string): Promise<StoredDocument>;
  /** Returns all documents that a bound key may read, sorted by name. */
  list(catalog: CatalogPort, principal: Principal): Promise<readonly StoredDocument[]>;
};

/** For `warnings`, and for a body that may be the output of GET. */
export const shownWarnings = z
  .array(Warning)
  .optional()
  .meta({ readOnly: true, description: 'Problems with the document in the current workspace. Absent: none.' });

export type DocumentReader = { services: HttpServices; principal: Principal };

export function documentRoutes<Body extends z.ZodType, View extends z.ZodObject>(routes: DocumentRoutes<Body, View>): readonly Route[] {
  const { kind, noun, tag, scopes, reading } = routes;
  // Its body was parsed when it was written.
  const toView =
    routes.toView ?? ((document): Sent<z.input<View>> => ({ ...storedBody<Sent<z.input<View>>>(document), name: document.name }));
  const workspace = tag;
  const forReading = reading === undefined ? { workspace } : {};
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const regular = { one: noun, many: `${noun}s`, path: `${noun}s`, id: Noun, ids: `${Noun}s` };
  const { one, many, path: collection, id, ids } = routes.words ?? regular;
  const list = `/v1/${collection}`;
  const written = routes.view
    .extend({ warnings: optionalWarnings('Problems with the stored document in the current workspace. Absent: none.') })
    .meta({ id: `Written${id}` });
  const reviewed = routes.warnings && routes.view.extend({ warnings: routes.warnings }).meta({ id: `Reviewed${id}` });
  const unstored = (services: HttpServices) => routes.unstored?.(services) ?? [];
  const changing = {
    workspace,
    problems: routes.unstored === undefined ? (['precondition_failed'] as const) : (['precondition_failed', 'conflict'] as const),
  };
  const versionsOf = `Versions of ${many}`;
  const document = storedDocument({
    path: `${list}/{${noun}}`,
    params: z.object({ [noun]: routes.name }),
    id,
    one,
    tag,
    scopes,
    at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind, name: params[noun] ?? '' }),
  });

  const write = async (reader: DocumentReader, name: string, body: z.infer<Body>, given: WriteOptions) => {
    const { warnings: _warnings, ...stored } = body as Record<string, unknown> & { name?: string };
    requireSameName(name, stored);
    for (const member of routes.shown ?? []) delete stored[member];
    if (routes.storesName) stored.name = name;
    else delete stored.name;
    const catalog = reader.services.catalog(reader.principal);
    const conditions = (await routes.check?.(catalog, reader.principal, name, stored, given)) ?? given;
    const { document, created, warnings } = await catalog.put(kind, name, stored, conditions);
    return { document, created, view: { ...(await toView(document, reader)), ...shownIfAny(warnings) } };
  };

  /** What the settings provide has no document to change or delete. */
  const refuseUnstored = async <T>(services: HttpServices, name: string, work: Promise<T>): Promise<T> => {
    const document = await nullIfNotFound(work.then((value) => ({ value })));
    if (document !== null) return document.value;
    if (!unstored(services).some((view) => view.name === name)) return await work;
    throw new Problem(
      'conflict',
      `The ${one} ${quoted(name)} comes from the settings of the service. Create a document of its name with PUT.`,
    );
  };

  return [
    ...(routes.hasVersions === true ? [document.versions({ workspace: versionsOf })] : []),
    defineRoute(
      {
        method: 'get',
        path: list,
        operationId: `list${ids}`,
        tag,
        scopes,
        ...forReading,
        summary: `List ${many}`,
        query: PageQuery,
        answers: { 200: { description: `A page of ${many}.`, schema: pageOf(routes.view) } },
      },
      async ({ answer, services, principal, query }) => {
        const catalog = services.catalog(principal);
        const { items, nextCursor } = await pageFor(principal, {
          list: kind,
          query,
          all: (page) => catalog.list(kind, page),
          own: async () => (await reading?.list(catalog, principal)) ?? [],
          nameOf: ({ name }) => name,
        });
        const views = await Promise.all(
          items.map(async (item) => ({ name: item.name, view: await toView(item, { services, principal }) })),
        );
        const more = unstored(services).map((view) => ({ name: view.name, view }));
        const page = withUnstored({ list: kind, query }, { items: views, nextCursor }, more);
        return answer(200, { ...page, items: page.items.map(({ view }) => view) });
      },
    ),

    document.read(
      { ...forReading, view: reviewed ?? routes.view, ...(routes.hasVersions === true && { versions: versionFields }) },
      async ({ services, principal, version, place: { catalog, name } }) => {
        if (version !== undefined) {
          requireAllowed(principal, { act: 'use-workspace', what: versionsOf });
          const earlier = await catalog.get(kind, name, version);
          return { document: earlier, view: await toView(earlier, { services, principal }) };
        }
        const given = unstored(services).find((view) => view.name === name);
        const read = reading?.get(catalog, principal, name) ?? catalog.get(kind, name);
        const document = given === undefined ? await read : await nullIfNotFound(read);
        if (document === null) return { document, view: given as Sent<z.input<View>> };
        return { document, view: { ...(await toView(document, { services, principal })), ...shownIfAny(document.warnings) } };
      },
    ),

    document.put({ ...changing, body: routes.body, written }, ({ body, place: { name }, options, ...reader }) =>
      write(reader, name, body, options),
    ),

    document.patch({ ...changing, body: routes.body, written }, ({ services, principal, place: { catalog, name } }) => ({
      ...routes.unshown,
      settle: (merged) => replaceHidden(kind, merged),
      read: () => refuseUnstored(services, name, catalog.get(kind, name)),
      write: (patched, options) => write({ services, principal }, name, patched, options),
    })),

    document.remove(changing, async ({ services, place: { catalog, name }, options }) =>
      refuseUnstored(services, name, catalog.remove(kind, name, options)),
    ),
  ];
}
