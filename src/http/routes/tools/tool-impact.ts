/** `/v1/tools/{canonical}/impact`: what the draft of a made tool would have done to its calls of the last days. Nothing is stored. */
import * as z from 'zod';
import { toMadeDefinition } from '../../../core/made/made-toolset.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { nullIfNotFound } from '../../../core/problem.ts';
import { MadeTool, MadeToolName } from '../../../core/tools/made-tool.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import { toolsOfKey } from '../../../engine/configuration/tools-of-key.ts';
import { compareDefinitions, DefinitionImpactView, pastDays } from '../../past-calls.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { findPrivateTool } from './written-tools.ts';

export const toolImpactRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/tools/{canonical}/impact',
      storesNothing: true,
      operationId: 'getToolImpact',
      tag: 'Tools',
      scopes: ['toolsets'],
      summary: 'Compare a draft of a made tool with past calls',
      description:
        'Prepares the recorded calls of the tool, in every toolset that had it, with the stored parameters and with those of the draft. Without a shared tool of the name, the key’s own private one is compared. Nothing is stored, and the code does not run. For a key that sees only its own usage, only its own calls count.',
      params: z.object({ canonical: MadeToolName }),
      query: z.strictObject({ days: pastDays }),
      body: MadeTool,
      answers: { 200: { description: 'What the draft would have done.', schema: DefinitionImpactView } },
    },
    async ({ answer, services, principal, params: { canonical }, query: { days }, body: { name: _name, aliases: _aliases, ...draft } }) => {
      requireAllowed(principal, { act: 'make-tool' });
      const before = await storedTool(services, principal, canonical);
      // The names and the code of the draft have no part in how arguments are checked.
      const after = { ...toMadeDefinition(canonical, { ...draft, uses: [], pin: '' }), aliases: before?.aliases ?? [] };
      return answer(200, await compareDefinitions(services, principal, { before, after }, days));
    },
  ),
];

/** Throws `forbidden` for a shared tool that the toolsets of the key do not have. null: the tool is new. */
async function storedTool(services: HttpServices, principal: Principal, canonical: string): Promise<ToolDefinition | null> {
  const catalog = services.catalog(principal);
  if ((await nullIfNotFound(catalog.get('made-tool', canonical))) === null)
    return await findPrivateTool(catalog, principal.keyId, canonical);
  requireAllowed(principal, { act: 'read-tool', tool: canonical, has: await toolsOfKey(catalog, services.directory, principal) });
  return await catalog.tool(canonical);
}
