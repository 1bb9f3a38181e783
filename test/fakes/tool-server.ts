/**
 * A fake endpoint of a `static` server: validates each call as strictly as the contract (`http-tools/executor.ts`), and returns scripted
 * responses. A test that expects only valid calls checks that `refused` is empty.
 */
import { listenUpstream } from './upstreams/upstream.ts';
import { isRecord } from '../../src/core/json/wire-value.ts';

export type ServedCall = { name: string; arguments: Record<string, unknown>; headers: Record<string, string> };

/** The response to a call: a `Response` is used unchanged, any other value is sent as JSON. */
export type ToolAnswers = (call: ServedCall) => unknown;

export type ToolServer = {
  /** The URL that calls are posted to; any path under `origin` works alike. */
  url: string;
  origin: string;
  /** `host:port`, as secrets are bound and private hosts are allowed. */
  host: string;
  /** Every valid call, unchanged. */
  calls: ServedCall[];
  /** Why requests were rejected, in order. */
  refused: string[];
  close(): void;
};

/** Without `answers` each call returns its own name and arguments as JSON text. */
export async function listenToolServer(answers: ToolAnswers = echo): Promise<ToolServer> {
  const calls: ServedCall[] = [];
  const refused: string[] = [];
  const { url: origin, close } = await listenUpstream({
    async handle(request) {
      const read = await readCall(request);
      if (typeof read === 'string') {
        refused.push(read);
        return Response.json({ error: read }, { status: 400 });
      }
      calls.push(read);
      const answer = await answers(read);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  return { url: `${origin}/call`, origin, host: new URL(origin).host, calls, refused, close };
}

function echo({ name, arguments: args }: ServedCall): unknown {
  return { content: [{ type: 'text', text: JSON.stringify({ name, arguments: args }) }] };
}

async function readCall(request: Request): Promise<ServedCall | string> {
  if (request.method !== 'POST') return `the method is ${request.method}`;
  const headers = Object.fromEntries(request.headers);
  if (headers['content-type'] !== 'application/json') return `the content type is ${headers['content-type']}`;
  if (headers['idempotency-key'] === undefined) return 'there is no idempotency key';
  const body: unknown = await request.json().catch(() => null);
  if (!isRecord(body)) return 'the body is not a JSON object';
  const { name, arguments: args, ...rest } = body;
  if (typeof name !== 'string' || !isRecord(args) || Object.keys(rest).length > 0) return 'the body is not {name, arguments}';
  return { name, arguments: args, headers };
}
