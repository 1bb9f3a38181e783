/** The names of a toolset as the routes read them: of an edition, as far as the key is allowed to use it. */
import { z } from 'zod';
import type { EditionTool } from '../core/toolset/edition-tool.ts';
import type { Principal } from '../core/principal.ts';
import { allowOf } from '../engine/plan/agent-list.ts';
import { planNames } from '../engine/plan/plan-names.ts';
import { readToolset } from '../engine/plan/read-toolset.ts';
import type { Services } from '../wiring.ts';

export const Version = z.coerce.number().int().min(1).optional().meta({ description: 'An older one. Absent: the newest.' });

export const ToolState = z.enum(['ready', 'missing', 'held']).meta({
  id: 'ToolState',
  description:
    '`missing`: its server does not list it. `held`: until somebody accepts its definition. Neither is sent to a model, or can be called.',
});

export async function readNames(services: Services, principal: Principal, toolset: string, version?: number) {
  const reference = version === undefined ? toolset : `${toolset}@${version}`;
  const { pointer, names, list } = await readToolset(services.directory, principal, reference);
  return { pointer, names: planNames(names, { aliases: services.settings.aliases, ...allowOf(list) }) };
}

export function aliasNames(tool: EditionTool): string[] {
  return tool.aliases.map(({ name }) => name);
}
