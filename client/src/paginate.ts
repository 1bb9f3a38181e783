/** Reads lists of the shape `{ items, nextCursor }` page by page. */
import type { DataOf, MonikerClient, PathsWith } from './client.ts';
import type { paths } from './schema.ts';

/** The paths of lists with pages. */
export type ListPath = { [Path in PathsWith<'get'>]: DataOf<Path, 'get'> extends Page ? Path : never }[PathsWith<'get'>];

export type ItemOf<Path extends ListPath> = DataOf<Path, 'get'> extends { items: (infer Item)[] } ? Item : never;

type Page = { items: unknown[]; nextCursor: string | null };
type ParametersOf<Operation> = Operation extends { parameters: { path: infer Params; query?: infer Query } }
  ? { path: Params; query?: Query & object }
  : Operation extends { parameters: { query?: infer Query } }
    ? { query?: Query & object }
    : never;
/** The parameters of the operation, required if its path has some, then the signal. */
type Options<Path extends ListPath> =
  ParametersOf<paths[Path]['get']> extends infer Params extends { query?: object }
    ? object extends Params
      ? [params?: Params, options?: { signal?: AbortSignal }]
      : [params: Params, options?: { signal?: AbortSignal }]
    : never;

/**
 * Yields the items of all pages. Reads the next page when the items of the previous one have been taken.
 *
 *     for await (const session of paginate(client, '/v1/sessions')) console.log(session.id);
 */
export async function* paginate<Path extends ListPath>(
  client: MonikerClient,
  path: Path,
  ...[params, { signal } = {}]: Options<Path>
): AsyncGenerator<ItemOf<Path>, void, undefined> {
  // Which parameters the path has is checked by the type above.
  const read = client.get as unknown as (path: string, init: object) => Promise<Page>;
  let cursor: string | null = null;
  do {
    const query: object = { ...params?.query, ...(cursor !== null && { cursor }) };
    const page: Page = await read(path, { params: { ...params, query }, ...(signal && { signal }) });
    yield* page.items as ItemOf<Path>[];
    if (page.nextCursor !== null && page.nextCursor === cursor) throw new Error(`The cursor of ${path} does not advance`);
    cursor = page.nextCursor;
  } while (cursor !== null);
}
