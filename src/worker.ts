/** The entry point: exports the HTTP handler and the Durable Object classes, nothing else. */
import { createApp } from './http/app.ts';
import { wire } from './wiring/wire.ts';

export { AuditShard } from './objects/audit/audit-shard.ts';
export { Catalog } from './objects/catalog/catalog.ts';
export { LimitCounter } from './objects/limits/limit-counter.ts';
export { McpSession } from './objects/mcp-session/mcp-session.ts';
export { SseRelay } from './objects/mcp-session/sse-relay.ts';
export { UsageShard } from './objects/usage/usage-shard.ts';
export { Session } from './objects/session/object/session.ts';

const app = createApp(wire);

export default { fetch: app.fetch };
