/** What an agent's skills lack, told when the agent is written and when it is read: skills that are not there, and tools that they need. */
import type { Agent } from '../core/agent.ts';
import { buildAliasMap, type AliasMap } from '../core/alias-map.ts';
import { matchAllowList } from '../core/allow-list.ts';
import type { Edition } from '../core/edition-tool.ts';
import type { Skill } from '../core/skills/skill.ts';
import { readSkillNames } from '../core/skills/skill-names.ts';
import type { CatalogContext } from './context.ts';
import { readRow } from './documents.ts';
import { readEditionText } from './editions.ts';
import { findPointer } from './toolset-versions.ts';
import type { Warning } from '../core/warning.ts';

export function skillWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.skills === undefined || agent.skills.length === 0) return [];
  const names = namesOf(context, agent);
  return agent.skills.flatMap((name, index): Warning[] => {
    const path = `skills[${index}]`;
    const row = readRow(context.sql, 'skill', name);
    if (row === null || row.deleted)
      return [{ path, message: `There is no skill "${name}" yet: until there is, the agent goes without it.` }];
    // That its toolset is not there is told already.
    if (names === 'unknown') return [];
    // Bodies of skills were read from their files when they were written.
    const { missing } = readSkillNames(row.body as Skill, names);
    if (missing.length === 0) return [];
    return [
      { path, message: `The skill "${name}" is unavailable: needs ${missing.join(', ')}, and no tool of the agent answers to that.` },
    ];
  });
}

/** The toolset's names as a turn of the agent has them; null: it has none. */
export function namesOf({ sql, settings }: CatalogContext, { toolset, tools }: Agent): AliasMap | null | 'unknown' {
  if (toolset === undefined) return null;
  const pointer = findPointer(sql, toolset);
  if (pointer === null) return 'unknown';
  // Editions are written by the toolset writer only.
  const edition = JSON.parse(readEditionText(sql, pointer.hash)) as Edition;
  const { aliases } = settings;
  const names = buildAliasMap(edition, { aliases });
  return tools === undefined ? names : buildAliasMap(edition, { aliases, allow: matchAllowList(names, tools).allow });
}
