/** The names of a toolset for the routes: those of an edition that the key is allowed to use. */
import * as z from 'zod';
import type { EditionTool } from '../../../core/toolset/edition-tool.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import { allowOf, readToolset } from '../../../engine/plan/read-toolset.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import type { HttpServices } from '../../services.ts';

export const ofToolset = { tag: 'Toolsets', params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }) } as const;

export const Version = z.coerce.number().int().min(1).optional().meta({ description: 'A version number. Default: the newest.' });

export const ToolState = z.enum(['ready', 'missing', 'held']).meta({
  id: 'ToolState',
  description:
    '`missing`: its server does not list it. `held`: its definition has not been accepted. Neither is sent to models or can be called.',
});

export async function readNames(
  services: Pick<HttpServices, 'directory' | 'settings'>,
  principal: Principal,
  toolset: string,
  version?: number,
) {
  const reference = version === undefined ? toolset : `${toolset}@${version}`;
  const { pointer, names, list, standing } = await readToolset(services.directory, principal, reference);
  return { pointer, standing, names: planNames(names, { aliases: services.settings.aliases, ...allowOf(list) }) };
}

export function aliasNames(tool: EditionTool): string[] {
  return tool.aliases.map(({ name }) => name);
}
