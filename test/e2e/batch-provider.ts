/** A provider with one account for all keys: files and batches of OpenAI's API, and message batches of Anthropic's, in memory. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Item = Record<string, unknown> & { id: string };
export type Received = { method: string; path: string; headers: Record<string, unknown>; text: string };

export type BatchProvider = {
  url: string;
  received: Received[];
  /** By id; tests change them, such as to end a batch. */
  items: Map<string, Item>;
  /** By the id of the file or batch. */
  contents: Map<string, string>;
  stop(): void;
};

export async function startBatchProvider(): Promise<BatchProvider> {
  const received: Received[] = [];
  const items = new Map<string, Item>();
  const contents = new Map<string, string>();
  let made = 0;
  const make = (prefix: string, members: object): Item => {
    made += 1;
    const item = { id: `${prefix}${made}`, ...members };
    items.set(item.id, item);
    return item;
  };
  const answer = (response: ServerResponse, document: object | undefined): void => {
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? { error: { message: 'No such item', type: 'invalid_request_error' } }));
  };
  const serve = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const { method = '', url: path = '' } = request;
    received.push({ method, path, headers: request.headers, text });
    const [, of = '', id = '', action = ''] = /^\/v1\/(files|batches|messages\/batches)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const found = items.get(decodeURIComponent(id));
    if (action === 'content' || action === 'results') {
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      response.end(contents.get(decodeURIComponent(id)) ?? '');
    } else if (method === 'DELETE' && found !== undefined) {
      items.delete(found.id);
      answer(response, { id: found.id, deleted: true, object: 'file', type: 'message_batch_deleted' });
    } else if (id !== '') answer(response, found);
    else if (of === 'files')
      answer(response, make('file-', { object: 'file', purpose: /"purpose"\s+(\w+)/.exec(text)?.[1], bytes: text.length }));
    else if (of === 'batches')
      answer(response, make('batch_', { object: 'batch', status: 'in_progress', ...(JSON.parse(text) as object) }));
    else answer(response, make('msgbatch_', { type: 'message_batch', processing_status: 'in_progress', results_url: null }));
  };
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => serve(request, response, Buffer.concat(parts).toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, received, items, contents, stop };
}
