/** The tools of a toolset as a provider is sent them. */
import { z } from 'zod';
import type { AliasMap } from '../../core/alias-map.ts';
import { offeredTools, type OfferedName } from '../../core/offered-tools.ts';
import type { EditionTool } from '../../core/edition.ts';
import { joinParagraphs } from '../../core/paragraphs.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import type { ProviderAccess } from '../../core/provider.ts';
import { ProviderKind } from '../../core/provider-kind.ts';
import { toolPrompt } from '../../core/system-prompt.ts';
import { ToolsetName } from '../../core/toolset.ts';
import { charactersPerToken } from '../../core/transcript.ts';
import { exampleAccess, type ShownTools, showText, showTools } from '../../providers/shown-tools.ts';
import type { Services } from '../../wiring.ts';
import { editionHeader, editionName } from '../documents.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { aliasNames, readNames, Version } from '../toolset-names.ts';

const tokens = z.int().meta({ description: 'An estimate: four characters of the JSON that is sent are counted as one token.' });

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
          .meta({ description: "As the body of this provider's API holds it; null: it is not sent, and a warning says why." }),
        tokens,
        changes: z.array(z.object({ path: z.string(), message: z.string() })).meta({
          description:
            "What is told otherwise than in the toolset: `path` is a JSON Pointer into the tool's input schema, '' the tool itself.",
        }),
      }),
    ),
    tokens,
    prompt: z.string().nullable().meta({
      description:
        'What the system prompt gets: what trusted servers say of their tools, the block about aliases, and with the text protocol the tools. null: nothing.',
    }),
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
        provider: z
          .string()
          .min(1)
          .max(32)
          .default('openai')
          .meta({ description: 'A configured provider, a kind, or `text` for models that are told of tools in the prompt.' }),
        model: z.string().min(1).max(200).optional().meta({ description: 'What is known of this model counts as well.' }),
        version: Version,
      }),
      answers: { 200: { description: 'In the order they are sent.', schema: ToolsetTools, headers: editionHeader } },
      problems: ['model_not_found'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      const shown = await shownTools(services, principal, query, offeredTools(names));
      const tools = toolRows(names, shown);
      const prompt = joinParagraphs(toolPrompt(names), shown.prompt);
      const answer = {
        toolset: pointer.toolset,
        version: pointer.version,
        provider: query.provider,
        tools,
        tokens: shown.prompt === null ? tools.reduce((sum, tool) => sum + tool.tokens, 0) : estimateTokens(shown.prompt),
        prompt: prompt === '' ? null : prompt,
        warnings: [...stateWarnings(names), ...leftWarnings(names, shown, query.provider)],
      };
      return c.json(answer, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );
}

async function shownTools(
  services: Services,
  principal: Principal,
  { provider, model = '' }: { provider: string; model?: string | undefined },
  offered: readonly OfferedName[],
): Promise<ShownTools> {
  if (provider === 'text') return showText(offered);
  return showTools(await accessOf(services, principal, provider), model, offered);
}

/** A configured provider goes before the kind of its name: its own profile counts. */
async function accessOf(services: Services, principal: Principal, provider: string): Promise<ProviderAccess> {
  try {
    return await services.directory.provider(principal.workspace, provider);
  } catch (error) {
    const kind = ProviderKind.safeParse(provider);
    if (kind.success && error instanceof Problem && error.code === 'model_not_found') return exampleAccess(kind.data);
    throw error;
  }
}

/** What is sent first, in its order, then what is listed and not sent. */
function toolRows(names: AliasMap, { definitions, changes }: ShownTools) {
  const sent = offeredTools(names).map(({ name, tool }) => {
    const definition = definitions.get(name) ?? null;
    const cost = definition === null ? 0 : estimateTokens(JSON.stringify(definition));
    return { ...toolRow(tool), wireName: name, definition, tokens: cost, changes: changes.get(name) ?? [] };
  });
  const others = names.tools.filter((tool) => tool.state !== 'ready');
  return [...sent, ...others.map((tool) => ({ ...toolRow(tool), definition: null, tokens: 0, changes: [] }))];
}

function toolRow(tool: EditionTool) {
  return { canonical: tool.canonical, wireName: tool.wireName, aliases: aliasNames(tool), state: tool.state };
}

function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

function stateWarnings(names: AliasMap) {
  return names.tools.flatMap((tool, index) => {
    if (tool.state === 'ready') return [];
    const why = tool.state === 'held' ? 'is held until its change is accepted' : 'was never listed by its server';
    return [{ path: `tools[${index}].tool`, message: `${tool.canonical} ${why}; it cannot be called` }];
  });
}

function leftWarnings(names: AliasMap, { left }: ShownTools, provider: string) {
  return offeredTools(names).flatMap(({ name, tool }) => {
    const why = left.get(name);
    return why === undefined
      ? []
      : [{ path: `tools[${names.tools.indexOf(tool)}].tool`, message: `${tool.canonical} is not sent to ${provider} as ${name}: ${why}` }];
  });
}
