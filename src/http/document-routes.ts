/**
 * List, read, write, patch and delete routes for one kind of document: the same for agents, providers, secrets and triggers. The kind's file in
 * `routes/` defines names, schemas, views and access. Toolsets have separate routes. Documents belong to the whole workspace: bound keys
 * neither read nor write them, unless a kind defines `reading`.
 */
import { z } from 'zod';
import { replaceHidden } from '../core/hidden-values.ts';
import { requireAllowed } from '../core/authority.ts';
import type { Principal, Scope } from '../core/principal.ts';
import { nullIfNotFound, Problem, type ProblemCode, quoted } from '../core/problem.ts';
import type { CatalogPort, DocumentKind, StoredDocument, WriteOptions } from '../ports/catalog.ts';
import {
  answerDocument,
  answerWrite,
  conditionHeaders,
  etag,
  etagHeader,
  readConditionHeaders,
  unchanged,
  writeConditions,
} from './documents.ts';
import { commandPermission } from './launcher-proof.ts';
import { pageFor, PageQuery, pageOf, withUnstored } from './paging.ts';
import { patchBody, patchDocument, patchHeaders, patchedAnswer, type Patching } from './patch.ts';
import { defineRoute, type Route, type Sent } from './route.ts';
import { versionFields, versionsRoute } from './version-routes.ts';
import { Warning } from '../core/warning.ts';
import type { Services } from '../wiring.ts';

export type DocumentRoutes<Body extends z.ZodType, View extends z.ZodObject> = {
  kind: DocumentKind;
  /** For example `agent`. Also the name of the path parameter; the plural is the path. */
  noun: 'agent' | 'provider' | 'secret' | 'webhook' | 'schedule' | 'subscription' | 'alias' | 'member';
  /** Where the words of the routes do not follow from `noun`: in sentences, in the path, and in ids of operations. */
  words?: { one: string; many: string; path: string; id: string; ids: string };
  tag: string;
  scopes: readonly Scope[];
  name: z.ZodType<string>;
  body: Body;
  view: View;
  /** The view of one document with its `warnings`, for kinds that have them. Default: `view`. */
  reviewed?: z.ZodType;
  /** Returns the view of a stored document; some kinds add current state. */
  toView(document: StoredDocument, reader: DocumentReader): Sent<z.input<View>> | Promise<Sent<z.input<View>>>;
  /** Returns the views of what exists without a document; a document of the same name replaces it. Default: none. */
  unstored?(services: Services): readonly (Sent<z.input<View>> & { readonly name: string })[];
  /** Returns the document to store. Throws to reject the request. */
  toDocument(name: string, body: z.infer<Body>): Record<string, unknown>;
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

/** For `reviewed`, and for a body that may be the output of GET. */
export const shownWarnings = z
  .array(Warning)
  .optional()
  .meta({ readOnly: true, description: 'Problems with the document in the current workspace. Absent: none.' });

export type DocumentReader = { services: Services; principal: Principal };

export function documentRoutes<Body extends z.ZodType, View extends z.ZodObject>(routes: DocumentRoutes<Body, View>): readonly Route[] {
  const { kind, noun, tag, scopes, toView, reading } = routes;
  const workspace = tag;
  const forReading = reading === undefined ? { workspace } : {};
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const regular = { one: noun, many: `${noun}s`, path: `${noun}s`, id: Noun, ids: `${Noun}s` };
  const { one, many, path: collection, id, ids } = routes.words ?? regular;
  const list = `/v1/${collection}`;
  const path = `${list}/{${noun}}`;
  const params = z.object({ [noun]: routes.name });
  const written = routes.view
    .extend({
      warnings: z
        .array(Warning)
        .optional()
        .meta({ description: 'Problems with the stored document in the current workspace. Absent: none.' }),
    })
    .meta({ id: `Written${id}` });
  // The parameter name is dynamic, so its value is `string | undefined` to the compiler; `params` has checked it.
  const nameOf = (values: Record<string, string>): string => values[noun] ?? '';

  const write = async ({ services, principal }: DocumentReader, name: string, body: z.infer<Body>, given: WriteOptions) => {
    const stored = routes.toDocument(name, body);
    const catalog = services.catalog(principal);
    const conditions = (await routes.check?.(catalog, principal, name, stored, given)) ?? given;
    const { document, created, warnings } = await catalog.put(kind, name, stored, conditions);
    return { document, created, view: withWarnings(await toView(document, { services, principal }), warnings) };
  };

  const unstored = (services: Services) => routes.unstored?.(services) ?? [];
  const problems: readonly ProblemCode[] = routes.unstored === undefined ? ['precondition_failed'] : ['precondition_failed', 'conflict'];

  const versionsOf = `Versions of ${many}`;
  const versions = versionsRoute(
    { path: `${path}/versions`, operationId: `list${id}Versions`, tag, scopes, workspace: versionsOf, one: `the ${one}`, params },
    (values) => ({ kind, name: nameOf(values) }),
  );

  /** What the settings provide has no document to change or delete. */
  const orUnstored = async <T>(services: Services, name: string, work: Promise<T>): Promise<T> => {
    const document = await nullIfNotFound(work.then((value) => ({ value })));
    if (document !== null) return document.value;
    if (!unstored(services).some((view) => view.name === name)) return await work;
    throw new Problem(
      'conflict',
      `The ${one} ${quoted(name)} comes from the settings of the service. Create a document of its name with PUT.`,
    );
  };

  return [
    ...(routes.hasVersions === true ? [versions] : []),
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

    defineRoute(
      {
        method: 'get',
        path,
        operationId: `get${id}`,
        tag,
        scopes,
        ...forReading,
        summary: `Read a ${one}`,
        params,
        query: z.strictObject(routes.hasVersions === true ? versionFields : {}),
        headers: readConditionHeaders,
        answers: { 200: { description: `The ${one}.`, schema: routes.reviewed ?? routes.view, headers: etagHeader }, 304: unchanged },
      },
      async ({ c, services, principal, params, query: { version }, answer }) => {
        const name = nameOf(params);
        const catalog = services.catalog(principal);
        if (version !== undefined) {
          requireAllowed(principal, { act: 'use-workspace', what: versionsOf });
          const earlier = await catalog.get(kind, name, version);
          return answerDocument({ c, answer }, earlier, await toView(earlier, { services, principal }));
        }
        const given = unstored(services).find((view) => view.name === name);
        const read = reading?.get(catalog, principal, name) ?? catalog.get(kind, name);
        const document = given === undefined ? await read : await nullIfNotFound(read);
        if (document === null) return answer(200, given as Sent<z.input<View>>);
        return answerDocument({ c, answer }, document, withWarnings(await toView(document, { services, principal }), document.warnings));
      },
    ),

    defineRoute(
      {
        method: 'put',
        path,
        operationId: `put${id}`,
        tag,
        scopes,
        workspace,
        summary: `Create or replace a ${one}`,
        params,
        headers: conditionHeaders,
        body: { schema: routes.body },
        answers: {
          200: { description: 'Replaced or unchanged.', schema: written, headers: etagHeader },
          201: { description: 'Created.', schema: written, headers: { ...etagHeader, location: `URL of the ${one}.` } },
        },
        problems,
      },
      async ({ c, services, principal, params, body, answer }) => {
        const name = nameOf(params);
        const written = await write({ services, principal }, name, body, {
          ...writeConditions(c),
          ...commandPermission(c, services.settings),
        });
        return answerWrite(answer, written, `${list}/${encodeURIComponent(name)}`, written.view);
      },
    ),

    defineRoute(
      {
        method: 'patch',
        path,
        operationId: `patch${id}`,
        tag,
        scopes,
        workspace,
        summary: `Change members of a ${one}`,
        params,
        headers: patchHeaders,
        body: patchBody,
        answers: { 200: { description: patchedAnswer, schema: written, headers: etagHeader } },
        problems,
      },
      async ({ c, services, principal, params, body, answer }) => {
        const name = nameOf(params);
        const options = { ...writeConditions(c), ...commandPermission(c, services.settings) };
        const { document, view } = await patchDocument(body, options, {
          ...routes.unshown,
          schema: routes.body,
          settle: (merged) => replaceHidden(kind, merged),
          read: () => orUnstored(services, name, services.catalog(principal).get(kind, name)),
          write: (patched, conditions) => write({ services, principal }, name, patched, conditions),
        });
        return answer(200, view, { etag: etag(document.version) });
      },
    ),

    defineRoute(
      {
        method: 'delete',
        path,
        operationId: `delete${id}`,
        tag,
        scopes,
        workspace,
        summary: `Delete a ${one}`,
        params,
        headers: conditionHeaders,
        answers: { 204: { description: 'Gone.' } },
        problems,
      },
      async ({ c, services, principal, params, answer }) => {
        const name = nameOf(params);
        await orUnstored(services, name, services.catalog(principal).remove(kind, name, writeConditions(c)));
        return answer(204, null);
      },
    ),
  ];
}

function withWarnings<View extends object>(view: View, warnings: readonly Warning[] = []): View & { warnings?: readonly Warning[] } {
  return { ...view, ...(warnings.length > 0 && { warnings }) };
}
