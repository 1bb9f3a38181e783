/** The versions of a document over HTTP: `GET …/versions`, and `?version=` of the route that reads the document. */
import { z } from 'zod';
import type { Scope } from '../core/principal.ts';
import type { DocumentKind } from '../ports/catalog.ts';
import { PageQuery, pageOf } from './paging.ts';
import { defineRoute, type Route } from './route.ts';

export const VersionView = z
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

export const versionFields = {
  version: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'An earlier version. Keys that are bound to agents or toolsets cannot read it.' }),
};

/** For all but toolsets, whose versions bound keys may read. `target`: from the values of `params`. */
export function versionsRoute(
  {
    params,
    one,
    ...spec
  }: { path: string; operationId: string; tag: string; scopes: readonly Scope[]; workspace: string; one: string; params?: z.ZodObject },
  target: (values: Record<string, string>) => { kind: DocumentKind; name: string },
): Route {
  return defineRoute(
    {
      ...spec,
      method: 'get',
      summary: `List the versions of ${one}, newest first`,
      description: 'As many are kept as `settings.retention.versions` of the workspace says. Deleting the document deletes them.',
      query: PageQuery,
      params: params ?? z.object({}),
      answers: { 200: { description: 'A page of versions; read one with `?version=`.', schema: pageOf(VersionView) } },
    },
    async ({ answer, services, principal, params: values, query }) => {
      const { kind, name } = target(values as Record<string, string>);
      return answer(200, await services.catalog(principal).versions(kind, name, query));
    },
  );
}
