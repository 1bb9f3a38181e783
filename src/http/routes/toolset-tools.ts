/** The tools of a toolset as a provider is sent them: the route. What is answered is made by `http/toolset-report.ts`. */
import { z } from 'zod';
import { Hold } from '../../core/listing/hold.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ProviderKind } from '../../core/model/provider-kind.ts';
import { ToolKind } from '../../core/tools/tool.ts';
import { ToolsetName } from '../../core/toolset/toolset.ts';
import { charactersPerToken } from '../../core/turn/transcript.ts';
import { exampleAccess } from '../../providers/wire-tool-names.ts';
import type { Services } from '../../wiring.ts';
import { editionHeader, editionName } from '../documents.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { readNames, ToolState, Version } from '../toolset-names.ts';
import { reportTools } from '../toolset-report.ts';
import { Warning } from '../../core/warning.ts';

/** No model's own: those differ, and for a choice of tools their order of size is enough. */
const tokenizer = `estimate: ${charactersPerToken} characters of what is sent are one token`;
const tokens = z.int().meta({ description: 'An estimate, by `tokenizer`.' });

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
        kind: ToolKind,
        state: ToolState,
        entry: z
          .string()
          .nullable()
          .meta({ description: 'Its place in the document, `tools[i]`; null: added to the list, because most tools are given on demand.' }),
        definition: z
          .record(z.string(), z.unknown())
          .nullable()
          .meta({ description: "As the body of this provider's API holds it; null: it is not sent, and `left` says why." }),
        tokens,
        changes: z.array(z.object({ path: z.string(), message: z.string() })).meta({
          description:
            "What is told otherwise than in the toolset: `path` is a JSON Pointer into the tool's input schema, '' the tool itself.",
        }),
        onDemand: z
          .literal(true)
          .optional()
          .meta({ description: 'Not sent from the start: once it was found with `find_tools`, or called.' }),
        left: z.string().optional().meta({ description: 'Why it is not sent.' }),
        hiddenArguments: z.array(z.string()).optional().meta({ description: 'Preset, and gone from the definition.' }),
        held: Hold.optional(),
        renamedTo: z.string().optional().meta({ description: 'Of a missing tool: the one that has its definition now.' }),
      }),
    ),
    tokens: tokens.meta({ description: 'Of what is sent with the first step: the definitions that are not on demand, and the prompt.' }),
    promptTokens: tokens,
    tokenizer: z.string().meta({ description: 'How tokens are counted.' }),
    prompt: z.string().nullable().meta({
      description:
        'What the system prompt gets: what trusted servers say of their tools, the block about aliases, and with the text protocol the tools. null: nothing.',
    }),
    warnings: z.array(Warning).meta({
      description:
        'What cannot be called or sent, and what might be mended: too many definitions for clients and models, names over 40 characters, descriptions that are alike, empty or long, and what schemas lose on the way to this provider.',
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

export function mountToolsetTools(app: App): void {
  mountRoute(
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
        codeMode: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'As the model of an agent with `codeMode` is sent them: one tool, and declarations in the prompt.' }),
        version: Version,
      }),
      description:
        'Exact definitions, each with what was changed for this provider and what it costs; then the tools that are given on demand, and those that are not sent.',
      answers: { 200: { description: 'In the order they are sent.', schema: ToolsetTools, headers: editionHeader } },
      problems: ['model_not_found'],
    },
    async ({ c, services, principal, params, query }) => {
      const { pointer, names } = await readNames(services, principal, params.toolset, query.version);
      const { provider, model = '', codeMode } = query;
      const access = provider === 'text' ? null : await accessOf(services, principal, provider);
      const answer = {
        toolset: pointer.toolset,
        version: pointer.version,
        provider,
        ...reportTools(names, { provider, access, model, codeMode: codeMode === 'true' }),
        tokenizer,
      };
      return c.json(answer, 200, { 'x-moniker-edition': editionName(pointer) });
    },
  );
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
