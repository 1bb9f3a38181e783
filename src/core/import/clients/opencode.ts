/**
 * `opencode.json`: servers in `mcp` (since version 2 in `mcp.servers`), and the switches and permissions of tools, which it calls
 * `server_tool`. opencode documentation, "MCP servers", "Tools" and "Permissions".
 */
import { isRecord, recordOf } from '../../json/wire-value.ts';
import type { ImportDraft } from '../draft.ts';
import { addServers, addToolset, otherSettings } from '../mcp-clients.ts';
import { maxRules, tooManyRules } from '../mcp-permissions.ts';
import type { GivenServer } from '../mcp-server.ts';
import type { OfferedTools } from '../mcp-tools.ts';
import type { Members } from '../members.ts';

/** VS Code has `mcp.servers`, too: the servers of opencode are `local` or `remote`. */
export function isOpenCode(value: unknown, file: string): boolean {
  const { mcp, $schema } = recordOf(value);
  if (!isRecord(mcp)) return false;
  if (/opencode/.test(file) || /opencode\.ai/.test(String($schema))) return true;
  const servers = Object.values(isRecord(mcp.servers) && mcp.servers.type === undefined ? mcp.servers : mcp);
  return servers.some((server) => /^(local|remote)$/.test(String(recordOf(server).type)) || Array.isArray(recordOf(server).command));
}

export function readOpenCode(draft: ImportDraft, file: Members): void {
  file.ignore('$schema');
  const mcp = file.record('mcp');
  if (mcp === null) return;
  const isNested = isRecord(mcp.peek('servers')) && recordOf(mcp.peek('servers')).type === undefined;
  if (isNested) mcp.skip(['timeout'], 'has no counterpart: set `timeoutMs` of the servers');
  const rows = isNested ? mcp.entries('servers') : mcp.names().flatMap((name) => [[name, mcp.record(name)] as const]);
  const servers = rows.flatMap(([name, entry]) => (entry === null ? [] : [[name, entry] as const]));
  const switches = readSwitches(file);
  const given = (written: string): GivenServer => ({ filter: filterOf(written, switches), hasStartTimeout: true });
  addToolset(draft, 'opencode', addServers(draft, servers, { given }));
  for (const one of switches) if (!servers.some(([name]) => toolOf(one.pattern, name) !== null)) one.say();
  file.skipOthers(otherSettings);
}

type Switch = { pattern: string; effect: 'deny' | 'ask' | 'allow' | 'on'; say(): void };

/** `tools: {"github_*": false}` and `permission: {"github_*": "deny"}`; later rules win. */
function readSwitches(file: Members): Switch[] {
  const say = (members: Members, name: string) => (): void => members.fault(name, 'is not about the tools of a server in this file');
  const tools = isRecord(file.peek('tools')) ? file.record('tools') : null;
  const permission = isRecord(file.peek('permission')) ? file.record('permission') : null;
  // One value for all tools.
  const general = typeof file.peek('permission') === 'string' ? [ruleOf('*', file.take('permission'), () => undefined)] : [];
  const switches = (tools?.names() ?? []).map((name): Switch => {
    const isOn = tools?.flag(name) === true;
    return { pattern: name, effect: isOn ? 'on' : 'deny', say: say(tools ?? file, name) };
  });
  const rules = (permission?.names() ?? []).map((name) => ruleOf(name, permission?.take(name), say(permission ?? file, name)));
  const all = [...switches, ...general, ...rules];
  if (all.length > maxRules) throw tooManyRules();
  return all;
}

/** A rule by the arguments of the call is the strictest that it can be. */
function ruleOf(pattern: string, effect: unknown, say: () => void): Switch {
  return { pattern, effect: effect === 'allow' || effect === 'deny' ? effect : 'ask', say };
}

function filterOf(written: string, switches: readonly Switch[]): Partial<OfferedTools> {
  const of = (effect: Switch['effect']): string[] =>
    switches.flatMap((one, index) => {
      const tool = one.effect === effect ? toolOf(one.pattern, written) : null;
      // Switched on again, or decided by a later rule.
      return tool === null || switches.slice(index + 1).some((later) => later.pattern === one.pattern) ? [] : [tool];
    });
  const on = of('on').filter((tool) => tool !== '*');
  // `"github_*": false` and `"github_list": true`: only what is switched on.
  const isOnlyOn = on.length > 0 && of('deny').includes('*');
  const exclude = of('deny').filter((tool) => !isOnlyOn || tool !== '*');
  return { ...(isOnlyOn && { include: on }), exclude, unasked: of('allow'), asked: of('ask') };
}

/** Returns the tool of a pattern, or `*`; null if the pattern is not about the server. */
function toolOf(pattern: string, written: string): string | null {
  const prefix = `${written.replace(/[^A-Za-z0-9_-]/g, '_')}_`;
  const star = pattern.search(/[*?]/);
  // `*` and `git*` cover `github_list`, too.
  if (star >= 0 && prefix.startsWith(pattern.slice(0, star))) return pattern.slice(star);
  return pattern.startsWith(prefix) ? pattern.slice(prefix.length) : null;
}
