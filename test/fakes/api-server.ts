/**
 * A fake HTTP API with its OpenAPI document at `/openapi.json` (or wherever a request path ends in it). Records every call and returns
 * scripted responses.
 */
import { listenUpstream } from './upstreams/upstream.ts';

export type ApiCall = { method: string; path: string; query: string; headers: Record<string, string>; body: string; request: Request };

/** The response to a call: a `Response` is used unchanged, any other value is sent as JSON. */
export type ApiAnswers = (call: ApiCall) => unknown;

export type ApiServer = {
  origin: string;
  documentUrl: string;
  /** `host:port`, as secrets are bound and private hosts are allowed. */
  host: string;
  /** Requests, without those for the document. */
  calls: ApiCall[];
  /** Headers of each request for the document. */
  reads: Record<string, string>[];
  close(): void;
};

/** `document`: its text, or a function of the request; by the origin that it is served from. */
export async function listenApi(document: (origin: string) => string | Response, answers: ApiAnswers = () => ({})): Promise<ApiServer> {
  const calls: ApiCall[] = [];
  const reads: ApiServer['reads'] = [];
  const { url: origin, close } = await listenUpstream({
    async handle(request) {
      const url = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      if (url.pathname.endsWith('/openapi.json')) {
        reads.push(headers);
        const written = document(origin);
        return typeof written === 'string' ? new Response(written, { headers: { 'content-type': 'application/json' } }) : written;
      }
      const copy = request.clone();
      const call = { method: request.method, path: url.pathname, query: url.search, headers, body: await request.text(), request: copy };
      calls.push(call);
      const answer = await answers(call);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  return { origin, documentUrl: `${origin}/openapi.json`, host: new URL(origin).host, calls, reads, close };
}
