/**
 * The routes of a stored document: read, write, patch, delete, and its versions. What differs between documents is given: texts, schemas, and
 * how they are read and written. Conditions, `ETag`, statuses and headers are the same for all of them, and are here.
 */
import * as z from 'zod';
import { nameInHeader } from '../core/model/dropped.ts';
import { isAllowed } from '../core/people/authority.ts';
import type { Principal, Scope } from '../core/people/principal.ts';
import { type ProblemCode, Warning } from '../core/problem.ts';
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
} from './conditions.ts';
import { commandPermission } from './launcher-proof.ts';
import { PageQuery, pageOf } from './paging.ts';
import { patchBody, patchDocument, patchHeaders, patchedAnswer, type Patching } from './patch.ts';
import { type AnswerFunction, type Answered, defineRoute, type Route, type RouteRequest, type Sent } from './route.ts';

type Names = Readonly<Record<string, string>>;
type DocumentRequest<Params> = Pick<RouteRequest, 'c' | 'services' | 'principal'> & { params: Params };
/** Where the Catalog has the document. */
export type DocumentPlace = { catalog: CatalogPort; kind: DocumentKind; name: string };

type DocumentPath<Params> = {
  path: string;
  params: z.ZodType<Params>;
  /** In ids of operations: `Policy` gives `getPolicy`. */
  id: string;
  /** In sentences: `policy`. */
  one: string;
  tag: string;
  scopes: readonly Scope[];
  workspace?: string;
  rootOnly?: true;
  at(request: DocumentRequest<Params>): DocumentPlace;
};

/** What an operation has in place of the defaults. */
type Texts = { summary?: string; description?: string; scopes?: readonly Scope[]; workspace?: string; problems?: readonly ProblemCode[] };
type Read<View> = { document: Pick<StoredDocument, 'version'> | null; view: Sent<View> };
type Written<View> = { document: Pick<StoredDocument, 'version'>; view: Sent<View> };
type Writing = { place: DocumentPlace; options: WriteOptions };

export const dryRunFlag = z.enum(['true', 'false']).default('false').meta({ description: '`true`: validate without storing.' });

/** `dryRun`: true, or its description for the query. */
function dryRunQuery(dryRun: true | string | undefined): z.ZodType<{ dryRun?: 'true' | 'false' | undefined }> {
  if (dryRun === undefined) return z.strictObject({});
  return z.strictObject({ dryRun: dryRun === true ? dryRunFlag : dryRunFlag.meta({ description: dryRun }) });
}

const changing = { headers: conditionHeaders, problems: ['precondition_failed'] } as const;

export function storedDocument<Params extends Names>({ at, id, one, ...base }: DocumentPath<Params>) {
  const { path } = base;
  const urlOf = (params: Names) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const optionsOf = ({ c, services }: Pick<RouteRequest, 'c' | 'services'>, dryRun = 'false'): WriteOptions => ({
    ...writeConditions(c),
    ...commandPermission(c, services.settings),
    ...(dryRun === 'true' && { dryRun: true }),
  });

  return {
    /** `versions`: the query that names one. `document`: null for what has its default value, which has no `ETag`. */
    read<View>(
      given: Texts & { view: z.ZodType<unknown, View>; found?: string; versions?: { version: z.ZodType<number | undefined> } },
      read: (request: DocumentRequest<Params> & { version: number | undefined; place: DocumentPlace }) => Promise<Read<View>>,
    ): Route {
      const { view: schema, found = `The ${one}.`, versions = {}, ...texts } = given;
      const query: z.ZodType<{ version?: number | undefined }> = z.strictObject(versions);
      return defineRoute(
        {
          ...{ ...base, summary: `Read a ${one}`, ...texts },
          method: 'get',
          operationId: `get${id}`,
          query,
          headers: readConditionHeaders,
          answers: { 200: { description: found, schema, headers: etagHeader }, 304: unchanged },
        },
        async ({ answer, query: { version }, ...request }) => {
          const { document, view } = await read({ ...request, version, place: at(request) });
          return document === null ? answer(200, view) : answerDocument({ c: request.c, answer }, document, view);
        },
      );
    },

    /** `dryRun`: whether the query may say so. `replaced`, `created`: descriptions of the answers. */
    put<Body extends z.ZodType, View>(
      given: Texts & { body: Body; written: z.ZodType<unknown, View>; maxBytes?: number; dryRun?: true | string } & Answers,
      write: (request: DocumentRequest<Params> & Writing & { body: z.output<Body> }) => Promise<Written<View> & { created: boolean }>,
    ): Route {
      const { body: schema, written, maxBytes, dryRun, replaced, created, ...texts } = given;
      return defineRoute(
        {
          ...{ ...base, ...changing, summary: `Create or replace a ${one}`, ...texts },
          method: 'put',
          operationId: `put${id}`,
          query: dryRunQuery(dryRun),
          body: { schema, ...(maxBytes !== undefined && { maxBytes }) },
          answers: writeAnswers(one, written, {
            replaced: replaced ?? (dryRun === undefined ? undefined : 'Replaced, unchanged, or validated.'),
            created,
          }),
        },
        async ({ answer, query, body, ...request }) => {
          const { view, ...done } = await write({ ...request, body, place: at(request), options: optionsOf(request, query.dryRun) });
          return query.dryRun === 'true' ? answer(200, view) : answerWrite(answer, done, urlOf(request.params), view);
        },
      );
    },

    patch<Body extends z.ZodType, View>(
      given: Texts & { body: Body; written: z.ZodType<unknown, View>; maxBytes?: number; dryRun?: true | string },
      patching: (request: DocumentRequest<Params> & { place: DocumentPlace }) => Omit<Patching<Body, Written<View>>, 'schema'>,
    ): Route {
      const { body: schema, written, maxBytes, dryRun, ...texts } = given;
      return defineRoute(
        {
          ...{ ...base, ...changing, summary: `Change members of a ${one}`, ...texts },
          method: 'patch',
          operationId: `patch${id}`,
          query: dryRunQuery(dryRun),
          headers: patchHeaders,
          body: { ...patchBody, ...(maxBytes !== undefined && { maxBytes }) },
          answers: { 200: { description: patchedAnswer, schema: written, headers: etagHeader } },
        },
        async ({ answer, query, body, ...request }) => {
          const options = optionsOf(request, query.dryRun);
          const { document, view } = await patchDocument(body, options, { schema, ...patching({ ...request, place: at(request) }) });
          return answer(200, view, { etag: etag(document.version) });
        },
      );
    },

    /** `remove`: in place of removing the document from the Catalog, for more checks. */
    remove(
      { gone = 'Gone.', ...texts }: Texts & { gone?: string } = {},
      remove: (request: DocumentRequest<Params> & Writing) => Promise<Removed> = removeAt,
    ): Route {
      return defineRoute(
        {
          ...{ ...base, ...changing, summary: `Delete a ${one}`, ...texts },
          method: 'delete',
          operationId: `delete${id}`,
          answers: removalAnswers(gone),
        },
        async ({ answer, ...request }) => {
          const { warnings } = await remove({ ...request, place: at(request), options: writeConditions(request.c) });
          return answerRemoval(answer, request.principal, warnings);
        },
      );
    },

    /** `whose`: in the summary. For all but toolsets, whose versions bound keys may read. */
    versions({ whose = `the ${one}`, ...texts }: Texts & { whose?: string }): Route {
      return defineRoute(
        {
          ...{ ...base, ...texts },
          path: `${path}/versions`,
          method: 'get',
          operationId: `list${id}Versions`,
          summary: `List the versions of ${whose}, newest first`,
          description: 'As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.',
          query: PageQuery,
          answers: versionPage,
        },
        async ({ answer, query, ...request }) => {
          const { catalog, kind, name } = at(request);
          return answer(200, await catalog.versions(kind, name, query));
        },
      );
    },
  };
}

type Answers = { replaced?: string | undefined; created?: string | undefined };

/** The answers to a PUT, of which `answerWrite` makes one. */
export function writeAnswers<View>(
  one: string,
  schema: z.ZodType<unknown, View>,
  { replaced = 'Replaced or unchanged.', created = 'Created.' }: Answers = {},
) {
  return {
    200: { description: replaced, schema, headers: etagHeader },
    201: { description: created, schema, headers: { ...etagHeader, location: `URL of the ${one}.` } },
  } as const;
}

type Removed = { warnings: readonly Warning[] };

/** Has the places that still name a deleted document, and the accepted work that ends with it. */
const stillNamedHeader = 'x-moniker-still-named';

export function removalAnswers(gone = 'Gone.') {
  const places =
    'Places that still name it, and how much accepted work ends with it or fails without it, such as `agents.helper.skills[0], deliveries: 3 accepted and not begun are cancelled and listed so, and 2 more`. Places that the key cannot read are counted.';
  return { 204: { description: gone, headers: { [stillNamedHeader]: places } } } as const;
}

type AnswerRemoval = AnswerFunction<{ answers: ReturnType<typeof removalAnswers> }>;

/** `warnings`: with paths such as `agents.helper.skills[0]`. Keys, triggers and members are for administrators, and a bound key reads a part of the workspace. */
export function answerRemoval(answer: AnswerRemoval, principal: Principal, warnings: readonly Warning[]): Answered {
  if (warnings.length === 0) return answer(204, null);
  const isUnbound = isAllowed(principal, { act: 'use-workspace', what: '' });
  const isAdministrator = isUnbound && isAllowed(principal, { act: 'use-scope', scopes: ['admin'] });
  const shown = warnings.filter(({ path }) => isAdministrator || (isUnbound && /^(?:toolsets|agents|deliveries$|…)/.test(path)));
  const others = warnings.length - shown.length;
  const places = [...shown.map(({ path, message }) => placeInHeader(path, message)), ...(others > 0 ? [`and ${others} more`] : [])];
  return answer(204, null, { [stillNamedHeader]: places.join(', ') });
}

/** Accepted work has the path `deliveries`, `turns` or `callbacks`, and its number in the message. */
function placeInHeader(path: string, message: string): string {
  if (path === '…') return message;
  return nameInHeader(path.includes('.') ? path : `${path}: ${message}`);
}

async function removeAt({ place: { catalog, kind, name }, options }: Writing): Promise<Removed> {
  return await catalog.remove(kind, name, options);
}

/** The member of a view that has warnings, if there are any. */
export function shownIfAny(warnings: Warning[] = []): { warnings?: Warning[] } {
  return warnings.length > 0 ? { warnings } : {};
}

export function optionalWarnings(description: string) {
  return z.array(Warning).optional().meta({ description });
}

const VersionView = z
  .object({
    version: z.int(),
    createdAt: z.iso.datetime(),
    removed: z.boolean().meta({
      description:
        'true: this version is a DELETE of a toolset; its number is never reused. Other documents are deleted with their versions.',
    }),
    retired: z
      .object({ at: z.iso.datetime(), by: z.string().meta({ description: 'Id of the key.' }) })
      .optional()
      .meta({ description: 'Of a version of a toolset that cannot be used any more.' }),
  })
  .meta({ id: 'DocumentVersion' });

export const versionPage = { 200: { description: 'A page of versions; read one with `?version=`.', schema: pageOf(VersionView) } } as const;

export const versionFields = {
  version: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'An earlier version. Keys that are bound to agents or toolsets cannot read it.' }),
};
