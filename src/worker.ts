/** The entry point: exports the HTTP handler and the Durable Object classes, nothing else. */
import { createApp } from './http/app.ts';
import { wire } from './wire.ts';

export { AuditShard } from './audit-shard/audit-shard.ts';
export { Catalog } from './catalog/catalog.ts';
export { LimitCounter } from './limit-counter/limit-counter.ts';
export { McpSession } from './mcp-session/mcp-session.ts';
export { UsageShard } from './usage/usage-shard.ts';
export { Session } from './session/object/session.ts';

const app = createApp(wire);

export default { fetch: app.fetch };
