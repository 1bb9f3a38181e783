/**
 * Determines the tools that a made tool may call, when it is written: its declared `uses`, or the tools that its code names. Each one
 * must be callable from code; stored by canonical name, together with names in the code that differ from it.
 */
import { fold } from '../names/fold.ts';
import { limits } from '../limits.ts';
import type { MadeTool } from './made-tool.ts';
import type { Issue } from '../problem.ts';
import type { Warning } from '../warning.ts';
import { readCodeUses } from './code-uses.ts';
import { createLookup, type Lookup, type LookupTool } from './tool-lookup.ts';

export type ReadUses = { uses: string[]; names: Record<string, string>; issues: Issue[]; warnings: Warning[] };

export function readUses(tool: Pick<MadeTool, 'implementation' | 'uses' | 'names'>, lookup: Lookup): ReadUses {
  const issues: Issue[] = [];
  const warnings: Warning[] = [];
  const used = new Map<string, LookupTool>();
  const look = (name: string, path: string, where = ''): LookupTool | null => {
    const found = lookup.find(name);
    const fault = 'fault' in found ? found.fault : refusal(found.tool);
    if (fault !== null) issues.push({ path, message: where + fault });
    return 'tool' in found && fault === null ? found.tool : null;
  };
  const take = (found: LookupTool | null, path: string): void => {
    if (found === null || used.has(found.canonical)) return;
    used.set(found.canonical, found);
    const state = found.source?.state ?? 'ready';
    if (state !== 'ready') warnings.push({ path, message: `${found.canonical} is ${state}; calls to it return an error until then` });
  };

  for (const [index, name] of (tool.uses ?? []).entries()) take(look(name, `uses[${index}]`), `uses[${index}]`);
  const given = new Map<string, LookupTool>();
  for (const [name, meant] of Object.entries(tool.names ?? {})) {
    const path = `names.${name}`;
    const found = look(meant, path);
    take(found, path);
    if (found !== null) given.set(name, found);
  }

  const code = readCodeUses(tool.implementation);
  if (tool.uses === undefined && code.unread !== null) {
    const message = `line ${code.unread} uses \`tools\` in another form than tools.name or tools["name"]; list the tools that it may call in \`uses\``;
    issues.push({ path: 'implementation', message });
  }
  const named = new Map<string, LookupTool>(given);
  const declared = tool.uses === undefined ? null : createLookup(among([...used.values()]));
  for (const { name, line } of code.names) {
    if (given.has(name)) continue;
    const where = `line ${line}: `;
    const own = declared?.find(name);
    const found = own !== undefined && 'tool' in own ? own.tool : look(name, 'implementation', where);
    if (found === null) continue;
    if (declared !== null && !used.has(found.canonical))
      issues.push({ path: 'uses', message: `line ${line} of the code calls ${found.canonical}, which is not listed here` });
    else {
      take(found, 'implementation');
      named.set(name, found);
    }
  }

  if (used.size > limits.maxMadeUses)
    issues.push({ path: 'uses', message: `it would call ${used.size} tools; at most ${limits.maxMadeUses}` });
  const others = [...named].filter(([name, { canonical }]) => given.has(name) || !isFoundAmong(name, canonical, [...used.values()]));
  return {
    uses: [...used.keys()].sort(),
    names: Object.fromEntries(others.map(([name, { canonical }]) => [name, canonical])),
    issues,
    warnings,
  };
}

/** Returns why code cannot call the tool, whoever writes it; null if it can. */
function refusal({ canonical, kind }: LookupTool): string | null {
  if (kind === 'ui') return `${canonical} is a UI tool and cannot be called`;
  // Its code could call more than is listed here.
  if (canonical === 'builtin.run_code') return `${canonical} cannot be called from code: write its code here instead`;
  return null;
}

function among(tools: readonly LookupTool[]): Parameters<typeof createLookup>[0] {
  const byName = new Map<string, LookupTool>(tools.map((tool) => [tool.canonical, tool]));
  return { get: (canonical) => byName.get(canonical), all: () => tools };
}

/** Whether the name means this tool whatever default aliases exist later: by its canonical or own name, in any spelling. */
function isFoundAmong(name: string, canonical: string, tools: readonly LookupTool[]): boolean {
  if (name === canonical) return true;
  const bare = tools.filter((tool) => tool.name === name);
  const hits = bare.length > 0 ? bare : tools.filter((tool) => fold(tool.name) === fold(name) || fold(tool.canonical) === fold(name));
  return hits.length === 1 && hits[0]?.canonical === canonical;
}
