/**
 * Warnings about an agent's skills, shown when the agent is written and when it is read: missing skills, and missing tools that they need.
 */
import type { Agent } from '../../core/agent.ts';
import { buildAliasMap, type AliasMap } from '../../core/toolset/alias-map.ts';
import { matchAllowList } from '../../core/names/allow-list.ts';
import type { Edition } from '../../core/toolset/edition-tool.ts';
import type { Skill } from '../../core/skills/skill.ts';
import { readSkillNames } from '../../core/skills/skill-names.ts';
import type { CatalogContext } from '../context.ts';
import { readRow } from './documents.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { findPointer } from '../toolsets/toolset-versions.ts';
import type { Warning } from '../../core/warning.ts';

export function skillWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.skills === undefined || agent.skills.length === 0) return [];
  const names = namesOf(context, agent);
  return agent.skills.flatMap((name, index): Warning[] => {
    const path = `skills[${index}]`;
    const row = readRow(context.sql, 'skill', name);
    if (row === null || row.deleted)
      return [{ path, message: `The skill "${name}" does not exist yet. The agent runs without it until it is created.` }];
    // A missing toolset already has a warning.
    if (names === 'unknown') return [];
    // Skill bodies were parsed from their files when they were written.
    const { missing } = readSkillNames(row.body as Skill, names);
    if (missing.length === 0) return [];
    return [{ path, message: `The skill "${name}" is unavailable: it needs ${missing.join(', ')}, which matches no tool of the agent.` }];
  });
}

/** Returns the toolset's names as a turn of the agent has them; null: the agent has no toolset. */
export function namesOf({ sql, settings }: CatalogContext, { toolset, tools }: Agent): AliasMap | null | 'unknown' {
  if (toolset === undefined) return null;
  const pointer = findPointer(sql, toolset);
  if (pointer === null) return 'unknown';
  // Editions are written only by the toolset writer.
  const edition = JSON.parse(readEditionText(sql, pointer.hash)) as Edition;
  const { aliases } = settings;
  const names = buildAliasMap(edition, { aliases });
  return tools === undefined ? names : buildAliasMap(edition, { aliases, allow: matchAllowList(names, tools).allow });
}
