/** An agent: a model, instructions and a toolset under one name (contract §8). Chat clients use it as the model `agent/<name>`. */
import { boundedText } from '../text/bounded-text.ts';
import { ModelTimeouts } from '../model/timeouts.ts';
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { ModelPatterns } from '../model/model-name.ts';
import { SkillName } from '../skills/skill.ts';
import { ToolsetName, ToolsetReference } from '../toolset/toolset.ts';
import { agentUsageLimits } from '../usage-limits.ts';

export const maxAgentSkills = 50;

export const ResourceName = ToolsetName;

/** `provider/model`, split at the first `/` only, or a name that a model alias of the workspace matches when the model is used. */
export const ModelRef = z
  .string()
  .regex(/^([a-z][a-z0-9-]{0,31}\/.{1,200}|[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127})$/, {
    message: 'must be <provider>/<model>, such as rehearsal/default, or the name of a model alias',
  })
  .meta({
    id: 'ModelRef',
    description: '`<provider>/<model>`, or the name of a model alias, which is resolved for each turn.',
    example: 'rehearsal/default',
  });

export const AgentLimits = z
  .strictObject({
    maxSteps: z.int().min(1).max(limits.maxStepsPerTurn).optional(),
    maxCalls: z.int().min(1).max(limits.maxCallsPerTurn).optional(),
    toolTimeoutMs: z.int().min(1).max(limits.serverTimeoutMs).optional(),
    turnTimeoutMs: z.int().min(1).max(limits.turnTimeoutMs).optional(),
    maxTokens: z.int().min(1).optional().meta({ description: 'Maximum input and output tokens of a whole turn.' }),
    maxCost: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .meta({ description: 'Maximum cost of a whole turn, of models and tools, in the unit of the providers’ `prices`.' }),
    onLimit: z.enum(['end', 'ask']).optional().meta({
      description:
        'What a turn does that has used `maxCost`: `end` (default), or `ask`: it waits for an approval, and may use the same amount once more with each.',
    }),
    maxContextTokens: z
      .int()
      .min(1_000)
      .max(10_000_000)
      .optional()
      .meta({
        description: `Estimated size of the conversation in tokens above which older turns are summarized and old tool results of the current turn are shortened. Default ${limits.maxContextTokens}.`,
      }),
    ...agentUsageLimits,
  })
  .refine(({ onLimit, maxCost }) => onLimit === undefined || maxCost !== undefined, { path: ['onLimit'], message: 'needs `maxCost`' })
  .meta({ id: 'AgentLimits' });
export type AgentLimits = z.infer<typeof AgentLimits>;

/** Defaults for fields that a request leaves out. */
export const AgentSettings = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional(),
    topP: z.number().min(0).max(1).optional(),
    maxOutputTokens: z.int().min(1).optional().meta({ description: 'Maximum output tokens of one step.' }),
    reasoningEffort: z.string().min(1).max(40).optional().meta({ description: '`none`, `minimal`, `low`, `medium`, `high`, …' }),
    reasoningBudget: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Maximum reasoning tokens, for providers that support a token budget.' }),
    parallelToolCalls: z.boolean().optional().meta({
      description:
        '`false`: the calls of a step run one after the other, and the model is asked for one call at a time if its API has such a setting. Default: in parallel; with the text protocol, one after the other.',
    }),
  })
  .meta({ id: 'AgentSettings' });

export const Agent = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'Must equal the name in the path, if given.' }),
    description: boundedText(limits.maxDescriptionBytes).optional(),
    model: ModelRef,
    fallbacks: z.array(ModelRef).max(8).optional(),
    models: ModelPatterns.optional().meta({
      description:
        'Patterns of the only models that turns of the agent may use, after aliases. Absent: all. A turn with another one is rejected.',
    }),
    instructions: z.string().max(100_000).default(''),
    toolset: ToolsetReference.optional().meta({
      description: 'The toolset whose tools the agent can use: the newest version, or a fixed version such as `demo@3`.',
    }),
    tools: z.array(z.string().min(1).max(limits.maxCanonicalNameLength)).max(limits.maxToolsetEntries).optional().meta({
      description: 'Allow-list of tool names in any spelling. Absent: all tools of the toolset; empty: none.',
    }),
    made: z.boolean().optional().meta({
      description: 'Also offers the made tools of the workspace whose inner tools the agent can use. Takes effect on the next turn.',
    }),
    codeMode: z.boolean().optional().meta({
      description:
        'Replaces the tools that the model sees with a single tool, `run_code`, whose code calls them. Results stay out of the conversation unless the code returns them.',
    }),
    taint: z.boolean().optional().meta({
      description:
        'Requires approval before data is sent out of a conversation that contains private and untrusted content. Absent: the policy decides. `false` applies to the agent’s own toolset only, and needs an unbound key with scope `admin`; other keys then cannot change what the agent can do.',
    }),
    skills: z.array(SkillName).max(maxAgentSkills).optional().meta({ description: 'Names of the skills that the agent may load.' }),
    clientTools: z.enum(['replace', 'strict']).optional().meta({
      description:
        'If a tool of the caller has a name of a server tool: `replace` (default) leaves the server tool out of the turn, `strict` rejects the request.',
    }),
    protocol: z.enum(['native', 'text']).optional().meta({
      description:
        'How tool definitions are sent to the model: in the API’s tool fields, or in the prompt. Absent: the provider’s profile decides.',
    }),
    settings: AgentSettings.optional(),
    timeouts: ModelTimeouts.optional(),
    limits: AgentLimits.optional(),
  })
  .meta({ id: 'Agent', example: { model: 'rehearsal/default', instructions: 'Answer in one sentence.', toolset: 'demo' } });
export type Agent = z.infer<typeof Agent>;

/** Splits a `provider/model`, which is no alias. The model part may contain `/`. */
export function splitModelRef(ref: string): { provider: string; model: string } {
  const slash = ref.indexOf('/');
  return { provider: ref.slice(0, slash), model: ref.slice(slash + 1) };
}
