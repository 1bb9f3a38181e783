/**
 * Made tools as definitions, and as internal toolsets, which are published like any other but cannot be named in a request: the shared tools of a
 * workspace, and the private tools of each key. `engine/plan/plan-names.ts` selects the tools for agents with `made` from their
 * editions.
 */
import { fold } from '../names/fold.ts';
import type { Hold } from '../tools/hold.ts';
import { CanonicalName, parseAlias } from '../names/names.ts';
import type { JsonSchema, ToolDefinition } from '../tools/tool.ts';
import type { KnownTools } from '../toolset/known-tools.ts';
import type { Toolset } from '../toolset/toolset.ts';
import { aliasName } from '../names/toolset-alias.ts';
import type { MadeParameter, StoredMadeTool } from '../tools/made-tool.ts';

export const madeServer = 'made';
const prefix = `${madeServer}.`;

export function madeCanonical(ownName: string): string {
  return prefix + ownName;
}

export function madeOwnName(canonical: string): string {
  return canonical.slice(prefix.length);
}

/** `canonical`: `made.<name>`. `owner`: the key that the tool is private to; absent: it is shared. */
export function toMadeDefinition(canonical: string, tool: StoredMadeTool, owner?: string): ToolDefinition {
  const { description, parameters, implementation, aliases, uses, names, pin } = tool;
  const by = owner ?? tool.by;
  return {
    ...bareDefinition(canonical),
    description,
    inputSchema: parametersSchema(parameters),
    aliases: aliases ?? [],
    source: { state: 'ready', trusted: false, pin },
    made: {
      implementation,
      uses,
      ...(names !== undefined && { names }),
      ...(by !== undefined && { by }),
      ...(owner !== undefined && { private: true as const }),
    },
  };
}

/** The definition of a tool whose stored row differs from what was checked when it was written: nothing of the row is used. */
export function toHeldMade(canonical: string, pin: string): ToolDefinition {
  const message = `its stored data differs from what was written. Write it again (PUT /v1/tools/${canonical}, or create_tool for a private one), or DELETE it there`;
  const held: Hold = { reason: 'changed', refId: pin, changes: [], findings: [{ finding: 'stored', path: '', message }] };
  return { ...bareDefinition(canonical), source: { state: 'held', trusted: false, pin, held } };
}

function bareDefinition(canonical: string): ToolDefinition {
  return {
    canonical: CanonicalName.parse(canonical),
    server: madeServer,
    name: madeOwnName(canonical),
    kind: 'made',
    description: '',
    inputSchema: { type: 'object' },
    aliases: [],
  };
}

/** Parameters with a default are optional. */
function parametersSchema(parameters: readonly MadeParameter[]): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required && parameter.default === undefined).map(({ name }) => name);
  const properties = parameters.map(({ name, type, description, default: given }) => [
    name,
    { type, ...(description !== '' && { description }), ...(given !== undefined && { default: given }) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
/** The shared tools. Toolset names contain no dot, so no other toolset has this name. */
export const madeToolset = '.made';

/** The private tools of a key or a trigger. */
export function privateToolset(owner: string): string {
  return `${madeToolset}/${owner}`;
}

/** Returns null if it is not a toolset of private tools. */
export function ownerOfToolset(toolset: string): string | null {
  const prefix = privateToolset('');
  return toolset.startsWith(prefix) ? toolset.slice(prefix.length) : null;
}

/** Whether requests cannot name the toolset. */
export function isInternalToolset(toolset: string): boolean {
  return toolset.startsWith('.');
}

/** The document name of a private tool: `<owner>/made.<name>`. Ids of keys and triggers contain no slash. */
export function privateToolName(owner: string, canonical: string): string {
  return `${owner}/${canonical}`;
}

export function readPrivateToolName(name: string): { owner: string; canonical: string } {
  const slash = name.indexOf('/');
  return { owner: name.slice(0, Math.max(slash, 0)), canonical: name.slice(slash + 1) };
}

/** Each tool under its own name, which is unique among made tools in any spelling. An alias that has another meaning by now is dropped. */
export function toMadeToolset(tools: readonly ToolDefinition[]): Toolset {
  const made = tools.filter((tool) => tool.made !== undefined).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  const taken = new Set(made.map(({ name }) => fold(name)));
  return {
    announce: 'prompt',
    tools: made.map(({ canonical, name, aliases }) => ({
      tool: canonical,
      name,
      aliases: aliases.map(aliasName).filter((alias) => {
        const isFree = parseAlias(alias).ok && !taken.has(fold(alias));
        taken.add(fold(alias));
        return isFree;
      }),
    })),
  };
}

/** Returns the made tools that use any of these directly or indirectly, including those of them that are made tools. */
export function dependentsOf(canonicals: Iterable<string>, known: Pick<KnownTools, 'all'>): Set<string> {
  const pairs = Array.from(known.all(), ({ canonical, made }) => (made?.uses ?? []).map((use) => ({ use, user: canonical })));
  const users = Map.groupBy(pairs.flat(), ({ use }) => use);
  const above = new Set<string>();
  const waiting = [...canonicals];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const { user } of users.get(name) ?? []) {
      if (above.has(user)) continue;
      above.add(user);
      waiting.push(user);
    }
  }
  return above;
}
