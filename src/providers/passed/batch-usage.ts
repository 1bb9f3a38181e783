/**
 * What a batch used, once it has ended: as its provider sums it up, or as the lines of its results say while they are forwarded. It is counted
 * once, however often it is read: the report has the id of the batch, and is stored before the batch is marked as counted.
 */
import { sha256Hex } from '../../core/hash.ts';
import { isRecord, type Json, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import { addUsage, noUsage, type Usage } from '../../core/model/chat-event.ts';
import { type ModelPrice, priceOf } from '../../core/model/price.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { type ModelUse, toModelUse } from '../../core/records/usage.ts';
import { withBudgets } from '../../core/usage-limits.ts';
import { readLimits } from '../../engine/plan/turn-limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { adapters } from '../registry.ts';

/** By the name of the model. `unreported`: calls that did not fail, and whose use the provider does not report. */
export type BatchTotals = ReadonlyMap<string, ModelTotals>;
type ModelTotals = { calls: number; failures: number; unreported: number; usage: Usage };

type BatchReport = { access: ProviderAccess; batch: string; totals: BatchTotals; requestId: string | null };
type ReportDeps = { clock: Pick<Clock, 'now'>; directory: Directory; recordUsage: UsageRecorder['record'] };

/** Resolves when the report is stored. Repeating it has no effect: the same shard gets it, which knows its id for as long as the request log. */
export async function reportBatch(
  deps: ReportDeps,
  principal: Principal,
  { access, batch, totals, requestId }: BatchReport,
): Promise<void> {
  const { workspace, keyId } = principal;
  const at = deps.clock.now();
  const models = [...totals].map(([model, { calls, failures, unreported, usage }]): ModelUse => {
    const call = { at, model: `${access.name}/${model}`, durationMs: 0, failed: false, usage, wasBilled: true };
    const use = toModelUse(call, batchPrice(access, model));
    const reported = calls - failures - unreported;
    const each = { priced: use.priced * reported, unpriced: use.unpriced * reported + unreported };
    return { ...use, ...each, calls, failures, unreported };
  });
  if (models.length === 0) return;
  const hash = await sha256Hex(JSON.stringify([workspace, access.name, batch]));
  const id = `batch_${hash.slice(0, 32)}`;
  const model = models.length === 1 ? (models[0]?.model ?? null) : `${access.name}/batches`;
  const own = { keyId, agent: null, toolset: null };
  const request = {
    ...{ id, kind: 'request' as const, at: new Date(at).toISOString(), requestId, ...own, session: null, turn: null, dialect: null },
    ...{ model, status: 'completed' as const, code: null, durationMs: 0, toolCalls: null, firstTokenMs: null },
  };
  const budgets = withBudgets(await readLimits(deps.directory, principal));
  await deps.recordUsage(workspace, id, [{ id, part: 1, at, ...own, models, tools: [], request, ...budgets }]);
}

/**
 * Half of the usual price at the services that document it: OpenAI (guide "Batch API") and Anthropic (guide "Batch processing", "Pricing"), for
 * input, output and what is cached. Elsewhere the usual price.
 */
function batchPrice(access: ProviderAccess, model: string): ModelPrice | null {
  const price = priceOf(access, model);
  if (price === null || !halfPriced.has(URL.parse(access.baseUrl)?.host ?? '')) return price;
  const { isListed, ...amounts } = price;
  const half = Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount / 2]));
  // The same members.
  return { ...(half as typeof amounts), ...(isListed && { isListed }) };
}

const halfPriced: ReadonlySet<string> = new Set(['api.openai.com', 'api.anthropic.com']);

/** Returns what a batch of OpenAI's API used in all (API reference, "The batch object": `usage`, `model`); null: its provider does not report it. */
export function totalsOfBatch({ usage: given, model, request_counts: counts }: Json): BatchTotals | null {
  const usage = adapters.openai.readUsage?.(given) ?? null;
  const { completed, failed } = recordOf(counts);
  const [done, failures] = [completed, failed].map((count) => (Number.isSafeInteger(count) ? Number(count) : 0)) as [number, number];
  if (usage === null || typeof model !== 'string' || model === '') return null;
  return done + failures === 0 ? new Map() : new Map([[model, { calls: done + failures, failures, unreported: 0, usage }]]);
}

/** A result is as long as a reply, which may have images. */
const maxLineCharacters = 16 * MB;
const maxModels = 100;

/** `model`: what the batch asks for; null: the models of the results are counted. */
export function createResultScan({ kind }: Pick<ProviderAccess, 'kind'>, model: string | null) {
  // That of Chat Completions reads the counts of Responses and of embeddings, too.
  const { readUsage } = kind === 'anthropic' ? adapters.anthropic : adapters.openai;
  const decoder = new TextDecoder();
  const totals = new Map<string, ModelTotals>();
  /** They do not say their model. */
  let failed = 0;
  let line: string[] = [];
  let length = 0;
  const add = (named: string, given: unknown, failures: number): void => {
    const name = totals.has(named) || totals.size < maxModels ? named : 'other';
    const before = totals.get(name) ?? { calls: 0, failures: 0, unreported: 0, usage: noUsage };
    const used = readUsage?.(given) ?? null;
    const calls = Math.max(1, failures);
    totals.set(name, {
      calls: before.calls + calls,
      failures: before.failures + failures,
      unreported: before.unreported + (used === null ? calls - failures : 0),
      usage: used === null ? before.usage : addUsage(before.usage, used),
    });
  };
  const endLine = (): void => {
    // What a longer line used is unknown.
    const result = length > maxLineCharacters ? { model: 'unknown', usage: null } : readLine(tryParse(line.join('')));
    if (result === 'failed') failed += 1;
    else if (result !== null) add(model ?? result.model, result.usage, 0);
    line = [];
    length = 0;
  };
  const take = (text: string): void => {
    length += text.length;
    if (length <= maxLineCharacters) line.push(text);
  };
  return {
    push(bytes: Uint8Array): void {
      const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n');
      take(first);
      for (const text of others) {
        endLine();
        take(text);
      }
    },
    end(): BatchTotals {
      if (length > 0) endLine();
      const [only = 'unknown'] = totals.size === 1 ? totals.keys() : [];
      if (failed > 0) add(model ?? only, null, failed);
      failed = 0;
      return totals;
    },
  };
}

/**
 * A line of OpenAI's output file (guide "Batch API", "Retrieve the results") or of Anthropic's results (`MessageBatchIndividualResponse`); null: a
 * request that was not sent, or no result.
 */
function readLine(value: unknown): { model: string; usage: unknown } | 'failed' | null {
  if (!isRecord(value)) return null;
  const { type, message } = recordOf(value.result);
  if (type === 'canceled' || type === 'expired') return null;
  const { status_code: status, body } = recordOf(value.response);
  if (type === undefined && status === undefined && value.error == null) return null;
  if (type === undefined ? status !== 200 : type !== 'succeeded') return 'failed';
  const reply = recordOf(type === undefined ? body : message);
  return { model: stringOf(reply.model) || 'unknown', usage: reply.usage };
}

type CountDeps = { clock: Clock; background(work: Promise<unknown>): void };

/**
 * Forwards results, and passes what they used to `count` before their end. A client that disconnects does not end the reading: it would have
 * results that are not counted. If the provider breaks off, they are counted when they are read again.
 */
export function countedResults(
  body: ReadableStream<Uint8Array>,
  scan: ReturnType<typeof createResultScan>,
  { clock, background }: CountDeps,
  count: (totals: BatchTotals) => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const over = Promise.withResolvers<void>();
  background(over.promise);
  let isCut = false;
  const read = async (): Promise<Uint8Array | null> => {
    const { done, value } = await reader.read();
    if (!done) {
      scan.push(value);
      return value;
    }
    await count(scan.end());
    over.resolve();
    return null;
  };
  const rest = async (): Promise<void> => {
    const until = clock.now() + maxRestMs;
    while (clock.now() < until) {
      const next = await withTimeout(clock, read(), limits.providerIdleTimeoutMs, () => null);
      if (next === null) return;
    }
  };
  const end = async (): Promise<void> => {
    over.resolve();
    await reader.cancel();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await read();
        if (isCut) return;
        if (next === null) controller.close();
        else controller.enqueue(next);
      } catch (error) {
        if (!isCut) over.resolve();
        throw error;
      }
    },
    cancel() {
      isCut = true;
      // The provider may have broken off, which the client no longer sees.
      rest()
        .finally(end)
        .catch(() => undefined);
    },
  });
}

const maxRestMs = 600_000;
