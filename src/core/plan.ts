/**
 * A turn's plan: everything the turn needs to know that does not come from the conversation, fixed when the turn is
 * accepted and stored with it. It names its edition by hash; the session reads the body through the edition cache.
 */
import type { AgentLimits } from './agent.ts';
import type { EditionPointer } from './edition.ts';

export type Plan = {
  model: string;
  fallbacks: readonly string[];
  instructions: string;
  agent?: string;
  edition?: EditionPointer;
  /** Canonical names the turn may use: the agent's list in its own spelling was folded against the edition. null: all. */
  allow: readonly string[] | null;
  /** `MONIKER_ALIASES`, as it was when the turn was accepted. */
  aliases: boolean;
  limits: AgentLimits;
  /** Sampling settings of the request, passed to the provider. */
  settings: ModelSettings;
};

export type ModelSettings = {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  /** In the provider's own words: `low`, `high`, … */
  reasoningEffort?: string;
  /** JSON mode or a schema, as the OpenAI body has it; passed through. */
  responseFormat?: unknown;
  /** First step only; a wire or any other name of a tool the plan offers. */
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string };
  parallelToolCalls?: boolean;
};
