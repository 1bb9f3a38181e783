/** The requests for documents of all kinds: read with GET, written with PUT and removed with DELETE, with their versions at `/versions`. */
import type { paths } from '../../../client/src/index.ts';
import type { DocumentResponse, Versions, WriteConditions } from './document.ts';
import { moniker } from './moniker.ts';

type DocumentPath = { [Path in keyof paths]: paths[Path] extends Stored<unknown, unknown> ? Path : never }[keyof paths];
type Json<Value> = { content: { 'application/json': Value } };
type Stored<View, Body> = { get: { responses: { 200: Json<View> } }; put: { requestBody?: Json<Body> } };
type ViewAt<Path extends DocumentPath> = paths[Path] extends Stored<infer View, unknown> ? View : never;
type BodyAt<Path extends DocumentPath> = paths[Path] extends Stored<unknown, infer Body> ? Body : never;

/** The requests for a document at a path of the API. `path`: the parameters of the path. */
export function documentAt<Path extends DocumentPath>(url: Path, path: Readonly<Record<string, string>>) {
  // The client has a type for each path; those of documents have the same shape.
  const client = () =>
    moniker.value as unknown as Record<'GET' | 'PUT' | 'DELETE', (url: string, init: object) => Promise<DocumentResponse<never>>>;
  return {
    read: (query = {}): Promise<DocumentResponse<ViewAt<Path>>> => client().GET(url, { params: { path, query } }),
    write: (body: BodyAt<Path>, header: WriteConditions): Promise<DocumentResponse<object>> =>
      client().PUT(url, { params: { path, header }, body }),
    remove: (header: WriteConditions): Promise<DocumentResponse<unknown>> => client().DELETE(url, { params: { path, header } }),
    versions: (): Promise<DocumentResponse<Versions>> => client().GET(`${url}/versions`, { params: { path } }),
  };
}
