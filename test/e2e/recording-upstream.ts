/** A service on loopback that records every request, so that effects are counted where they happen. */
import { createServer } from 'node:http';

export type RecordedRequest = { method: string; path: string; idempotencyKey: string | undefined; body: string };
export type RecordingUpstream = { url: string; requests: RecordedRequest[]; countOf(path: string): number; close(): void };

/** `answer`: of every request. */
export async function startRecordingUpstream(answer?: string): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const key = request.headers['idempotency-key'];
      requests.push({
        method: request.method ?? '',
        path: request.url ?? '',
        idempotencyKey: typeof key === 'string' ? key : undefined,
        body: Buffer.concat(parts).toString('utf8'),
      });
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(answer ?? `effect number ${requests.length}`);
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
    requests,
    countOf: (path) => requests.filter((request) => request.path === path).length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
