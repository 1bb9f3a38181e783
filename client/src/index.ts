/** `@moniker/client`: a typed client of Moniker for browsers, Node, Workers and Deno. README.md shows how it is used. */
export { createClient, newIdempotencyKey, type ClientOptions, type MonikerClient } from './client.ts';
export { MonikerError, type ErrorCode, type Problem } from './error.ts';
export { paginate, type ItemOf, type ListPath } from './paginate.ts';
export { parseEventStream, type ServerSentEvent } from './sse.ts';
export type { components, operations, paths } from './schema.ts';
