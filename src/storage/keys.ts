/**
 * Every key of KV and every name of a Durable Object. Parts are joined by `:`, which no workspace, toolset or agent name
 * may hold, so that no two things share a key. Tables are in `schema.ts`.
 *
 * | key | example | value | lifetime | writer |
 * |---|---|---|---|---|
 * | `edition:{workspace}:{hash}` | `edition:default:9f86…` | the edition's bytes (JSON, `format: 1`) whose SHA-256 is the hash | for ever: immutable | Catalog's outbox |
 * | `toolset:{workspace}:{toolset}` | `toolset:default:support` | `PublishedPointer` (JSON): which edition is the newest | until the next write; tombstone 1 day | Catalog's outbox |
 * | `agent:{workspace}:{agent}` | `agent:default:helper` | `PublishedAgent` (JSON) | until the next write; tombstone 1 day | Catalog's outbox |
 * | `skill:{workspace}:{skill}` | `skill:default:git` | `PublishedSkill` (JSON) | until the next write; tombstone 1 day | Catalog's outbox |
 * | `hook:{workspace}:{webhook}` | `hook:default:triage` | `PublishedHook` (JSON); its secrets are sealed | until the next write; tombstone 1 day | Catalog's outbox |
 *
 * KV may show an old value for `cacheTtl` and its own propagation, up to 90 s; nothing that grants a right is in it.
 */
import type { Agent } from '../core/agent.ts';
import { sha256Hex } from '../core/hash.ts';
import type { Skill } from '../core/skills/skill.ts';
import type { WebhookDocument } from '../core/triggers/webhook.ts';

export const kvKeys = {
  edition: (workspace: string, hash: string): string => `edition:${workspace}:${hash}`,
  toolset: (workspace: string, toolset: string): string => `toolset:${workspace}:${toolset}`,
  agent: (workspace: string, agent: string): string => `agent:${workspace}:${agent}`,
  skill: (workspace: string, skill: string): string => `skill:${workspace}:${skill}`,
  hook: (workspace: string, webhook: string): string => `hook:${workspace}:${webhook}`,
} as const;

/** Raised when the shape of a published value changes: readers ask the Catalog about any other. */
export const publishedFormat = 1;

/** Of a DELETE. */
export type PublishedTombstone = { format: typeof publishedFormat; version: number; deleted: true };

export type PublishedPointer = { format: typeof publishedFormat; version: number; revision: number; hash: string } | PublishedTombstone;
export type PublishedAgent = { format: typeof publishedFormat; version: number; agent: Agent } | PublishedTombstone;
export type PublishedSkill = { format: typeof publishedFormat; version: number; skill: Skill } | PublishedTombstone;

/** `sealed`: JSON of `WebhookSecrets`, sealed for this webhook (`secret-box.ts`). */
export type PublishedHook =
  | { format: typeof publishedFormat; version: number; webhook: WebhookDocument; sealed: string }
  | PublishedTombstone;

/**
 * Durable Objects of a workspace go by a hash, so that an id from outside never is a name: `hash(workspace, kind, id)`. Of a
 * session that was made with an idempotency key, `id` holds the key and a secret of the installation (`session-client.ts`); of an MCP session it is the part of its id that is not signed (`mcp-session-client.ts`).
 */
export async function objectName(workspace: string, kind: 'catalog' | 'session' | 'mcp-session', id: string): Promise<string> {
  return sha256Hex(JSON.stringify([workspace, kind, id]));
}
