/**
 * What the fakes of real provider APIs share. Each validates a request as strictly as its API does (an invalid one gets a 400 in the API's
 * error shape), returns what it parsed in a neutral form, and sends scripted replies in the real wire shape. The vendors' own SDKs check
 * that shape in `test/providers/*-sdk.test.ts`.
 */
import { createServer, type ServerResponse } from 'node:http';

export type UnderstoodCall = { id: string | null; name: string; arguments: unknown };
export type UnderstoodResult = { id: string | null; name: string | null; text: string };

/** One message of the API; results of one step are one message here, whatever role the API gives them. */
export type UnderstoodMessage =
  | { role: 'user'; text: string; images: number }
  /** `returned`: what was sent back unchanged (signatures, encrypted reasoning, tool plans), in order. */
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

/** `reasoning` is sent in the API's own way, with a signature where it has one. */
export type Say = {
  reasoning?: string;
  text?: string;
  calls?: { name: string; arguments: Record<string, unknown> }[];
  finish?: 'stop' | 'length';
};

export type FakeUpstream = {
  /** Any path under the base URL. Never rejects; a wrapper may, and then the connection breaks. */
  handle(request: Request): Promise<Response>;
  /** Every request that was not rejected, in order. */
  understood: Understood[];
  /** Why requests were rejected, in order; a test that expects none checks it. */
  refused: string[];
};

/** `index` counts the accepted requests from 0. */
export type Script = (understood: Understood, index: number) => Say;

/** Text split as tokens are: a word with the blank before it. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

export type ListeningUpstream = { url: string; close(): void };

/**
 * Serves the same on a local port, for clients with their own HTTP. A request's signal aborts when its client disconnects before the end
 * of the response; a response that fails, or whose body does, breaks the connection.
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
      // It has already failed, which broke the connection.
    });
  });
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) outgoing.write(read.value);
  outgoing.end();
}
