/**
 * The plan of a turn: everything the turn needs that does not come from the conversation, fixed when the turn is accepted and stored
 * with it. It names its edition by hash; the session loads the edition through the edition cache.
 */
import type { AgentLimits } from '../agent.ts';
import type { Price } from '../model/price.ts';
import { z } from 'zod';
import type { LimitedHolder } from '../usage-limits.ts';
import type { EditionPointer } from '../toolset/edition-tool.ts';
import { isObjectMember } from '../names/reserved-names.ts';
import type { PlanSkill } from '../skills/skill.ts';
import type { TraceCarrier } from '../telemetry/trace-context.ts';
import type { TurnTrigger } from '../triggers/delivery.ts';
import { KB } from '../limits/units.ts';

const maxClientToolDescriptionCharacters = 16 * KB;

export type Plan = {
  model: string;
  fallbacks: readonly string[];
  instructions: string;
  agent?: string;
  edition?: EditionPointer;
  /**
   * The tools that the turn may use, in the form that `buildAliasMap` takes: the agent's allow-list, matched against the edition.
   * null: all.
   */
  allow: readonly string[] | null;
  /** SHA-256 (hex) of an allow-list that many turns share, so that it can be recognized without reading its names. */
  allowHash?: string;
  /** The `MONIKER_ALIASES` setting when the turn was accepted. */
  aliases: boolean;
  limits: AgentLimits;
  /** With `limits.maxCost`: the prices of the plan's models when the turn was accepted. */
  prices?: readonly { model: string; price: Price }[];
  /** The hosts that tools of the turn may reach (`egressHosts` of the key). Absent: all. */
  egressHosts?: readonly string[];
  /** Whose limits the turn counts for, with the limits when it was accepted. Absent: there are none. */
  limited?: readonly LimitedHolder[];
  /** Sampling settings of the request, passed to the provider. */
  settings: ModelSettings;
  /**
   * How tool definitions are sent to the model: in the API's tool fields, or in the prompt. Absent: the provider's profile decides.
   */
  protocol?: 'native' | 'text';
  /**
   * Fields of the calling key, for presets (`{"caller": "team"}`): `key`, `workspace` and the fields set when the key was created.
   */
  caller?: Readonly<Record<string, string>>;
  /** The skills that the agent may load; their text is read on request. */
  skills?: readonly PlanSkill[];
  /**
   * The edition of all shared made tools of the workspace, offered after those of the toolset, if the plan has their inner tools.
   */
  made?: EditionPointer;
  /** The edition of the made tools that are private to the key, offered before the shared ones. */
  ownMade?: EditionPointer;
  /** The agent is offered made tools, also if there were none yet. */
  offersMade?: true;
  /** The made tools of both editions that the request allows (canonical names); absent: all. */
  madeAllow?: readonly string[];
  /** The model gets only `run_code`. */
  codeMode?: true;
  /** What started the turn if it was not a request: the trigger to notify of its end. */
  trigger?: TurnTrigger;
  /** The span of the request that accepted the turn or call; absent: telemetry is off. */
  trace?: TraceCarrier;
  /** The agent's own setting for the taint rule. */
  taint?: boolean;
  /** The caller's own tools: offered after those of the toolset, run by the caller. */
  clientTools?: readonly ClientTool[];
  /** Server tools that the turn does not offer because the caller's tool `by` has one of their names. */
  replaced?: readonly { canonical: string; by: string }[];
};

/** A tool that the caller of a turn runs itself. Its canonical name is `client.<name>`. */
export const ClientTool = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, { message: 'must be 1-64 of letters, digits, _ and -, not beginning with a digit or -' })
      .refine((name) => !isObjectMember(name), { message: 'is a member of every JavaScript object. Choose another name' }),
    description: z.string().max(maxClientToolDescriptionCharacters).default(''),
    inputSchema: z.record(z.string(), z.unknown()).default({ type: 'object' }),
  })
  .meta({ id: 'ClientTool' });
export type ClientTool = z.infer<typeof ClientTool>;

/** A function in the format of the OpenAI API; unknown fields are accepted. */
const OpenAiTool = z
  .object({
    type: z.literal('function'),
    function: z.object({
      name: ClientTool.shape.name,
      description: z.string().max(maxClientToolDescriptionCharacters).nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    }),
  })
  .meta({ id: 'OpenAiTool' });

/** Accepts both formats and returns one: the only place on native paths that knows the OpenAI format. */
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
  /** `none`, `minimal`, `low`, `medium`, `high`, or a provider-specific value. */
  reasoningEffort?: string;
  /** Maximum reasoning tokens; takes precedence over `reasoningEffort` for providers that support a token budget. 0: none. */
  reasoningBudget?: number;
  /** JSON mode or a schema in the format of the OpenAI body; passed through. */
  responseFormat?: unknown;
  /** Applies to the first step only; a wire name or any other name of a tool that the plan offers. */
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string };
  /** False: the calls of a step run one after the other. Absent: in parallel, except for the text protocol. */
  parallelToolCalls?: boolean;
};

export type GivenSettings = { readonly [Name in keyof ModelSettings]?: ModelSettings[Name] | null | undefined };

/** Removes settings that are not set (null or absent): an undefined value would hide an inherited one. */
export function definedSettings(given: GivenSettings): ModelSettings {
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) if (value != null) settings[name] = value;
  // The same names; only values that are set.
  return settings as ModelSettings;
}
