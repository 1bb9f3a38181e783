/** One recorded turn, folded from the events of its session: what was asked, what was answered, the calls with their results, and what it used. */
import { type RecordedCall, recordedCalls } from '../impact/recorded-calls.ts';
import type { InputPart } from '../model/message.ts';
import type { ModelPrice } from '../model/price.ts';
import { costsOf, joinModelUses, toModelUse, toolCostOf } from '../records/usage.ts';
import type { ContentBlock } from '../tools/tool.ts';
import type { EditionPointer } from '../toolset/edition-tool.ts';
import type { SessionEvent, TurnStatus } from '../turn/session-event.ts';
import { foldTurnUse } from '../turn/turn-usage.ts';
import type { ReplayFacts } from './replay.ts';

/** A call of the model, with its result as the model got it. `cost`: in USD; absent: none. */
export type RecordedTurnCall = RecordedCall & { content: readonly ContentBlock[]; structuredContent?: unknown; cost?: number };

export type RecordedTurn = {
  turn: string;
  model: string;
  agent: string | null;
  edition: EditionPointer | null;
  input: readonly InputPart[];
  /** Sent while the turn waited, in order. */
  laterInput: readonly (readonly InputPart[])[];
  /** The text of the last step that has one. */
  text: string;
  /** In the order in which the model made them. Calls inside of others are not among them. */
  calls: RecordedTurnCall[];
  facts: ReplayFacts;
  /** null: it has not ended. `code`: of the problem, or why it ended. */
  status: TurnStatus | null;
  code: string | null;
};

/** `events`: of one turn, in order. `priceOf`: of a model as called. Returns null if the start of the turn is not among them. */
export function recordedTurn(events: readonly SessionEvent[], priceOf: (model: string) => ModelPrice | null): RecordedTurn | null {
  const start = events.find((event) => event.type === 'turn-start');
  if (start === undefined) return null;
  const end = events.find((event) => event.type === 'turn-end');
  const use = foldTurnUse(events, start.model);
  const calls = callsInOrder(events);
  return {
    ...{ turn: start.turn, model: start.model, agent: start.agent ?? null, edition: start.edition ?? null, input: start.input },
    laterInput: events.flatMap((event) => (event.type === 'turn-input' ? [event.input] : [])),
    text: answerText(events),
    calls,
    facts: factsOf(calls.length, use, asksFor(events), priceOf),
    ...{ status: end?.status ?? null, code: use.code },
  };
}

function callsInOrder(events: readonly SessionEvent[]): RecordedTurnCall[] {
  const results = new Map(events.flatMap((event) => (event.type === 'tool-result' ? [[event.callId, event] as const] : [])));
  const order = new Map(events.flatMap((event) => (event.type === 'tool-input-start' ? [event.callId] : [])).map((id, at) => [id, at]));
  const calls = recordedCalls(events).flatMap((call): RecordedTurnCall[] => {
    const result = results.get(call.callId);
    if (result === undefined) return [];
    const { content, structuredContent, cost } = result;
    return [{ ...call, content, ...(structuredContent !== undefined && { structuredContent }), ...(cost !== undefined && { cost }) }];
  });
  return calls.sort((a, b) => (order.get(a.callId) ?? 0) - (order.get(b.callId) ?? 0));
}

function answerText(events: readonly SessionEvent[]): string {
  let [text, last]: [string, string] = ['', ''];
  for (const event of events) {
    if (event.type === 'step-start' || event.type === 'step-restart') text = '';
    else if (event.type === 'text-delta') text += event.text;
    if (text !== '') last = text;
  }
  return last;
}

/** Questions about calls, not about the limit of cost. */
function asksFor(events: readonly SessionEvent[]): number {
  return new Set(events.flatMap((event) => (event.type === 'approval-required' && event.ask !== 'budget' ? [event.callId] : []))).size;
}

function factsOf(
  calls: number,
  use: ReturnType<typeof foldTurnUse>,
  approvals: number,
  priceOf: (model: string) => ModelPrice | null,
): ReplayFacts {
  const models = use.calls.map((call) => toModelUse(call, priceOf(call.model)));
  const sums = joinModelUses(models.map((one) => ({ ...one, day: '', model: '' })))[0];
  const isKnown = sums === undefined || sums.unpriced === 0;
  const { cost } = costsOf(sums ?? { cost: 0, priced: 0, unpriced: 0 }, toolCostOf(use.tools));
  return {
    ...{ calls, steps: use.calls.length, approvals },
    inputTokens: sums?.usage.inputTokens ?? 0,
    cachedInputTokens: sums?.usage.cachedInputTokens ?? 0,
    outputTokens: sums?.usage.outputTokens ?? 0,
    cost: isKnown ? cost : null,
    durationMs: sums?.durationMs ?? 0,
  };
}
