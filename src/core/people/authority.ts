/**
 * Decides what a key is allowed to do, for every entry point: REST routes, MCP, configuration tools, chat dialects and sessions. No
 * other file reads the scopes of a key. A route first requires one of its scopes (`http/middleware/authenticate.ts`), then the act. Decisions about a name are made before it is looked up, so that a refusal does not reveal
 * whether it exists.
 */
import type { Agent } from '../turn/agent.ts';
import { type Principal, rootKeyId, type Scope } from './principal.ts';
import { Problem, quoted } from '../problem.ts';
import { readToolsetReference } from '../toolset/toolset.ts';

export type Rights = Pick<Principal, 'scopes' | 'toolsets' | 'agents' | 'role'>;

/**
 * The fields of an agent that decide which tools its keys have. `tools`: the allow-list of the agent; absent: all tools of its
 * toolset.
 */
export type AgentTools = Pick<Agent, 'toolset' | 'tools'>;

/**
 * `toolset` is a reference: `name`, or `name@version`. `agents`: the agents that the key is bound to, in their current form, or the
 * agent of the turn; empty for a key that is not bound to agents. `has`: canonical names of the tools that the key already has.
 */
export type Act =
  /** Anything that requires one of these scopes, and nothing else. */
  | { act: 'use-scope'; scopes: readonly Scope[] }
  | { act: 'use-agent'; agent: string }
  /** Use a model without an agent. */
  | { act: 'use-model' }
  /** Resolve, list and call the tools of an edition. */
  | { act: 'use-edition'; toolset: string; agents: readonly AgentTools[] }
  | { act: 'read-toolset'; toolset: string; agents: readonly AgentTools[] }
  /** Use or read the version that a reference names. `current`: the number of the newest version; null: not looked up. */
  | { act: 'use-version'; toolset: string; agents: readonly AgentTools[]; current: number | null }
  | { act: 'read-toolset-history'; toolset: string }
  | { act: 'write-toolset'; toolset: string }
  /** Use the configuration tools. */
  | { act: 'configure' }
  | { act: 'list-tool'; tool: string | undefined; has: ReadonlySet<string> }
  | { act: 'read-tool'; tool: string; has: ReadonlySet<string> | null }
  | { act: 'make-tool' }
  /** Make a tool for all keys from a session, whose key may lack the scope of the route. */
  | { act: 'share-tool' }
  /** Private tools of a key or a trigger. */
  | { act: 'use-private-tools'; isOwn: boolean }
  /** `agent: null`: the agent does not exist. */
  | { act: 'read-agent'; name: string; agent: AgentTools | null }
  /** Anything that belongs to the whole workspace, such as `Servers`. */
  | { act: 'use-workspace'; what: string }
  /** Read and write the settings of the workspace: the root key only. */
  | { act: 'manage-workspaces'; keyId: string }
  /** Act in another workspace than that of the key. */
  | { act: 'enter-workspace'; keyId: string }
  /** Anything that waives a check for everyone or gives a tool a secret, such as `approval: "never"`. */
  | { act: 'waive'; what: string }
  /** Ask the policy about a call as if this agent or key made it. */
  | { act: 'ask-policy-as'; agent: string | undefined; key: string | undefined }
  | { act: 'open-session'; isOwn: boolean }
  | { act: 'read-usage'; isOwn: boolean }
  /** See and end the access of an MCP client. */
  | { act: 'manage-grant'; isOwn: boolean }
  /** `triggered`: the agent of a session that a webhook or schedule started, which no key owns; null: a key owns the session. */
  | { act: 'decide-approval'; isOwn: boolean; triggered: string | null };

/** Returns why the key is not allowed to do this, as a sentence for the holder of the key; null if it is allowed. */
export function authorizationRefusal(rights: Rights, act: Act): string | null {
  switch (act.act) {
    case 'use-scope':
      if (act.scopes.some((scope) => hasScope(rights, scope))) return null;
      return `This key lacks the scope ${act.scopes.map((scope) => `"${scope}"`).join(' or ')}.`;
    case 'use-agent':
      return hasAgent(rights, act.agent) ? null : notBound(rights, 'agent', act.agent);
    case 'use-model':
      if (rights.agents === undefined) return null;
      return `This key is bound to agents. Use one of them as "agent/<name>" (${listed(rights.agents)}).`;
    case 'use-edition':
      return editionRefusal(rights, act.toolset, act.agents);
    case 'read-toolset':
      if (writesToolset(rights, act.toolset)) return null;
      return editionRefusal(rights, act.toolset, rights.agents === undefined ? [] : act.agents.filter(hasAllTools));
    case 'use-version':
      return versionRefusal(rights, act);
    case 'read-toolset-history':
    case 'write-toolset':
      return writesToolset(rights, act.toolset) ? null : notBound(rights, 'toolset', act.toolset);
    case 'configure':
      if (!hasScope(rights, 'toolsets')) return 'The key of this session lacks the scope "toolsets", which configuring requires.';
      return rights.agents === undefined || rights.toolsets !== undefined
        ? null
        : 'The key of this session is bound to agents and has no toolsets to configure.';
    case 'list-tool':
      if (isUnbound(rights) || (act.tool !== undefined && act.has.has(act.tool))) return null;
      return 'this key may only list tools that its toolsets already contain; use an unbound key to add others';
    case 'read-tool':
      return act.has === null || act.has.has(act.tool) ? null : `This key has no access to the tool ${quoted(act.tool)}.`;
    case 'make-tool':
      return rights.agents === undefined ? null : wholeWorkspace('Made tools');
    case 'share-tool':
      if (hasScope(rights, 'toolsets') && rights.agents === undefined) return null;
      return 'Shared tools require a key with the scope "toolsets" that is not bound to agents.';
    case 'use-private-tools':
      if (act.isOwn || isAdministrator(rights)) return null;
      return 'Private tools of another key require an administrator key of the whole workspace. Use owner=me for your own tools.';
    case 'read-agent':
      return agentRefusal(rights, act.name, act.agent);
    case 'use-workspace':
      return isUnbound(rights) ? null : wholeWorkspace(act.what);
    case 'manage-workspaces':
      return act.keyId === rootKeyId ? null : 'Only the root key manages workspaces.';
    case 'enter-workspace':
      return act.keyId === rootKeyId
        ? null
        : 'This key belongs to another workspace. Leave `x-moniker-workspace` out, or use a key of that workspace.';
    case 'waive':
      return isAdministrator(rights) ? null : `${act.what} requires a key with the scope "admin" that is not bound to agents or toolsets.`;
    case 'ask-policy-as':
      if (isUnbound(rights)) return null;
      if (act.key !== undefined) return 'This key is bound to a part of the workspace. Leave `key` out.';
      return act.agent === undefined || rights.agents?.includes(act.agent) === true ? null : notBound(rights, 'agent', act.agent);
    case 'read-usage':
      if (act.isOwn || isAdministrator(rights)) return null;
      return 'The usage of other keys requires a key with the scope "admin" that is not bound to agents or toolsets. Use key=me.';
    case 'manage-grant':
      return act.isOwn || isAdministrator(rights)
        ? null
        : 'The grants of others require a key with the scope "admin" that is not bound to agents or toolsets.';
    case 'open-session':
      return act.isOwn || isAdministrator(rights) ? null : 'The session belongs to another key.';
    case 'decide-approval':
      if (act.isOwn || decidesForAll(rights)) return null;
      return decidesForTriggers(rights, act.triggered) ? null : 'The session belongs to another key.';
    default:
      return act satisfies never;
  }
}

export function isAllowed(rights: Rights, act: Act): boolean {
  return authorizationRefusal(rights, act) === null;
}

/** Throws `forbidden` if the key is not allowed to do this. */
export function requireAllowed(rights: Rights, act: Act): void {
  const refusal = authorizationRefusal(rights, act);
  if (refusal !== null) throw new Problem('forbidden', refusal, missingScope(act));
}

/**
 * The key whose usage and requests a key sees; undefined: all keys. `asked`: the id of a key, or `me`. Throws `forbidden` for what it may not
 * see.
 */
export function visibleKey(principal: Rights & Pick<Principal, 'keyId'>, asked?: string): string | undefined {
  const key = asked === 'me' ? principal.keyId : asked;
  if (key === undefined) return isAllowed(principal, { act: 'read-usage', isOwn: false }) ? undefined : principal.keyId;
  requireAllowed(principal, { act: 'read-usage', isOwn: key === principal.keyId });
  return key;
}

function missingScope(act: Act): { scope?: string } {
  if (act.act === 'use-scope') return { scope: act.scopes.join(' ') };
  return act.act === 'waive' ? { scope: 'admin' } : {};
}

/** Whether the key may use the whole workspace. */
export function isUnbound({ toolsets, agents }: Rights): boolean {
  return toolsets === undefined && agents === undefined;
}

/** Whose tools a key may read and list in toolsets. The toolsets of a key bound to agents are its own only if it may write them. */
export function sourceOfTools(rights: Rights): 'workspace' | 'toolsets' | 'agents' {
  if (isUnbound(rights)) return 'workspace';
  return rights.toolsets !== undefined && (rights.agents === undefined || hasScope(rights, 'toolsets')) ? 'toolsets' : 'agents';
}

/** `admin` includes every scope. */
function hasScope({ scopes }: Rights, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}

function isAdministrator(rights: Rights): boolean {
  return rights.scopes.includes('admin') && isUnbound(rights);
}

function hasAgent({ agents }: Rights, name: string): boolean {
  return agents === undefined || agents.includes(name);
}

/** A key is bound to a toolset, or to one version of it (`support@3`). */
function hasToolset(rights: Rights, reference: string): boolean {
  return hasVersion(rights, reference) || rights.toolsets?.includes(readToolsetReference(reference).name) === true;
}

function hasVersion({ toolsets }: Rights, reference: string): boolean {
  return toolsets === undefined || toolsets.includes(reference);
}

/**
 * A key that is bound to a toolset gets its current version: others may contain tools that were taken from it. A key that is also bound to an
 * agent has what the agent has.
 */
function versionRefusal(rights: Rights, { toolset: reference, agents, current }: Extract<Act, { act: 'use-version' }>): string | null {
  const { name, version } = readToolsetReference(reference);
  if (version === undefined || version === current || hasVersion(rights, reference)) return null;
  if (rights.agents !== undefined && agents.some(({ toolset }) => toolset === reference)) return null;
  return `This key is bound to the toolset ${quoted(name)}, so it has its current version only. Leave the version out.`;
}

/**
 * A key bound to agents writes toolsets only if it is also bound to them; which of their tools it may use depends on its agents.
 */
function writesToolset(rights: Rights, reference: string): boolean {
  if (!hasToolset(rights, reference)) return false;
  return rights.agents === undefined || (rights.toolsets !== undefined && hasScope(rights, 'toolsets'));
}

/** Allows exactly the edition that an agent names: other versions may contain tools that were removed from it. */
function editionRefusal(rights: Rights, reference: string, agents: readonly AgentTools[]): string | null {
  if (!hasToolset(rights, reference)) return notBound(rights, 'toolset', reference);
  if (rights.agents === undefined || agents.some(({ toolset }) => toolset === reference)) return null;
  return `This key is bound to agents, and none of them uses ${quoted(reference)}. Leave the toolset out, or name the toolset of one of its agents.`;
}

function hasAllTools({ tools }: AgentTools): boolean {
  return tools === undefined;
}

/** Returns the same message for an agent that does not exist, if only the toolset could tell whether the key may use it. */
function agentRefusal(rights: Rights, name: string, agent: AgentTools | null): string | null {
  if (!hasAgent(rights, name)) return notBound(rights, 'agent', name);
  if (rights.toolsets === undefined) return null;
  const isUsable = agent !== null && (agent.toolset === undefined || hasToolset(rights, agent.toolset));
  return isUsable ? null : `There is no agent ${quoted(name)} with a toolset that this key is bound to.`;
}

/** Approvers decide for every session of the workspace, and do not see more of it than the questions. */
function decidesForAll(rights: Rights): boolean {
  return isAdministrator(rights) || (rights.role === 'approver' && isUnbound(rights));
}

/**
 * Any key with the scope `approve` that is not bound to another toolset or agent decides for sessions that a webhook or schedule
 * started.
 */
function decidesForTriggers(rights: Rights, triggered: string | null): boolean {
  return triggered !== null && hasScope(rights, 'approve') && rights.toolsets === undefined && hasAgent(rights, triggered);
}

/** Whose questions a key may see, in the words of `decide-approval`. `triggered`: agents of sessions that triggers started. */
export function decidableSessions(rights: Rights): 'all' | { triggered?: 'all' | readonly string[] } {
  if (decidesForAll(rights)) return 'all';
  if (!hasScope(rights, 'approve') || rights.toolsets !== undefined) return {};
  return { triggered: rights.agents ?? 'all' };
}

function notBound({ agents, toolsets }: Rights, kind: 'agent' | 'toolset', name: string): string {
  const own = kind === 'agent' ? agents : toolsets;
  const instead = own === undefined ? `it is bound to agents (${listed(agents ?? [])})` : `its ${kind}s are: ${listed(own)}`;
  return `This key is not bound to the ${kind} ${quoted(name)}; ${instead}.`;
}

function wholeWorkspace(what: string): string {
  return `${what} belong to the whole workspace, and this key is bound to a part of it.`;
}

function listed(names: readonly string[]): string {
  return names.join(', ') || 'none';
}
