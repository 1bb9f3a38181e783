/**
 * The minimal Worker: passes a request on and its response back, with and without a Durable Object in between, with a given number of
 * SQLite rows written, and in a new object. The product is compared with it. Runs unbundled, with types stripped: it imports only from the platform.
 */
import { DurableObject } from 'cloudflare:workers';

type Env = { UPSTREAM: string; HOP: DurableObjectNamespace };

export class Hop extends DurableObject<Env> {
  #row = 0;

  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const rows = Number(url.searchParams.get('rows'));
    if (rows > 0) this.#write(rows);
    if (url.pathname === '/new') return new Response('ok');
    const response = await fetch(this.env.UPSTREAM + url.pathname, { method: 'POST', headers: request.headers, body: request.body });
    return new Response(response.body, response);
  }

  /** One statement per row, as a log is written. */
  #write(rows: number): void {
    const { sql } = this.ctx.storage;
    sql.exec('create table if not exists log (id integer primary key, event text)');
    for (let index = 0; index < rows; index++)
      sql.exec('insert into log (id, event) values (?, ?)', ++this.#row + Date.now() * 1000, 'x'.repeat(200));
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === '/healthz') return new Response('ok');
    if (url.pathname === '/new') return env.HOP.get(env.HOP.newUniqueId()).fetch(request);
    // `/hop/<object>/v1/…`: through that object; otherwise directly.
    const [, first, object, ...rest] = url.pathname.split('/');
    if (first !== 'hop') return fetch(new Request(env.UPSTREAM + url.pathname, request));
    return env.HOP.getByName(object ?? '').fetch(new Request(`http://hop/${rest.join('/')}${url.search}`, request));
  },
};
