/**
 * A turn's plan: everything the turn needs to know that does not come from the conversation, fixed when the turn is
 * accepted and stored with it. It names its edition by hash; the session reads the body through the edition cache.
 */
import type { AgentLimits } from './agent.ts';
import type { Price } from './price.ts';
import { z } from 'zod';
import type { EditionPointer } from './edition-tool.ts';
import { limits } from './limits.ts';
import { isObjectMember } from './reserved-names.ts';
import type { PlanSkill } from './skills/skill.ts';
import type { TurnTrigger } from './triggers/delivery.ts';

export type Plan = {
  model: string;
  fallbacks: readonly string[];
  instructions: string;
  agent?: string;
  edition?: EditionPointer;
  /** What the turn may use, as `buildAliasMap` reads it: the agent's list in its own spelling was folded against the edition. null: all. */
  allow: readonly string[] | null;
  /** SHA-256 (hex) of a list that many turns share, so that its names need not be read to know it again. */
  allowHash?: string;
  /** `MONIKER_ALIASES`, as it was when the turn was accepted. */
  aliases: boolean;
  limits: AgentLimits;
  /** With `limits.maxCost`: the prices of the plan's models, as they were when the turn was accepted. */
  prices?: readonly { model: string; price: Price }[];
  /** Sampling settings of the request, passed to the provider. */
  settings: ModelSettings;
  /** How tools are told to the model: in the API's own fields, or in the prompt. Absent: as the provider's profile says. */
  protocol?: 'native' | 'text';
  /** Of the key that asked, for presets (`{"caller": "team"}`): `key`, `workspace` and what it was made with. */
  caller?: Readonly<Record<string, string>>;
  /** What the agent may read up; bodies are read when asked for. */
  skills?: readonly PlanSkill[];
  /** The edition of all shared made tools of the workspace, offered after the toolset's: those whose own tools the plan has. */
  made?: EditionPointer;
  /** The edition of the made tools that are private to the key, offered before the shared ones. */
  ownMade?: EditionPointer;
  /** Of both, the ones that the request leaves (canonical names); absent: all. */
  madeAllow?: readonly string[];
  /** The model gets `run_code` alone. */
  codeMode?: true;
  /** What began the turn, where no request did: who is to be told how it ends. */
  trigger?: TurnTrigger;
  /** The agent's own word on the taint rule. */
  taint?: boolean;
  /** The caller's own tools: offered after the toolset's, run by the caller. */
  clientTools?: readonly ClientTool[];
};

/** A tool that the caller of a turn runs itself. Its canonical name is `client.<name>`. */
export const ClientTool = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, { message: 'must be 1-64 of letters, digits, _ and -, not beginning with a digit or -' })
      .refine((name) => !isObjectMember(name), { message: 'is a member of every JavaScript object: give the tool another name' }),
    description: z.string().max(limits.maxClientToolDescriptionBytes).default(''),
    inputSchema: z.record(z.string(), z.unknown()).default({ type: 'object' }),
  })
  .meta({ id: 'ClientTool' });
export type ClientTool = z.infer<typeof ClientTool>;

/** A function as the OpenAI API takes it; fields that say nothing to us pass. */
const OpenAiTool = z
  .object({
    type: z.literal('function'),
    function: z.object({
      name: ClientTool.shape.name,
      description: z.string().max(limits.maxClientToolDescriptionBytes).nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    }),
  })
  .meta({ id: 'OpenAiTool' });

/** Either spelling, read as one: the only place where the foreign one is known on native paths. */
export const ClientToolInput = z.union([
  ClientTool,
  OpenAiTool.transform(
    ({ function: { name, description, parameters } }): ClientTool => ({
      name,
      description: description ?? '',
      inputSchema: parameters ?? { type: 'object' },
    }),
  ),
]);

export type ModelSettings = {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  topK?: number;
  /** `none`, `minimal`, `low`, `medium`, `high`, or a word of the provider's own. */
  reasoningEffort?: string;
  /** Tokens that the model may think for; goes before `reasoningEffort` where a provider counts them. 0: none. */
  reasoningBudget?: number;
  /** JSON mode or a schema, as the OpenAI body has it; passed through. */
  responseFormat?: unknown;
  /** First step only; a wire or any other name of a tool the plan offers. */
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string };
  parallelToolCalls?: boolean;
};
