/** The tools of a toolset as a provider is sent them. */
import { z } from 'zod';
import { announceBlock } from '../../core/announce.ts';
import { offeredTools } from '../../core/alias-map.ts';
import type { AliasMap } from '../../core/alias-map.ts';
import type { EditionTool } from '../../core/edition.ts';
import type { Principal } from '../../core/principal.ts';
import { ToolsetName } from '../../core/toolset.ts';
import type { Services } from '../../wiring.ts';
import { editionHeader, editionName } from '../documents.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { aliasNames, readNames, Version } from '../toolset-names.ts';

const ToolsetTools = z
  .object({
    toolset: ToolsetName,
    version: z.int(),
    provider: z.string(),
    tools: z.array(
      z.object({
        canonical: z.string(),
        wireName: z.string(),
        aliases: z.array(z.string()),
        state: z.enum(['ready', 'missing', 'held']),
        definition: z
          .record(z.string(), z.unknown())
          .nullable()
          .meta({ description: 'As this provider is sent it; null: it is not sent.' }),
      }),
    ),
    prompt: z.string().nullable().meta({ description: 'The block about aliases that the system prompt gets; null: none.' }),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .meta({ id: 'ToolsetTools' });

export function mountToolsetTools(app: App): void {
  mount(
    app,
    {
      tag: 'Toolsets',
      scopes: ['tools'],
      params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }),
      method: 'get',
      path: '/v1/toolsets/{toolset}/tools',
      operationId: 'listToolsetTools',
      summary: 'The tools as a provider is sent them',
      query: z.strictObject({
        provider: z.string().min(1).max(32).default('openai').meta({ description: 'A kind or a configured provider.' }),
        version: Version,
      }),
      answers: { 200: { description: 'In the order they are sent.', schema: ToolsetTools, headers: editionHeader } },
      problems: ['model_not_found'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      await requireProvider(services, principal, query.provider);
      const prompt = announceBlock(names);
      const answer = {
        toolset: pointer.toolset,
        version: pointer.version,
        provider: query.provider,
        tools: toolRows(names),
        prompt: prompt === '' ? null : prompt,
        warnings: stateWarnings(names),
      };
      return c.json(answer, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );
}

/** Kinds are known without being configured; every one there is so far takes the OpenAI form. */
async function requireProvider(services: Services, principal: Principal, provider: string): Promise<void> {
  if (provider !== 'openai' && provider !== 'openai-compatible') await services.directory.provider(principal.workspace, provider);
}

/** What is sent first, in its order, then what is listed and not sent. */
function toolRows(names: AliasMap) {
  const sent = offeredTools(names).map(({ name, description, inputSchema, tool }) => ({
    ...toolRow(tool),
    wireName: name,
    definition: { type: 'function', function: { name, description, parameters: inputSchema } },
  }));
  return [...sent, ...names.tools.filter((tool) => tool.state !== 'ready').map((tool) => ({ ...toolRow(tool), definition: null }))];
}

function toolRow(tool: EditionTool) {
  return { canonical: tool.canonical, wireName: tool.wireName, aliases: aliasNames(tool), state: tool.state };
}

function stateWarnings(names: AliasMap) {
  return names.tools.flatMap((tool, index) => {
    if (tool.state === 'ready') return [];
    const why = tool.state === 'held' ? 'is held until its change is accepted' : 'was never listed by its server';
    return [{ path: `tools[${index}].tool`, message: `${tool.canonical} ${why}; it cannot be called` }];
  });
}
