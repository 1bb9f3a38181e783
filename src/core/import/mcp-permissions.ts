/** What a file says of servers and their tools outside of the servers themselves: lists of servers that are allowed or not, and rules for tools. */
import { Problem } from '../problem.ts';
import type { OfferedTools } from './mcp-tools.ts';
import type { Members } from './members.ts';

export type RuleEffect = 'allow' | 'ask' | 'deny';
type Rule = { pattern: string; effect: RuleEffect; say(reason: string): void };

const allowedMembers = ['allowed', 'allowMCPServers', 'enabledMcpjsonServers'];
const excludedMembers = ['excluded', 'excludeMCPServers', 'disabledMcpjsonServers', 'disabledMcpServers'];

/** Rules of a file, which are compared with each server. */
export const maxRules = 2_000;

export function tooManyRules(): Problem {
  return new Problem('body_too_large', `The file has more than ${maxRules} rules for servers or tools. Split it.`);
}

/** Returns why a server is left out; null for others. Gemini CLI: `mcp.allowed`; Claude Code: `enabledMcpjsonServers`; and their opposites. */
export function readServerLists(
  places: readonly (Members | null)[],
  names: readonly string[] = [...allowedMembers, ...excludedMembers],
): (written: string) => string | null {
  const lists = places
    .flatMap((place) =>
      names.flatMap((name) => (place?.has(name) === true ? [{ name, path: place.pathOf(name), servers: place.allTexts(name) }] : [])),
    )
    .map((list) => ({ ...list, servers: list.servers === null ? null : new Set(list.servers) }));
  return (written) => {
    const list = lists.find(({ name, servers }) => servers === null || servers.has(written) === excludedMembers.includes(name));
    if (list === undefined) return null;
    if (list.servers === null) return `may be left out by ${list.path} of the file, which is no list of names`;
    return `is ${excludedMembers.includes(list.name) ? 'in' : 'not in'} ${list.path} of the file`;
  };
}

/** Rules for tools by the names that Claude Code gives them: `mcp__server__tool`, `mcp__server`, `mcp__server__*`. */
export class ToolRules {
  readonly #rules: Rule[] = [];

  /** `permissions: {allow, ask, deny}` of Claude Code. */
  addPermissions(permissions: Members | null): void {
    for (const effect of ['allow', 'ask', 'deny'] as const) this.addList(permissions, effect, effect);
    permissions?.skipOthers('is a setting of the program itself');
  }

  addList(members: Members | null, name: string, effect: RuleEffect): void {
    const listed = effect === 'allow' ? members?.texts(name) : members?.allTexts(name);
    // A rule that cannot be read may be for any tool.
    if (listed === null && members?.has(name) === true && effect !== 'allow') this.add({ pattern: 'mcp__*', effect, say: () => undefined });
    for (const [index, pattern] of (listed ?? []).entries())
      this.add({ pattern, effect, say: (reason) => members?.fault(`${name}[${index}]`, reason) });
  }

  add(rule: Rule): void {
    if (this.#rules.length >= maxRules) throw tooManyRules();
    this.#rules.push(rule);
  }

  /** Returns the filters of the servers with these names. A rule belongs to the longest name that it begins with; those for no server are reported. */
  filtersFor(names: readonly string[]): ReadonlyMap<string, Partial<OfferedTools>> {
    const byPlainName = new Map(names.map((name) => [plainServerName(name), name]));
    const filters = new Map(names.map((name) => [name, { unasked: [] as string[], asked: [] as string[], exclude: [] as string[] }]));
    for (const { pattern, effect, say } of this.#rules) {
      const found = ownersOf(pattern, byPlainName);
      if (found.length === 0) say('is not a rule for the tools of a server in this file');
      for (const { server, tool } of found) filters.get(server)?.[members[effect]].push(tool);
    }
    return filters;
  }
}

const members = { allow: 'unasked', ask: 'asked', deny: 'exclude' } as const;
const maxPatternLength = 400;

/** `mcp__*`, `mcp__git*`, `*` and `mcp__*__drop` are rules for several servers. Of the pattern, `tool` has what is left for the names of tools. */
function ownersOf(pattern: string, byPlainName: ReadonlyMap<string, string>): { server: string; tool: string }[] {
  const star = pattern.search(/[*?]/);
  const several = [...(star < 0 ? [] : byPlainName)].filter(([name]) => `mcp__${name}__`.startsWith(pattern.slice(0, star)));
  if (several.length > 0) {
    const rest = pattern.slice(star, maxPatternLength);
    const tool = /^\*__[^*?]+$/.test(rest) ? rest.slice('*__'.length) : rest;
    return several.map(([, server]) => ({ server, tool }));
  }
  if (!pattern.startsWith('mcp__') || pattern.length > maxPatternLength) return [];
  const rest = pattern.slice('mcp__'.length);
  for (let end = rest.length; end > 0; end = rest.lastIndexOf('__', end - 1)) {
    const server = byPlainName.get(rest.slice(0, end));
    if (server !== undefined) return [{ server, tool: end === rest.length ? '*' : rest.slice(end + 2) }];
  }
  return [];
}

/** Clients write other characters of a server's name as `_`. */
export function plainServerName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}
