/** What a file says of servers and their tools outside of the servers themselves: lists of servers that are allowed or not, and rules for tools. */
import type { Members } from './members.ts';
import type { OfferedTools } from './mcp-tools.ts';

type Rule = { pattern: string; effect: 'allow' | 'ask' | 'deny'; path: string };

const allowedMembers = ['allowed', 'allowMCPServers', 'enabledMcpjsonServers'];
const excludedMembers = ['excluded', 'excludeMCPServers', 'disabledMcpjsonServers', 'disabledMcpServers'];

/** Returns why a server is left out; null for others. Gemini CLI: `mcp.allowed`; Claude Code: `enabledMcpjsonServers`; and their opposites. */
export function readServerLists(
  places: readonly (Members | null)[],
  names: readonly string[] = [...allowedMembers, ...excludedMembers],
): (written: string) => string | null {
  const lists = places.flatMap((place) =>
    names.flatMap((name) => (place?.has(name) === true ? [{ name, path: place.pathOf(name), servers: place.texts(name) ?? [] }] : [])),
  );
  return (written) => {
    const list = lists.find(({ name, servers }) => servers.includes(written) === excludedMembers.includes(name));
    if (list === undefined) return null;
    return `is ${excludedMembers.includes(list.name) ? 'in' : 'not in'} ${list.path} of the file`;
  };
}

/** Rules for tools by the names that Claude Code gives them: `mcp__server__tool`, `mcp__server`, `mcp__server__*`. */
export class ToolRules {
  readonly #rules: Rule[] = [];
  readonly #used = new Set<Rule>();

  /** `permissions: {allow, ask, deny}` of Claude Code. */
  addPermissions(permissions: Members | null): void {
    for (const effect of ['allow', 'ask', 'deny'] as const) this.addList(permissions, effect, effect);
    permissions?.skipOthers('is a setting of the program itself');
  }

  addList(members: Members | null, name: string, effect: Rule['effect']): void {
    for (const [index, pattern] of (members?.texts(name) ?? []).entries())
      this.add({ pattern, effect, path: `${members?.pathOf(name) ?? name}[${index}]` });
  }

  add(rule: Rule): void {
    this.#rules.push(rule);
  }

  /** Returns the filter of a server. `names`: of all servers of the file. A rule belongs to the longest name that it begins with. */
  filterOf(written: string, names: readonly string[]): Partial<OfferedTools> {
    const tools = (effect: Rule['effect']): string[] =>
      this.#rules.flatMap((rule) => {
        if (rule.effect !== effect) return [];
        const tool = toolOf(rule.pattern, written, names);
        if (tool !== null) this.#used.add(rule);
        return tool ?? [];
      });
    const [unasked, asked, exclude] = [tools('allow'), tools('ask'), tools('deny')];
    return { unasked, asked, exclude };
  }

  /** Says which rules are for no server of the file. */
  sayOthers(members: Members): void {
    for (const rule of this.#rules)
      if (!this.#used.has(rule)) members.fault(relative(members, rule.path), 'is not a rule for the tools of a server in this file');
  }
}

function toolOf(pattern: string, written: string, names: readonly string[]): string | null {
  if (/^mcp__\*$/.test(pattern)) return '*';
  const own = `mcp__${plain(written)}`;
  const isOther = names.some((name) => plain(name).length > plain(written).length && begins(pattern, `mcp__${plain(name)}`));
  if (isOther || !begins(pattern, own)) return null;
  return pattern === own ? '*' : pattern.slice(own.length + 2);
}

function begins(pattern: string, server: string): boolean {
  return pattern === server || pattern.startsWith(`${server}__`);
}

/** Clients write other characters of a server's name as `_`. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** `fault` adds the path of the members. */
function relative(members: Members, path: string): string {
  return members.path === '' ? path : path.slice(members.path.length + 1);
}
