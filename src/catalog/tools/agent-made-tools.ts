/**
 * Warnings about made tools that an agent with `made: true` is not offered, with the reasons. Shown when the agent is written and when it
 * is read.
 */
import type { Agent } from '../../core/agent.ts';
import { buildAliasMap } from '../../core/toolset/alias-map.ts';
import type { Edition } from '../../core/toolset/edition-tool.ts';
import { limits } from '../../core/limits.ts';
import { madeToolset } from '../../core/made/made-toolset.ts';
import type { Warning } from '../../core/warning.ts';
import { selectMadeTools } from '../../engine/plan/plan-names.ts';
import { namesOf } from '../documents/agent-skills.ts';
import type { CatalogContext } from '../context.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { findPointer } from '../toolsets/toolset-versions.ts';

export function madeWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.made !== true) return [];
  const names = namesOf(context, agent);
  const pointer = findPointer(context.sql, madeToolset);
  // A missing toolset already has a warning.
  if (names === 'unknown' || pointer === null) return [];
  // Editions are written only by our own code.
  const edition = JSON.parse(readEditionText(context.sql, pointer.hash)) as Edition;
  const { omitted: left } = selectMadeTools(names, buildAliasMap(edition, { aliases: context.settings.aliases }));
  const told = left.slice(0, limits.maxReportedWarnings).map(({ canonical, why }) => `${canonical} is not offered: ${why}.`);
  if (left.length > told.length) told.push(`And ${left.length - told.length} more made tools are not offered.`);
  return told.map((message) => ({ path: 'made', message }));
}
