/** Deno and Deno Deploy. */
import { handlerFor } from './handler.mjs';

const handler = await handlerFor(Deno.env.toObject());
Deno.serve({ hostname: '127.0.0.1', port: Number(Deno.env.get('PORT') ?? 8788) }, (request) => handler(request));
