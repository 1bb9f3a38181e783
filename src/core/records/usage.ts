/**
 * Usage: what calls of models and tools used and cost, as daily sums (`GET /v1/usage`), and the log of requests to models and of turns
 * (`GET /v1/requests`). A `UsageReport` is the unit in which both are sent to the shards that store them (`src/objects/usage/`).
 */
import * as z from 'zod';
import { Via } from '../model/message.ts';
import type { AuditRow } from './audit.ts';
import { addUsage, noUsage, Usage } from '../model/chat-event.ts';
import { costOf, type ModelPrice } from '../model/price.ts';
import type { DroppedItem } from '../model/dropped.ts';
import type { LimitHolder } from '../usage-limits.ts';

const count = z.int().nonnegative();

/** What the calls of one model, or of one tool, add up to. */
const CallCounts = z.object({
  calls: count,
  failures: count.meta({ description: 'Calls that failed, which are also counted in `calls`.' }),
  durationMs: z.number().nonnegative().meta({ description: 'Sum over the calls.' }),
});

const TokenCounts = z.object({
  inputTokens: count.meta({ description: 'Includes cached input.' }),
  cachedInputTokens: count,
  cacheWriteInputTokens: count,
  outputTokens: count.meta({ description: 'Includes reasoning.' }),
  reasoningTokens: count,
});

const Cost = z.object({
  cost: z.number().nonnegative().nullable().meta({
    description: 'Of the calls whose cost is known; null: of none. USD, unless a provider has `prices` in another currency.',
  }),
  unpricedCalls: count.meta({ description: 'Calls whose cost is unknown: the model has no price, or the provider reported no tokens.' }),
  toolCost: z.number().nonnegative().optional().meta({ description: 'The part of `cost` that calls of tools cost, in USD. Absent: none.' }),
});

const dimension = z.string().nullable().optional();

export const usageDimensions = ['day', 'key', 'agent', 'provider', 'model', 'toolset', 'tool', 'requested', 'via'] as const;
export type UsageDimension = (typeof usageDimensions)[number];
/** Of calls of tools, which have no model. */
export function isOfTools(by: readonly UsageDimension[]): boolean {
  return by.includes('tool') || isByName(by);
}
/** Names that are no tool are counted only where names are. */
export function isByName(by: readonly UsageDimension[]): boolean {
  return by.includes('requested') || by.includes('via');
}

const UsageCounts = CallCounts.extend({
  ...TokenCounts.partial().shape,
  ...Cost.partial().shape,
  unreportedCalls: count.optional().meta({ description: 'Calls for which the provider reported no tokens, such as interrupted ones.' }),
  cachedCalls: count.optional().meta({ description: 'Answered by a cached reply; also in `calls`.' }),
  savedCost: z.number().nonnegative().optional().meta({ description: 'What they had cost, if known.' }),
  savedTokens: count.optional().meta({ description: 'What they had used.' }),
});

export const UsageRow = UsageCounts.extend({
  day: z.iso.date().optional().meta({ description: 'In UTC.' }),
  key: z.string().optional().meta({ description: 'Id of the key.' }),
  agent: dimension,
  provider: z.string().optional(),
  model: z.string().optional().meta({ description: '`<provider>/<model>` as called, so after aliases, agents and fallbacks.' }),
  toolset: dimension,
  tool: dimension.meta({ description: 'Canonical name. null, with `requested` or `via`: the name was of no tool, or of several.' }),
  requested: dimension.meta({
    description: 'The name that was called. null: not kept, because there were too many, or before this was counted.',
  }),
  via: Via.nullable().optional().meta({ description: 'How the name led to the tool. null: it led to none, or was not kept.' }),
  lastDay: z.iso.date().optional().meta({ description: 'With `requested` or `via`: the last day with such a call.' }),
  overcount: count.optional().meta({
    description: 'At most so many of `calls` were of other names that are no tools: a day keeps the most frequent ones. Absent: none.',
  }),
}).meta({
  id: 'UsageRow',
  description:
    'The fields of `by`, null where there is none, and sums. Tokens belong to models: groups by tool have none. Groups by model or provider do not have the cost of tools.',
  example: {
    day: '2026-01-01',
    model: 'openai/gpt-5',
    ...{ calls: 2, failures: 0, durationMs: 1800, inputTokens: 240, cachedInputTokens: 64, cacheWriteInputTokens: 0 },
    ...{ outputTokens: 70, reasoningTokens: 20, cost: 0.00093, unpricedCalls: 0, unreportedCalls: 0 },
  },
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageTotals = UsageCounts.meta({ id: 'UsageTotals' });
export type UsageTotals = z.infer<typeof UsageTotals>;

export const RequestEntry = z
  .object({
    id: z.string().meta({ description: 'Id of the row: for a turn the id of the turn.' }),
    kind: z.enum(['request', 'turn']).meta({ description: '`request`: a request that was sent to a provider without a turn.' }),
    at: z.iso.datetime(),
    requestId: z.string().nullable().meta({ description: 'The `x-request-id` of the response. null for a turn.' }),
    keyId: z.string(),
    agent: z.string().nullable(),
    session: z.string().nullable(),
    turn: z.string().nullable(),
    dialect: z.string().nullable().meta({ description: '`openai-chat`, `openai-responses`, `anthropic-messages`, or null.' }),
    toolset: z.string().nullable(),
    model: z.string().nullable().meta({ description: 'As requested: `<provider>/<model>`.' }),
    provider: z.string().nullable(),
    models: z.array(z.string()).meta({ description: 'The models that were called.' }),
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted', 'waiting']),
    code: z.string().nullable().meta({ description: 'The code of the problem, or the reason of the end of a turn.' }),
    durationMs: z.number().meta({ description: 'To the last byte; of a turn with its waits.' }),
    firstTokenMs: z.number().nullable(),
    modelCalls: count,
    dropped: z.array(z.string()).optional().meta({
      description: 'What the request asked for and the model was not sent, in the terms of the request. Absent: nothing.',
    }),
    cached: z.boolean().optional().meta({ description: 'Answered by a cached reply.' }),
    toolCalls: count.nullable().meta({ description: 'null: the response was forwarded unread.' }),
    usage: Usage.nullable().meta({ description: 'null: the provider reported none.' }),
    ...Cost.shape,
  })
  .meta({ id: 'RequestEntry' });
export type RequestEntry = z.infer<typeof RequestEntry>;

export const RequestBodies = z
  .object({
    request: z.string().nullable().meta({ description: 'null: it was binary.' }),
    response: z.string().nullable().meta({ description: 'As text, also of a stream. null: it was binary, or there was none.' }),
    truncated: z.boolean().meta({ description: 'Whether one of them is longer than what is stored.' }),
  })
  .meta({ id: 'RequestBodies' });
export type RequestBodies = z.infer<typeof RequestBodies>;

/** A row with the bodies, if they were logged. */
export const LoggedRequest = RequestEntry.extend({
  bodies: RequestBodies.nullable().meta({
    description:
      'null unless `settings.requestLog.bodies` of the workspace was on; always null for turns, whose texts are in their session.',
  }),
}).meta({ id: 'LoggedRequest' });
export type LoggedRequest = z.infer<typeof LoggedRequest>;

/** Calls of one model on one day. `cost`: of the calls with a known cost. */
export type ModelUse = {
  day: string;
  model: string;
  calls: number;
  failures: number;
  durationMs: number;
  usage: Usage;
  cost: number;
  /** Calls with a known cost, and with an unknown one; a failed call without usage is neither. */
  priced: number;
  unpriced: number;
  unreported: number;
  /** Absent: no cached replies. */
  cached?: SavedUse;
};
/** What cached replies saved. `cost`: as far as it is known. */
export type SavedUse = { calls: number; cost: number; tokens: number };

/** Calls of one tool by one name on one day. `tool` null: the name was of no tool, or of several. */
export type ToolUse = {
  day: string;
  tool: string | null;
  requested: string;
  via: Via | null;
  calls: number;
  failures: number;
  durationMs: number;
  /** USD. Absent: none of the calls has a price. */
  cost?: number;
};

/** The counted fields are of this part only, the others of the whole request or turn so far. */
export type ReportedRequest = Omit<RequestEntry, 'cost' | 'unpricedCalls' | 'usage' | 'modelCalls' | 'models' | 'provider'>;

/**
 * What a request, a part of a turn, or a tool call without a turn used. `id` with `part` identifies it: a report that is delivered twice is
 * counted once. The parts of a turn increase, and arrive in order.
 */
export type UsageReport = {
  id: string;
  part: number;
  /** Milliseconds since the epoch. */
  at: number;
  keyId: string;
  agent: string | null;
  toolset: string | null;
  models: readonly ModelUse[];
  tools: readonly ToolUse[];
  /** null: not in the request log. */
  request: ReportedRequest | null;
  /** Absent: not logged. */
  bodies?: RequestBodies;
  /** Whose budgets the cost counts for; absent: none. */
  budgets?: readonly LimitHolder[];
};

/**
 * Returns a report for each finished call of a tool outside of turns: those of turns are counted with their turn. A call has several rows
 * (its intent, waiting, its outcome), of which one is counted.
 */
export function toToolReports(rows: readonly AuditRow[]): UsageReport[] {
  return rows.flatMap(({ at, turn, session, callId, keyId, toolset, canonical, requested, via, verdict, code, durationMs, cost }) => {
    if (turn !== null || (verdict !== 'ran' && verdict !== 'refused')) return [];
    const time = Date.parse(at);
    const tools = [toToolUse(time, { tool: canonical, requested, via, failed: code !== null, durationMs, cost })];
    return [{ id: `${session ?? ''}/${callId}`, part: 1, at: time, keyId, agent: null, toolset, models: [], tools, request: null }];
  });
}

type FinishedToolCall = {
  tool: string | null;
  requested: string;
  via: Via | null;
  failed: boolean;
  durationMs: number;
  cost?: number | undefined;
};

export function toToolUse(at: number, { failed, durationMs, cost = 0, ...name }: FinishedToolCall): ToolUse {
  const use = { day: dayOf(at), ...name, calls: 1, failures: failed ? 1 : 0, durationMs: Math.max(0, durationMs) };
  return cost > 0 ? { ...use, cost } : use;
}

/** Joins the uses of the same tool by the same name on the same day. */
export function joinToolUses(uses: readonly ToolUse[]): ToolUse[] {
  const joined = new Map<string, ToolUse>();
  for (const use of uses) {
    const key = JSON.stringify([use.day, use.tool, use.requested, use.via]);
    const known = joined.get(key);
    const [calls, failures] = [(known?.calls ?? 0) + use.calls, (known?.failures ?? 0) + use.failures];
    const cost = (known?.cost ?? 0) + (use.cost ?? 0);
    joined.set(key, { ...use, calls, failures, durationMs: (known?.durationMs ?? 0) + use.durationMs, ...(cost > 0 && { cost }) });
  }
  return [...joined.values()];
}

/** Of the request log. */
export function droppedNames(items: readonly DroppedItem[]): Pick<RequestEntry, 'dropped'> {
  return items.length === 0 ? {} : { dropped: items.map(({ name }) => name) };
}

/** A finished call of a model. `usage` null: the provider reported none. `wasBilled`: it may have been billed in any case. */
export type FinishedCall = { at: number; model: string; durationMs: number; failed: boolean; usage: Usage | null; wasBilled: boolean };

/** `price`: null if the model has none. */
export function toModelUse({ at, model, durationMs, failed, usage, wasBilled }: FinishedCall, price: ModelPrice | null): ModelUse {
  const cost = usage === null ? null : costOf(price, usage);
  const isUnreported = usage === null && wasBilled;
  const isFree = price !== null && price.input === 0 && price.output === 0;
  return {
    day: dayOf(at),
    model,
    calls: 1,
    failures: failed ? 1 : 0,
    durationMs: Math.max(0, durationMs),
    usage: usage ?? noUsage,
    cost: cost ?? 0,
    priced: cost !== null || (isUnreported && isFree) ? 1 : 0,
    unpriced: (isUnreported && !isFree) || (usage !== null && cost === null) ? 1 : 0,
    unreported: isUnreported ? 1 : 0,
  };
}

/** Returns the use of a reply that was stored: it cost nothing. */
export function toCachedUse(use: ModelUse): ModelUse {
  const saved = { calls: use.calls, cost: use.cost, tokens: use.usage.inputTokens + use.usage.outputTokens };
  return { ...use, usage: noUsage, cost: 0, priced: use.calls, unpriced: 0, unreported: 0, cached: saved };
}

/** Joins the uses of the same model on the same day. */
export function joinModelUses(uses: readonly ModelUse[]): ModelUse[] {
  const joined = new Map<string, ModelUse>();
  for (const use of uses) {
    const key = `${use.day} ${use.model}`;
    const known = joined.get(key);
    joined.set(key, known === undefined ? use : addModelUse(known, use));
  }
  return [...joined.values()];
}

function addModelUse(a: ModelUse, b: ModelUse): ModelUse {
  return {
    ...a,
    calls: a.calls + b.calls,
    failures: a.failures + b.failures,
    durationMs: a.durationMs + b.durationMs,
    usage: addUsage(a.usage, b.usage),
    cost: a.cost + b.cost,
    priced: a.priced + b.priced,
    unpriced: a.unpriced + b.unpriced,
    unreported: a.unreported + b.unreported,
    ...((a.cached ?? b.cached) !== undefined && { cached: addSaved(a.cached ?? noSaved, b.cached ?? noSaved) }),
  };
}

const noSaved: SavedUse = { calls: 0, cost: 0, tokens: 0 };

function addSaved(a: SavedUse, b: SavedUse): SavedUse {
  return { calls: a.calls + b.calls, cost: a.cost + b.cost, tokens: a.tokens + b.tokens };
}

/** Returns the UTC day, `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** null when only calls with an unknown cost cost something. `toolCost`: of tools, whose cost is always known. */
export function costsOf(
  { cost, priced, unpriced }: Pick<ModelUse, 'cost' | 'priced' | 'unpriced'>,
  toolCost: number,
): { cost: number | null; toolCost?: number } {
  if (toolCost === 0) return { cost: unpriced > 0 && priced === 0 ? null : roundCost(cost) };
  return { cost: roundCost(cost + toolCost), toolCost: roundCost(toolCost) };
}

/** Rounds to what sums of fractions are exact to. */
export function roundCost(cost: number): number {
  return Math.round(cost * 1e9) / 1e9;
}

/** Returns the sum of what calls of tools cost. */
export function toolCostOf(uses: readonly ToolUse[]): number {
  return uses.reduce((sum, { cost = 0 }) => sum + cost, 0);
}
