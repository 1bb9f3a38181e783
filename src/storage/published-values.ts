/**
 * What the Catalog publishes to KV, for reads everywhere: a value for each kind and name, and the pointers of toolsets.
 * `objects/catalog/handlers/published.ts` reads them from the database; `published-reader.ts` reads them from KV.
 */
import type { Agent } from '../core/turn/agent.ts';
import type { Safeguards } from '../core/policy/guard.ts';
import type { NamedModel } from '../core/model/model-alias.ts';
import type { CompleteProvider } from '../core/model/provider.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { SecretBinding } from '../core/secrets/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { ServerOffers } from '../core/servers/server-state.ts';
import type { Skill } from '../core/skills/skill.ts';
import type { ToolsetStanding } from '../core/toolset/edition-tool.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/callback.ts';
import type { WebhookDocument } from '../core/triggers/webhook.ts';
import type { WorkspaceSettings, WorkspaceStatus } from '../core/people/workspace.ts';

/** By kind. Kinds in the plural, `rules` and `settings` have one value in a workspace, under the name `''`, which always exists. */
export type PublishedValues = {
  agent: Agent;
  skill: Skill;
  provider: SealedProvider;
  /** The stored providers. */
  providers: { name: string; models: string[] }[];
  'model-aliases': NamedModel[];
  secret: SealedSecret;
  server: ServerAccess;
  /** What an MCP server offers besides tools. */
  offers: ServerOffers;
  rules: { rules: PolicyRule[] } & Safeguards;
  subscriptions: SubscriptionHead[];
  settings: WorkspaceSettings;
  /** Of the registry, so only in the Catalog of `default`. */
  'workspace-status': WorkspaceStatus;
  /** Only in the first workspace; `retired-keys.ts` opens it. */
  'retired-keys': { sealed: string | null };
  hook: SealedHook;
};

export type PublishedKind = keyof PublishedValues;

/** Increased when the shape of a published value changes: for any other format readers ask the Catalog. */
export const publishedFormat = 1;

/** Published after a DELETE. */
export type PublishedTombstone = { format: typeof publishedFormat; version: number; deleted: true };

/** `version`: of the document; 0 for a value that no single document has. */
type Published<Value> = { format: typeof publishedFormat; version: number } & Value;
export type PublishedPointer = Published<{ revision: number; hash: string } & ToolsetStanding>;
/** The value under the name of its kind. */
export type PublishedValue<Kind extends PublishedKind> = Published<Pick<PublishedValues, Kind>>;

/** A secret as stored; `secret-box.ts` opens it. */
export type SealedSecret = SecretBinding & { name: string; sealed: string };

/** A provider as stored. */
export type SealedProvider = { provider: CompleteProvider; sealedApiKey: string | null };

/** A webhook as stored. `sealed`: JSON of `WebhookSecrets`, sealed for this webhook (`secret-box.ts`). */
export type SealedHook = { webhook: WebhookDocument; version: number; sealed: string };
