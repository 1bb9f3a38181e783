/**
 * What the stand-ins for real provider APIs have in common. Each reads a request as strictly as its API does (what that would
 * refuse is a 400 in its own error shape), tells neutrally what it understood, and says what it is told to in the true wire shape.
 * That the shape is true is held by the vendors' own SDKs, which read it in `test/providers/*-sdk.test.ts`.
 */
import { createServer, type ServerResponse } from 'node:http';

export type UnderstoodCall = { id: string | null; name: string; arguments: unknown };
export type UnderstoodResult = { id: string | null; name: string | null; text: string };

/** One message as the API has it; results of one step are one message here, whatever role the API gives them. */
export type UnderstoodMessage =
  | { role: 'user'; text: string; images: number }
  /** `returned`: what came back as it went out (signatures, encrypted reasoning, tool plans), in order. */
  | { role: 'assistant'; text: string; calls: UnderstoodCall[]; returned: string[] }
  | { role: 'tool'; results: UnderstoodResult[] };

export type Understood = {
  model: string;
  system: string;
  streamed: boolean;
  tools: string[];
  toolChoice: 'auto' | 'none' | 'required' | { tool: string };
  messages: UnderstoodMessage[];
};

/** `reasoning` is said in the API's own way, with a signature or the like where it has one. */
export type Say = {
  reasoning?: string;
  text?: string;
  calls?: { name: string; arguments: Record<string, unknown> }[];
  finish?: 'stop' | 'length';
};

export type FakeUpstream = {
  /** Any path under the base URL. Never rejects; what is wrapped around it may, and then the connection breaks. */
  handle(request: Request): Promise<Response>;
  /** Every request that was not refused, in order. */
  understood: Understood[];
  /** Why requests were refused, in order; a test that expects none says so. */
  refused: string[];
};

/** `index` counts the requests that were not refused from 0. */
export type Script = (understood: Understood, index: number) => Say;

/** Text cut as tokens come: a word with the blank before it. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

export type ListeningUpstream = { url: string; close(): void };

/**
 * The same behind a port of this machine, for clients that bring their own HTTP. A request's signal aborts when its client leaves
 * before the answer's end; an answer that fails, or whose body does, is a connection that breaks.
 */
export async function listenUpstream(upstream: Pick<FakeUpstream, 'handle'>): Promise<ListeningUpstream> {
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    const left = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) left.abort();
    });
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name, value]] : [],
      );
      const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
      const request = new Request(new URL(incoming.url ?? '/', 'http://127.0.0.1'), {
        method: incoming.method ?? 'GET',
        headers,
        signal: left.signal,
        ...(hasBody && { body: Buffer.concat(parts) }),
      });
      upstream
        .handle(request)
        .then((response) => send(response, outgoing, left.signal))
        .catch(() => outgoing.destroy());
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function send(response: Response, outgoing: ServerResponse, left: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  left.addEventListener('abort', () => {
    reader?.cancel().catch(() => {
      // It has failed already, which is what broke the connection.
    });
  });
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) outgoing.write(read.value);
  outgoing.end();
}
