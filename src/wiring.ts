/** Builds every adapter from the bindings: the only place that does. What the routes may use is `Services`. */
import type { Issue } from './core/problem.ts';
import type { Plan, ModelSettings } from './core/plan.ts';
import type { Principal } from './core/principal.ts';
import type { Settings } from './core/settings.ts';
import type { Via } from './core/message.ts';
import type { Catalog, Directory } from './ports/catalog.ts';
import type { Clock, Ids, Logger } from './ports/runtime.ts';
import type { SessionCall, Sessions } from './ports/session.ts';

/** What a turn is asked to run with: an agent, or a model with or without a toolset. */
export type PlanRequest = {
  agent?: string;
  model?: string;
  /** A name, or `name@version`. With `agent`: must be the agent's own or absent. */
  toolset?: string;
  instructions?: string;
  settings?: ModelSettings;
};

export type DirectCall = { toolset: string; name: string; arguments: Record<string, unknown> };

export type DryRun = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  valid: boolean;
  issues: Issue[];
  verdict: 'allow' | 'ask' | 'deny' | 'unknown_tool' | 'ambiguous_tool' | 'not_allowed' | 'tool_held';
};

export type Services = {
  settings: Settings;
  clock: Clock;
  ids: Ids;
  log: Logger;
  directory: Directory;
  catalog(workspace: string): Catalog;
  sessions: Sessions;
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  /** A call without a session: scratch files, audited before it answers. */
  callTool(principal: Principal, call: DirectCall): Promise<SessionCall & { callId: string }>;
  /** Resolves, authorises and checks; runs nothing. Serves calls with a session too. */
  dryRunCall(principal: Principal, call: DirectCall): Promise<DryRun>;
  /** Chat completions without server tools and session: the provider's own bytes, or canonical frames where its profile says so. */
  proxyChat(principal: Principal, model: string, body: Record<string, unknown>, signal: AbortSignal): Promise<Response>;
};
