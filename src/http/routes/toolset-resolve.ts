/** What a called name means in a toolset, and why (DESIGN §3.5). Calling by it is `toolset-use.ts`. */
import { z } from 'zod';
import { isUnbound } from '../../core/authority.ts';
import { resolveName, type AliasMap, type Resolution } from '../../core/toolset/alias-map.ts';
import { EntryArguments, EntryResult } from '../../core/toolset/entry-rules.ts';
import { explainHit, explainMiss } from '../../core/toolset/explain.ts';
import { Hold } from '../../core/listing/hold.ts';
import { limits } from '../../core/limits.ts';
import { Via } from '../../core/turn/message.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { ToolKind } from '../../core/tools/tool.ts';
import { ApprovalRule, ToolsetName } from '../../core/toolset/toolset.ts';
import type { Services } from '../../wiring.ts';
import { editionHeader, editionName } from '../documents.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { aliasNames, readNames, ToolState, Version } from '../toolset-names.ts';

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
      .meta({ description: 'Its place in the document; null for a tool that is added to it.', example: 'tools[0]' }),
    server: z.string(),
    ownName: z.string().meta({ description: 'What its source calls it.' }),
    kind: ToolKind,
    state: ToolState,
    blocked: z.string().optional().meta({ description: 'Why it cannot be called. Absent: it can.' }),
    deprecated: z.string().optional().meta({ description: 'What a call by this name is told to do instead.' }),
    approval: ApprovalRule,
    arguments: EntryArguments.optional().meta({
      description: 'What the entry makes of them: presets are hidden from the model. Secrets by name only.',
    }),
    result: EntryResult.optional(),
    refId: z.string().optional().meta({ description: 'Of the definition that is in force.' }),
    held: Hold.optional(),
    renamedTo: z.string().optional().meta({ description: 'Of a missing tool: the one that has its definition now.' }),
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

export function mountToolsetResolve(app: App): void {
  mountRoute(
    app,
    {
      tag: 'Toolsets',
      scopes: ['tools'],
      params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }),
      method: 'get',
      path: '/v1/toolsets/{toolset}/resolve',
      operationId: 'resolveToolName',
      summary: 'What a called name means, and why',
      description:
        'Names are looked for level by level: wire name, canonical name, alias, own name, and then all of them without regard to spelling; the first level with a hit decides. ' +
        'A name that leads to no tool, or to several, is a problem whose `detail` says why; `elsewhere` names like tools that the toolset has no entry for.',
      query: z.strictObject({
        name: z.string().min(1).max(limits.maxToolNameBytes).meta({ example: 'Shell' }),
        version: Version,
      }),
      answers: { 200: { description: 'The tool, and how the name led to it.', schema: ResolvedName, headers: editionHeader } },
      problems: ['unknown_tool', 'ambiguous_tool'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      const resolution = resolveName(names, query.name);
      if (!resolution.ok) throw await missProblem(services, principal, names, resolution);
      const { requested, canonical, wireName, via, tool } = resolution;
      const answer = { requested, canonical, wireName, via, aliases: aliasNames(tool), ...explainHit(names, resolution) };
      return c.json(answer, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );
}

async function missProblem(
  services: Services,
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

/** Only for a key that may see all tools of the workspace; one question to the Catalog, which only a name without a tool costs. */
async function findElsewhere(services: Services, principal: Principal, names: AliasMap, requested: string): Promise<string[]> {
  if (!isUnbound(principal)) return [];
  const inside = new Set<string>(names.tools.map(({ canonical }) => canonical));
  const near = await nearInWorkspace(services, principal, requested);
  return near.filter((canonical) => !inside.has(canonical));
}

async function nearInWorkspace(services: Services, principal: Principal, requested: string): Promise<string[]> {
  try {
    return [(await services.catalog(principal).tool(requested)).canonical];
  } catch (error) {
    // Only a hint: whatever else is wrong with the Catalog, the answer to the question is known.
    const { suggestions } = error instanceof Problem ? error.extra : {};
    return Array.isArray(suggestions) ? suggestions.filter((name) => typeof name === 'string') : [];
  }
}
