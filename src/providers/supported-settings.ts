/**
 * The settings of a request that its model supports, independent of the API: without what the profile marks as unsupported, so that the
 * adapters only rename the rest. Reasoning is requested as `reasoningBudget` in tokens, `reasoningEffort` as a name, or both; the adapter
 * decides what its API supports, and the profile which efforts a model supports.
 */
import { definedSettings, type ModelSettings } from '../core/turn/plan.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import { isRecord, type Json } from '../core/json/wire-value.ts';

export function supportedSettings(settings: ModelSettings, profile: Profile, hasTools: boolean): ModelSettings {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, stop, parallelToolCalls, responseFormat, ...taken } = settings;
  if (!profile.noSampling) Object.assign(taken, definedSettings({ temperature, topP, topK }));
  if (!profile.noPenalties) Object.assign(taken, definedSettings({ frequencyPenalty, presencePenalty }));
  if (!profile.noStop && stop !== undefined && stop.length > 0) Object.assign(taken, { stop });
  // Settings about tools are rejected if there are no tools.
  if (hasTools && profile.parallelToolCalls) Object.assign(taken, definedSettings({ parallelToolCalls }));
  if (!hasTools || profile.formatWithTools) Object.assign(taken, definedSettings({ responseFormat }));
  return { ...definedSettings({ maxOutputTokens: profile.defaultMaxTokens ?? undefined }), ...taken };
}

/** Returns the requested output format, for APIs that differ from Chat Completions. null: any; `schema` null: any JSON. */
export function requestedFormat({ responseFormat: format }: ModelSettings): { schema: Json | null } | null {
  if (!isRecord(format)) return null;
  if (format.type === 'json_object') return { schema: null };
  if (format.type !== 'json_schema') return null;
  const named = format.json_schema;
  return { schema: isRecord(named) && isRecord(named.schema) ? named.schema : null };
}

/** `off`: none. Otherwise at least one of the two is set. */
export type RequestedReasoning = 'off' | { budget?: number; effort?: string };

/** null: not set. A budget takes precedence over the effort if they contradict: 0 is `off`, any other is not. */
export function requestedReasoning({ reasoningBudget: budget, reasoningEffort: effort }: ModelSettings): RequestedReasoning | null {
  if (budget === undefined && effort === undefined) return null;
  if (budget === 0 || (budget === undefined && effort === 'none')) return 'off';
  return { ...(budget !== undefined && { budget }), ...(effort !== undefined && effort !== 'none' && { effort }) };
}

/** Returns an effort that the model supports. A budget alone becomes the effort with about as many tokens. */
export function effortLevel(reasoning: RequestedReasoning, efforts: readonly string[] | null): string {
  return nearest(reasoning === 'off' ? 'none' : (reasoning.effort ?? wordOf(reasoning.budget ?? 0)), efforts);
}

function wordOf(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high';
}

const ladder: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Returns the smallest supported effort that is not less, otherwise the largest. Unknown names of the provider are kept. */
function nearest(word: string, efforts: readonly string[] | null): string {
  if (efforts === null || efforts.includes(word) || !ladder.includes(word)) return word;
  const wanted = ladder.indexOf(word);
  return efforts.find((effort) => ladder.indexOf(effort) >= wanted) ?? efforts.at(-1) ?? word;
}
