/** Node: an adapter from `node:http` to `fetch`. */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { handlerFor } from './handler.mjs';

const handler = await handlerFor(process.env);
const server = createServer(async (incoming, outgoing) => {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  try {
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
    const request = new Request(new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`), {
      method: incoming.method,
      headers: Object.entries(incoming.headersDistinct).flatMap(([name, values]) => values.map((value) => [name, value])),
      signal: gone.signal,
      ...(hasBody && { body: Readable.toWeb(incoming), duplex: 'half' }),
    });
    const response = await handler(request);
    outgoing.writeHead(response.status, [...response.headers].flat());
    if (response.body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch (error) {
    // The client has gone, or sent something that is no HTTP request.
    if (!gone.signal.aborted) console.error(error);
    outgoing.destroy();
  }
});
server.listen(Number(process.env.PORT ?? 8788), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}/`);
});
