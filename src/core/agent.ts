/** An agent: a model, instructions and a toolset under one name (DESIGN §8). Chat clients say `agent/<name>`. */
import { z } from 'zod';
import { limits } from './limits.ts';
import { SkillName } from './skills/skill.ts';
import { ToolsetReference } from './toolset-reference.ts';

export const ResourceName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/, { message: 'must be 1 to 50 of a-z, 0-9 and "-", with no "-" at either end' });

/** `provider/model`; split at the first `/` only. */
export const ModelRef = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}\/.{1,200}$/, { message: 'must be <provider>/<model>, such as rehearsal/default' })
  .meta({ id: 'ModelRef', example: 'rehearsal/default' });

export const AgentLimits = z
  .strictObject({
    maxSteps: z.int().min(1).max(limits.maxStepsPerTurn).optional(),
    maxCalls: z.int().min(1).max(limits.maxCallsPerTurn).optional(),
    toolTimeoutMs: z.int().min(1).max(limits.toolTimeoutMs).optional(),
    turnTimeoutMs: z.int().min(1).max(limits.turnTimeoutMs).optional(),
    maxTokens: z.int().min(1).optional().meta({ description: 'Input and output tokens of a whole turn.' }),
    maxCost: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .meta({ description: 'Of a whole turn, in the numbers of the providers’ `prices`.' }),
    maxContextTokens: z
      .int()
      .min(1_000)
      .max(10_000_000)
      .optional()
      .meta({
        description: `Estimated tokens of the conversation from which older turns are summed up, and old tool results of the turn are shortened. Default ${limits.maxContextTokens}.`,
      }),
  })
  .meta({ id: 'AgentLimits' });
export type AgentLimits = z.infer<typeof AgentLimits>;

/** Used where a request says nothing else. */
export const AgentSettings = z
  .strictObject({
    temperature: z.number().min(0).max(2).optional(),
    topP: z.number().min(0).max(1).optional(),
    maxOutputTokens: z.int().min(1).optional().meta({ description: 'Of one step.' }),
    reasoningEffort: z.string().min(1).max(40).optional().meta({ description: '`none`, `minimal`, `low`, `medium`, `high`, …' }),
    reasoningBudget: z.int().min(0).optional().meta({ description: 'Tokens, where the provider counts them.' }),
  })
  .meta({ id: 'AgentSettings' });

export const Agent = z
  .strictObject({
    name: ResourceName.optional().meta({ description: 'If given, equals the name in the path.' }),
    description: z.string().max(limits.maxDescriptionBytes).optional(),
    model: ModelRef,
    fallbacks: z.array(ModelRef).max(8).optional(),
    instructions: z.string().max(100_000).default(''),
    toolset: ToolsetReference.optional().meta({
      description: 'Whose tools it has: of the newest version, or of the one that is named, as in `demo@3`.',
    }),
    tools: z.array(z.string().min(1).max(192)).max(limits.maxToolsetEntries).optional().meta({
      description: 'Allow-list over the toolset, any spelling. Absent: all of it; empty: none.',
    }),
    made: z.boolean().optional().meta({
      description: 'Offers the made tools of the workspace as well, those whose own tools the agent has. From the next turn on.',
    }),
    codeMode: z.boolean().optional().meta({
      description:
        'In place of its tools the model gets one, `run_code`, whose code calls them: their results stay out of the conversation unless returned.',
    }),
    taint: z.boolean().optional().meta({
      description:
        'Asks before anything is sent out once the conversation holds private and untrusted content. Absent: as the policy says. `false`: for the own toolset of the agent; set by an unbound key with scope `admin`, and other keys then leave what the agent can do unchanged.',
    }),
    skills: z.array(SkillName).max(limits.maxAgentSkills).optional().meta({ description: 'Names of skills that the agent may read up.' }),
    protocol: z.enum(['native', 'text']).optional().meta({
      description: 'How tools are told to the model: in the API’s own fields, or in the prompt. Absent: as the provider’s profile says.',
    }),
    settings: AgentSettings.optional(),
    limits: AgentLimits.optional(),
  })
  .meta({ id: 'Agent', example: { model: 'rehearsal/default', instructions: 'Answer in one sentence.', toolset: 'demo' } });
export type Agent = z.infer<typeof Agent>;

/** A model ref's two halves; the model half may hold `/` itself. */
export function splitModelRef(ref: string): { provider: string; model: string } {
  const slash = ref.indexOf('/');
  return { provider: ref.slice(0, slash), model: ref.slice(slash + 1) };
}
