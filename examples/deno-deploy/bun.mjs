/** Bun. */
import { handlerFor } from './handler.mjs';

const handler = await handlerFor(process.env);
const { url } = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 8788),
  idleTimeout: 255,
  fetch: (request) => handler(request),
});
console.log(`Listening on ${url}`);
