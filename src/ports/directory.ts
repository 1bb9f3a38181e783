/**
 * The read side of a workspace for calls: what the Catalog publishes, from the isolate's memory, then KV, then one request to the Catalog.
 * Implemented by `storage/published/directory.ts`.
 */
import type { Agent } from '../core/turn/agent.ts';
import type { AliasMap } from '../core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool, ToolsetStanding } from '../core/toolset/edition-tool.ts';
import type { Principal } from '../core/people/principal.ts';
import type { Safeguards } from '../core/policy/guard.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { ServerOffers } from '../core/servers/server-state.ts';
import type { ServerOperation } from '../core/tools/server-operation.ts';
import type { Skill } from '../core/skills/skill.ts';
import type { CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { NamedModel } from '../core/model/model-alias.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/callback.ts';
import type { WorkspaceSettings, WorkspaceStatus } from '../core/people/workspace.ts';

/** A toolset as a call needs it: parsed once per isolate, with its tables built. `names` has every tool of the edition, revoked ones as held. `standing`: absent for an edition that was read by its hash. */
export type CompiledToolset = { pointer: EditionPointer; names: AliasMap; standing?: ToolsetStanding };

/** Throws `Problem`s. */
export interface Directory {
  /** Returns the principal of the root key or a created key. Throws `unauthenticated` with the reason; `not_configured` without a root key. `maxAgeMs`: maximum age of a cached result. */
  principal(key: string, maxAgeMs?: number): Promise<Principal>;
  /** Returns the newest edition, or that of a pinned version. Throws `not_found`. */
  toolset(workspace: string, name: string, version?: number): Promise<CompiledToolset>;
  /** Returns the edition with the hash that a plan has. */
  edition(workspace: string, pointer: EditionPointer): Promise<CompiledToolset>;
  /**
   * Returns all shared made tools, as a toolset without a name; null: there are none. `newest`: reads the Catalog, unless it does not
   * respond.
   */
  made(workspace: string, options?: { newest: boolean }): Promise<CompiledToolset | null>;
  /** Like `made`, for the tools private to a key or a trigger. */
  privateMade(workspace: string, keyId: string, options?: { newest: boolean }): Promise<CompiledToolset | null>;
  agent(workspace: string, name: string): Promise<Agent>;
  /** Returns a provider with its secrets resolved. Throws `model_not_found` for an unknown provider. */
  provider(workspace: string, name: string): Promise<ProviderAccess>;
  /** Returns the names of the configured providers, including `rehearsal`, with their listed models. */
  providers(workspace: string): Promise<{ name: string; models: readonly string[] }[]>;
  /** Returns the model aliases of the workspace; they may be `limits.freshReadMs` old. */
  modelAliases(workspace: string): Promise<readonly NamedModel[]>;
  /** Returns the settings of the workspace; they may be `limits.freshReadMs` old. */
  workspaceSettings(workspace: string): Promise<WorkspaceSettings>;
  /**
   * Returns the status of a workspace; null if it does not exist. It may be `limits.freshReadMs` old: a workspace that is being deleted also
   * refuses requests itself.
   */
  workspaceStatus(workspace: string): Promise<WorkspaceStatus | null>;
  /** Returns the policy rules of the workspace; they may be `limits.freshReadMs` old, but not in the isolate that wrote them. */
  rules(workspace: string): Promise<readonly PolicyRule[]>;
  /** Returns the guard and the redaction rules of the workspace. Read together with the rules, so that a workspace without safeguards has no further read. */
  safeguards(workspace: string): Promise<Safeguards>;
  /**
   * Throws `not_found` if the server does not exist. The result may be `limits.freshReadMs` old, but is read again if the call of `tool` (an
   * own name) would be refused: a client may call a tool that was just listed or accepted.
   */
  server(workspace: string, name: string, tool?: string): Promise<ServerAccess>;
  /** Returns what an MCP server offers besides tools, as last read. */
  serverOffers(workspace: string, name: string): Promise<ServerOffers>;
  /** Returns how a tool of an OpenAPI server is called, by its definition in force. Throws `not_found`. */
  operation(workspace: string, tool: Pick<EditionTool, 'server' | 'ownName' | 'pin'>): Promise<ServerOperation>;
  /** Throws `not_found`. */
  skill(workspace: string, name: string): Promise<Skill>;
  /**
   * Returns a compiled webhook; null if it does not exist. Anyone can request any name, so the Catalog is asked only within an allowance.
   * `notOlderThan` (milliseconds since the epoch): the cached webhook is not what the request was signed with, and is read again. An
   * existing and a missing webhook cost the same: one read of KV, and one question while the allowance lasts.
   */
  hook(workspace: string, name: string, notOlderThan?: number): Promise<CompiledHook | null>;
  /** Returns the subscriptions to turns; they may be `limits.freshReadMs` old. */
  subscriptions(workspace: string): Promise<readonly SubscriptionHead[]>;
  /** Returns a secret's value if it is bound to `host` (or `tool`); otherwise throws `forbidden`. */
  secret(workspace: string, name: string, use: { host?: string; tool?: string }): Promise<string>;
}
