/**
 * The plan of a turn: everything the turn needs that does not come from the conversation, fixed when the turn is accepted and stored
 * with it. It names its edition by hash; the session loads the edition through the edition cache.
 */
import type { AgentLimits } from './agent.ts';
import type { ResolvedModel } from '../model/route.ts';
import type { ModelTimeouts } from '../model/timeouts.ts';
import type { DroppedItem, SettingNames } from '../model/dropped.ts';
import type { ModelSettings } from '../model/model-settings.ts';
import type { ModelPrice } from '../model/price.ts';
import * as z from 'zod';
import type { LimitedHolder } from '../usage-limits.ts';
import type { EditionPointer } from '../toolset/edition-tool.ts';
import { isObjectMember } from '../names/reserved-names.ts';
import type { PlanSkill } from '../skills/skill.ts';
import type { TraceCarrier } from '../telemetry/trace-context.ts';
import type { TurnTrigger } from './turn-trigger.ts';
import { KB } from '../limits/units.ts';

const maxClientToolDescriptionCharacters = 16 * KB;

/** Name → the tool, in the form of `Plan.allow`. */
export type AcceptedNames = Readonly<Record<string, string>>;

export type Plan = {
  model: string;
  fallbacks: readonly string[];
  /** With a route among them: the same models as what decides their order. Absent: they are asked in order. */
  routes?: readonly ResolvedModel[];
  instructions: string;
  agent?: string;
  edition?: EditionPointer;
  /**
   * The tools that the turn may use, in the form that `buildAliasMap` takes: the agent's allow-list, matched against the edition.
   * null: all.
   */
  allow: readonly string[] | null;
  /** Names of the agent's list and its skills that no tool of the plan has, as hidden aliases of the tools that they mean. */
  acceptedNames?: AcceptedNames;
  /** SHA-256 (hex) of an allow-list that many turns share, so that it can be recognized without reading its names. */
  allowHash?: string;
  /** The `MONIKER_ALIASES` setting when the turn was accepted. */
  aliases: boolean;
  limits: AgentLimits;
  /** With `limits.maxCost`: the prices of the plan's models when the turn was accepted. */
  prices?: readonly { model: string; price: ModelPrice }[];
  /** The hosts that tools of the turn may reach (`egressHosts` of the key). Absent: all. */
  egressHosts?: readonly string[];
  /** Whose limits the turn counts for, with the limits when it was accepted. Absent: there are none. */
  limited?: readonly LimitedHolder[];
  /** What the dialect of a chat request left out of it, and its names of settings, for what providers are not sent. */
  dropped?: { items: readonly DroppedItem[]; names: SettingNames };
  /** Sampling settings of the request, passed to the provider. */
  settings: ModelSettings;
  /** Those of the agent, which override its providers'. */
  timeouts?: ModelTimeouts;
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
  /** Of an agent's turn, what its request had; of another one, the same without what the plan has anyway (`askedOf`). Absent: nothing. */
  asked?: AskedOfTurn;
  /** Server tools that the turn does not offer because the caller's tool `by` has one of their names. */
  replaced?: readonly { canonical: string; by: string }[];
};

/**
 * What the request of a turn had, apart from the agent or model: stored with the turn, so that a replay can ask the same. `tools`: those of the
 * client. `allowed`: the names that it allowed; absent: all.
 */
export type AskedOfTurn = {
  toolset?: string;
  instructions?: string;
  settings?: ModelSettings;
  tools?: readonly ClientTool[];
  allowed?: readonly { name: string; path: string }[];
};

/** Returns what the request of a planned turn had; null: nothing apart from the agent or model. */
export function askedOf({ agent, asked, instructions, settings, clientTools: tools }: Plan): AskedOfTurn | null {
  const whole: AskedOfTurn = {
    ...(agent === undefined && instructions !== '' && { instructions }),
    ...(agent === undefined && Object.keys(settings).length > 0 && { settings }),
    ...asked,
    ...(tools !== undefined && { tools }),
  };
  return Object.keys(whole).length === 0 ? null : whole;
}

/**
 * A tool that the caller of a turn runs itself. Its canonical name is `client.<name>`. A model is shown a name that every provider accepts
 * (`toWireName`); the caller only sees its own.
 */
export const ClientTool = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-zA-Z0-9_.:/-]{1,128}$/, { message: 'must be 1-128 of letters, digits, _, -, ., : and /' })
      .refine((name) => !isObjectMember(name), { message: 'is a member of every JavaScript object. Choose another name' }),
    description: z.string().max(maxClientToolDescriptionCharacters).default(''),
    inputSchema: z.record(z.string(), z.unknown()).default({ type: 'object' }),
    strict: z.boolean().optional().meta({ description: 'The provider enforces the schema, if it can.' }),
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
      strict: z.boolean().nullish(),
    }),
  })
  .meta({ id: 'OpenAiTool' });

/** Accepts both formats and returns one: the only place on native paths that knows the OpenAI format. */
export const ClientToolInput = z.union([
  ClientTool,
  OpenAiTool.transform(
    ({ function: { name, description, parameters, strict } }): ClientTool => ({
      name,
      description: description ?? '',
      inputSchema: parameters ?? { type: 'object' },
      ...(strict === true && { strict }),
    }),
  ),
]);
