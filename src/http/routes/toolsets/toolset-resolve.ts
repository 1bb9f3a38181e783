/** Explains what a called name means in a toolset (contract §3.5). `toolset-use.ts` calls tools. */
import * as z from 'zod';
import { isUnbound } from '../../../core/people/authority.ts';
import { resolveName, type AliasMap, type Resolution } from '../../../core/toolset/alias-map.ts';
import { ApprovalRule } from '../../../core/toolset/approval-rule.ts';
import { EntryArguments, EntryResult } from '../../../core/toolset/toolset.ts';
import { explainHit, explainMiss } from '../../../core/toolset/explain.ts';
import { Hold } from '../../../core/tools/hold.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Via } from '../../../core/model/message.ts';
import { Problem } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { ToolKind } from '../../../core/tools/tool.ts';
import { editionHeader, editionName } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { aliasNames, ofToolset, readNames, ToolState, Version } from './toolset-names.ts';

const ResolvedName = z
  .object({
    requested: z.string(),
    canonical: z.string(),
    wireName: z.string(),
    via: Via,
    aliases: z.array(z.string()),
    because: z.string().meta({ description: 'Why the name means this tool, in a sentence.' }),
    entry: z
      .string()
      .nullable()
      .meta({ description: 'Its path in the document; null for a tool that is added automatically.', example: 'tools[0]' }),
    server: z.string(),
    ownName: z.string().meta({ description: 'The name from its source.' }),
    kind: ToolKind,
    state: ToolState,
    blocked: z.string().optional().meta({ description: 'Why it cannot be called. Absent if it can.' }),
    deprecated: z.string().optional().meta({ description: 'Deprecation notice for calls by this name.' }),
    approval: ApprovalRule,
    arguments: EntryArguments.optional().meta({
      description: 'The entry’s argument settings: presets are hidden from the model. Secrets are shown by name only.',
    }),
    result: EntryResult.optional(),
    refId: z.string().optional().meta({ description: '`refId` of the accepted definition.' }),
    held: Hold.optional(),
    renamedTo: z.string().optional().meta({ description: 'For a missing tool: the tool that now has its definition.' }),
  })
  .meta({
    id: 'ResolvedName',
    example: {
      requested: 'Shell',
      canonical: 'builtin.bash',
      wireName: 'terminalRun',
      via: 'folded',
      aliases: ['shell', 'bash'],
      because: '"Shell" is "shell" in another spelling, which is an announced alias of builtin.bash; the wire name is "terminalRun".',
      entry: 'tools[0]',
      server: 'builtin',
      ownName: 'bash',
      kind: 'builtin',
      state: 'ready',
      approval: 'policy',
      refId: 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2',
    },
  });

export const toolsetResolveRoutes = [
  defineRoute(
    {
      ...ofToolset,
      scopes: ['tools'],
      method: 'get',
      path: '/v1/toolsets/{toolset}/resolve',
      operationId: 'resolveToolName',
      summary: 'Explain what a called name means',
      description:
        'Names are matched level by level: wire name, canonical name, alias, own name, and then all of them ignoring spelling differences; the first level with a match decides.  ' +
        'A name that matches no tool, or several, is a problem whose `detail` explains why; `elsewhere` lists similar tools without an entry in the toolset.',
      query: z.strictObject({
        name: z.string().min(1).max(limits.maxToolNameLength).meta({ example: 'Shell' }),
        version: Version,
      }),
      answers: { 200: { description: 'The tool, and how the name matched.', schema: ResolvedName, headers: editionHeader } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ answer, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      const resolution = resolveName(names, query.name);
      if (!resolution.ok) throw await missProblem(services, principal, names, resolution);
      const { requested, canonical, wireName, via, tool } = resolution;
      const view = { requested, canonical, wireName, via, aliases: aliasNames(tool), ...explainHit(names, resolution) };
      return answer(200, view, { 'x-moniker-edition': editionName(pointer) });
    },
  ),
];

async function missProblem(
  services: HttpServices,
  principal: Principal,
  names: AliasMap,
  miss: Exclude<Resolution, { ok: true }>,
): Promise<Problem> {
  const { requested } = miss;
  if (miss.code === 'ambiguous_tool')
    return new Problem('ambiguous_tool', explainMiss(names, miss, []), { requested, candidates: miss.candidates });
  const elsewhere = await findElsewhere(services, principal, names, requested);
  return new Problem('unknown_tool', explainMiss(names, miss, elsewhere), {
    requested,
    suggestions: miss.suggestions,
    ...(elsewhere.length > 0 && { elsewhere }),
  });
}

/** Only for keys that may see all tools of the workspace. Costs one Catalog call, only for a name without a tool. */
async function findElsewhere(services: HttpServices, principal: Principal, names: AliasMap, requested: string): Promise<string[]> {
  if (!isUnbound(principal)) return [];
  const inside = new Set<string>(names.tools.map(({ canonical }) => canonical));
  const near = await nearInWorkspace(services, principal, requested);
  return near.filter((canonical) => !inside.has(canonical));
}

async function nearInWorkspace(services: HttpServices, principal: Principal, requested: string): Promise<string[]> {
  try {
    return [(await services.catalog(principal).tool(requested)).canonical];
  } catch (error) {
    // Only a hint: a Catalog error does not affect the explanation.
    const { suggestions } = error instanceof Problem ? error.extra : {};
    return Array.isArray(suggestions) ? suggestions.filter((name) => typeof name === 'string') : [];
  }
}
