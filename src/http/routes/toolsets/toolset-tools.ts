/** The tools of a toolset as a provider receives them. `http/routes/toolsets/toolset-report.ts` builds the response. */
import * as z from 'zod';
import { Problem, Warning } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { ProviderAccess } from '../../../core/model/provider.ts';
import { ProviderKind } from '../../../core/names/provider-kind.ts';
import type { ToolsetStanding } from '../../../core/toolset/edition-tool.ts';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import { exampleAccess } from '../../../providers/wire-tool-names.ts';
import { editionHeader, editionName } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { ofToolset, readNames, Version } from './toolset-names.ts';
import { reportTools, tokenizer, estimatedTokens, ToolReport } from './toolset-report.ts';

export const ToolsetTools = z
  .object({
    toolset: ToolsetName,
    version: z.int(),
    provider: z.string(),
    tools: z.array(ToolReport),
    tokens: estimatedTokens.meta({
      description: 'Tokens sent with the first step: the definitions that are not on demand, and the prompt.',
    }),
    promptTokens: estimatedTokens,
    tokenizer: z.string().meta({ description: 'How tokens are counted.' }),
    prompt: z.string().nullable().meta({
      description:
        'Text added to the system prompt: instructions of trusted servers, the block about aliases, and with the text protocol the tools. null: none.',
    }),
    warnings: z.array(Warning).meta({
      description:
        'Tools that cannot be called or sent, why the toolset still has the tools of an earlier build, and possible improvements: too many definitions for clients and models, names over 40 characters, descriptions that are similar, empty or long, and schema features that this provider does not support.',
    }),
  })
  .meta({
    id: 'ToolsetTools',
    example: {
      toolset: 'demo',
      version: 1,
      provider: 'openai',
      tools: [
        {
          canonical: 'builtin.bash',
          wireName: 'terminalRun',
          aliases: ['shell'],
          kind: 'builtin',
          state: 'ready',
          entry: 'tools[0]',
          definition: {
            type: 'function',
            function: {
              name: 'terminalRun',
              description: 'Runs a command.',
              parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
            },
          },
          tokens: 44,
          changes: [],
        },
      ],
      tokens: 84,
      promptTokens: 40,
      tokenizer,
      prompt:
        '## Tool names\nA tool may be called by the name at the left or by any of its aliases:\n- terminalRun = builtin.bash (aliases: shell): Runs a command.',
      warnings: [],
    },
  });

export const ProviderQuery = {
  provider: z
    .string()
    .min(1)
    .max(32)
    .default('openai')
    .meta({ description: 'A configured provider, a kind, or `text` for models that receive tools in the prompt.' }),
  model: z.string().min(1).max(200).optional().meta({ description: 'Known properties of this model are applied as well.' }),
  codeMode: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Show them as sent to the model of an agent with `codeMode`: one tool, and declarations in the prompt.' }),
};

export const toolsetToolRoutes = [
  defineRoute(
    {
      ...ofToolset,
      scopes: ['tools'],
      method: 'get',
      path: '/v1/toolsets/{toolset}/tools',
      operationId: 'listToolsetTools',
      summary: 'Show the tools as a provider receives them',
      query: z.strictObject({ ...ProviderQuery, version: Version }),
      description:
        'Exact definitions, each with the changes for this provider and its tokens; then tools that are loaded on demand, and those that are not sent.',
      answers: { 200: { description: 'The tools, in the order they are sent.', schema: ToolsetTools, headers: editionHeader } },
      problems: ['model_not_found'],
    },
    async ({ answer, services, principal, params, query }) => {
      const { pointer, names, standing } = await readNames(services, principal, params.toolset, query.version);
      const { provider, model = '', codeMode } = query;
      const access = provider === 'text' ? null : await accessOf(services, principal, provider);
      const report = reportTools(names, { provider, access, model, codeMode: codeMode === 'true' });
      const view = {
        toolset: pointer.toolset,
        version: pointer.version,
        provider,
        ...report,
        warnings: [...staleWarnings(standing), ...report.warnings],
        tokenizer,
      };
      return answer(200, view, { 'x-moniker-edition': editionName(pointer) });
    },
  ),
];

/** The tools may have changed since, so that calls fail. */
function staleWarnings({ stale }: ToolsetStanding = {}): z.infer<typeof Warning>[] {
  if (stale === undefined) return [];
  return [
    {
      path: 'tools',
      message: `are those of an earlier build of this service, because the toolset cannot be compiled for this one: ${stale}. Write it again`,
    },
  ];
}

/** A configured provider takes precedence over the kind with its name: its own profile applies. */
export async function accessOf(services: HttpServices, principal: Principal, provider: string): Promise<ProviderAccess> {
  try {
    return await services.directory.provider(principal.workspace, provider);
  } catch (error) {
    const kind = ProviderKind.safeParse(provider);
    if (kind.success && error instanceof Problem && error.code === 'model_not_found') return exampleAccess(kind.data);
    throw error;
  }
}
