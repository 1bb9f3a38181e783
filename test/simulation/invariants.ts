/**
 * The invariants of a session, checked over its stored log, what the upstream saw and what its clients received. Each is one sentence;
 * the first that does not hold is the violation.
 */
import { outerRootId } from '../../src/core/toolset/composite-tool.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn, isWaiting, type TurnState } from '../../src/core/turn/turn-state.ts';
import { askingTools, type Effect } from './upstream.ts';
import { maxRecoveries, maxRecoveriesWithoutProgress } from '../../src/core/turn/turn.ts';

/** What is known outside at the end of a run. */
export type Witness = {
  effects: readonly Effect[];
  /** Messages by key, as sent. */
  messages: ReadonlyMap<string, SentMessage>;
  /** What callers received, and how they requested it. */
  decisions: readonly { callId: string; decision: 'approve' | 'deny' }[];
  results: readonly { callId: string; text: string }[];
  cancelled: readonly string[];
  /** Every event that a reader received, by number. */
  delivered: ReadonlyMap<number, string>;
  /** Status of turns that a plain response reported as ended. */
  answers: ReadonlyMap<string, string>;
  /** Calls without a turn, by the number in their arguments. `once`: with a key; `approvals`: how many may have been used for it. */
  direct: readonly { n: unknown; once: boolean; asks: boolean; approvals: number }[];
  /** A rule may have been stored, so that not everything requires approval any more. */
  remembered: boolean;
  /** Its deletion was requested. */
  leaving: boolean;
  /** Model requests in total, and at the time when the deletion was confirmed. */
  requests: number;
  removed: { requests: number } | null;
};

/** `at`: when it was first sent. `turn`: set once its sender received it. `before`: turns known to be accepted when it was first sent. */
export type SentMessage = { text: string; plan: Plan; at: number; turn: string | null; before: readonly string[] };

type Call = {
  turn: string;
  canonical: string | null;
  n: unknown;
  safe: boolean;
  stepWhole: boolean;
  takenBack: boolean;
  /** For a nested call: its start is in the log. */
  told: boolean;
  asked: number;
  decision: string | null;
  results: number;
  refused: boolean;
  resultText: string | null;
};

export function checkInvariants(log: readonly SessionEvent[], witness: Witness): string | null {
  const fold = foldLog(log);
  if (fold.fault !== null) return fold.fault;
  return checkReaders(log, witness) ?? checkMessages(fold, witness) ?? checkEffects(fold, witness) ?? checkWords(fold, witness);
}

/** Counted here and not by `core/turn/turn.ts`, which is under test. `idleDeaths`: since the last finished step or call. */
type Turn = {
  id: string;
  text: string;
  /** The input that it received while it waited. */
  said: string[];
  state: TurnState;
  end: Extract<SessionEvent, { type: 'turn-end' }> | null;
  inputTokens: number;
  outputTokens: number;
  steps: number;
  deaths: number;
  idleDeaths: number;
};
type Fold = { fault: string | null; turns: Map<string, Turn>; calls: Map<string, Call> };

/** One pass over the log: its own consistency. */
function foldLog(log: readonly SessionEvent[]): Fold {
  const fold: Fold = { fault: null, turns: new Map(), calls: new Map() };
  let open: Turn | null = null;
  let steps: Call[] = [];
  for (const [index, event] of log.entries()) {
    if (event.id !== index + 1) return failed(fold, `event ${event.id} is at position ${index + 1}`);
    if (!('turn' in event)) continue;
    if (event.type === 'turn-start') {
      if (open !== null) return failed(fold, `${event.turn} started before ${open.id} had ended`);
      if (fold.turns.has(event.turn)) return failed(fold, `${event.turn} started twice`);
      const [part] = event.input;
      open = {
        id: event.turn,
        text: part?.type === 'text' ? part.text : '',
        said: [],
        state: beginTurn(event.turn),
        end: null,
        inputTokens: 0,
        outputTokens: 0,
        steps: 0,
        deaths: 0,
        idleDeaths: 0,
      };
      fold.turns.set(event.turn, open);
      steps = [];
    }
    if (open === null || event.turn !== open.id)
      return failed(
        fold,
        `${event.type} of ${event.turn}, which is not running: ${fold.turns.get(event.turn)?.end === null ? 'not its turn' : 'it has ended or never started'}`,
      );
    const fault = checkGivenUp(open, event) ?? checkEvent(fold, open, steps, event);
    if (fault !== null) return failed(fold, `${fault} (event ${event.id})`);
    applyEvent(open.state, event);
    if (event.type === 'step-start') steps = [];
    if (event.type === 'turn-end') open = null;
  }
  if (open !== null) return failed(fold, `${open.id} never ended`);
  return fold;
}

function failed(fold: Fold, fault: string): Fold {
  return { ...fold, fault };
}

/** A turn that died too often is ended: it sends no model request and starts no call. */
function checkGivenUp({ id, deaths, idleDeaths }: Turn, { type }: SessionEvent): string | null {
  if (idleDeaths <= maxRecoveriesWithoutProgress && deaths <= maxRecoveries) return null;
  return type === 'step-start' || type === 'step-restart' || type === 'tool-start' ? `${id} continued after ${deaths} deaths` : null;
}

function checkEvent(fold: Fold, turn: Turn, steps: Call[], event: Extract<SessionEvent, { turn: string }>): string | null {
  switch (event.type) {
    case 'tool-input-start': {
      if (fold.calls.has(event.callId)) return `the call ${event.callId} started twice`;
      const call: Call = {
        turn: turn.id,
        canonical: event.canonical,
        n: undefined,
        safe: false,
        stepWhole: false,
        takenBack: false,
        told: false,
        asked: 0,
        decision: null,
        results: 0,
        refused: false,
        resultText: null,
      };
      fold.calls.set(event.callId, call);
      steps.push(call);
      return null;
    }
    case 'tool-input-end': {
      const call = fold.calls.get(event.callId);
      if (call === undefined) return `the input of ${event.callId} ended without a start`;
      call.n = event.arguments?.n;
      call.safe = event.arguments?.safe === true || call.canonical === 'builtin.run_code';
      return null;
    }
    case 'step-start':
      turn.steps += 1;
      return null;
    case 'step-restart':
      for (const call of steps.splice(0)) call.takenBack = true;
      return null;
    case 'step-end':
      turn.idleDeaths = 0;
      for (const call of steps) call.stepWhole = event.reason !== 'length';
      return null;
    case 'turn-resume':
      if (isWaiting(turn.state)) return `${turn.id} waited, and its wait was counted as a death`;
      turn.deaths += 1;
      turn.idleDeaths += 1;
      if (event.attempt !== turn.deaths) return `recovery ${turn.deaths} has the number ${event.attempt}`;
      return null;
    case 'tool-start': {
      const call = fold.calls.get(event.callId);
      if (call === undefined || call.takenBack) return `${event.callId} was started and is not a call of the step`;
      if (call.results > 0) return `${event.callId} was started after its result`;
      if (event.attempt > 1 && !call.safe) return `${event.callId} is unsafe and was started again`;
      return null;
    }
    case 'inner-call': {
      const fault = addBeneath(fold, turn, event);
      const call = fold.calls.get(event.callId);
      if (fault !== null || call === undefined) return fault;
      if (call.told) return `${event.callId} has two start events`;
      call.told = true;
      return null;
    }
    case 'inner-result': {
      const call = fold.calls.get(event.callId);
      if (call === undefined || !call.told) return `a result of ${event.callId}, which never started`;
      if ((fold.calls.get(event.parent)?.results ?? 1) > 0) return `${event.callId} ended after its outer call`;
      turn.idleDeaths = 0;
      call.results += 1;
      return call.results > 1 ? `${event.callId} has two results` : null;
    }
    case 'approval-required': {
      const fault = event.parent === undefined ? null : addBeneath(fold, turn, { ...event, parent: event.parent });
      if (fault !== null) return fault;
      const call = fold.calls.get(event.callId);
      if (call === undefined) return `an approval of ${event.callId}, which is not a call`;
      call.asked += 1;
      if (call.asked > 1) return `${event.callId} has two approvals`;
      return null;
    }
    case 'approval-decided': {
      const call = fold.calls.get(event.callId);
      if (call === undefined || call.asked === 0) return `${event.callId} was decided without an approval`;
      if (call.decision !== null) return `${event.callId} was decided twice`;
      call.decision = event.decision;
      return null;
    }
    case 'tool-result': {
      const call = fold.calls.get(event.callId);
      if (call === undefined || call.takenBack) return `a result of ${event.callId}, which is not a call of the step`;
      turn.idleDeaths = 0;
      call.results += 1;
      if (call.results > 1) return `${event.callId} has two results`;
      const [block] = event.content;
      call.resultText = block?.type === 'text' ? block.text : null;
      return null;
    }
    case 'turn-input': {
      const [part] = event.input;
      if (part?.type === 'text') turn.said.push(part.text);
      return null;
    }
    case 'usage':
      turn.inputTokens += event.usage.inputTokens;
      turn.outputTokens += event.usage.outputTokens;
      return null;
    case 'turn-end':
      turn.end = event;
      return checkEnd(fold, turn, event);
    default:
      return null;
  }
}

type Beneath = { callId: string; parent: string; canonical: string | null; arguments: Record<string, unknown> };

/** The nested call appears with its question or its start, whichever comes first. */
function addBeneath({ calls }: Fold, { id }: Turn, { callId, parent, canonical, arguments: args }: Beneath): string | null {
  const above = calls.get(parent);
  if (above === undefined || above.takenBack || above.results > 0) return `${callId} is nested in ${parent}, which is not an open call`;
  if (calls.has(callId)) return null;
  const call = { turn: id, canonical, n: args.n, safe: args.safe === true, stepWhole: above.stepWhole, takenBack: false, told: false };
  calls.set(callId, { ...call, asked: 0, decision: null, results: 0, refused: false, resultText: null });
  return null;
}

function checkEnd(fold: Fold, turn: Turn, end: Extract<SessionEvent, { type: 'turn-end' }>): string | null {
  if (end.reason === 'internal') return `${turn.id} ended as ${end.reason}, an internal error`;
  if (end.usage.inputTokens !== turn.inputTokens || end.usage.outputTokens !== turn.outputTokens)
    return `${turn.id} used ${turn.inputTokens} + ${turn.outputTokens} tokens and ended with ${end.usage.inputTokens} + ${end.usage.outputTokens}`;
  for (const [callId, call] of fold.calls) {
    // Nested calls that its end interrupted have no result.
    if (call.turn !== turn.id || outerRootId(callId) !== undefined) continue;
    if (call.results !== (call.takenBack ? 0 : 1)) return `${callId} has ${call.results} results at its turn's end`;
  }
  return null;
}

function checkReaders(log: readonly SessionEvent[], { delivered }: Witness): string | null {
  for (const [id, text] of delivered) {
    const event = log[id - 1];
    if (event === undefined) return `event ${id} was delivered and is not in the log`;
    if (JSON.stringify(event) !== text) return `event ${id} was delivered as ${text} and is ${JSON.stringify(event)}`;
  }
  return null;
}

function checkMessages({ turns }: Fold, { messages, cancelled, answers }: Witness): string | null {
  const places = new Map([...turns.keys()].map((id, place) => [id, place]));
  for (const [key, { text, turn, before }] of messages) {
    const own = [...turns.values()].flatMap((candidate) =>
      [candidate.text, ...candidate.said].filter((said) => said === text).map(() => candidate),
    );
    if (own.length > 1) return `the message ${key} is in the log ${own.length} times`;
    const [answered] = own;
    if (turn !== null && answered === undefined) return `${key} was accepted as ${turn} and is lost`;
    if (answered === undefined) continue;
    if (turn !== null && answered.id !== turn) return `the message ${key} got ${turn} and was answered by ${answered.id}`;
    for (const earlier of before) {
      if ((places.get(earlier) ?? -1) > (places.get(answered.id) ?? 0))
        return `${earlier} was accepted before ${answered.id} and answered after it`;
    }
  }
  for (const turn of cancelled) {
    const status = turns.get(turn)?.end?.status;
    if (status !== 'cancelled') return `${turn} was cancelled and ended as ${status ?? 'nothing'}`;
  }
  for (const [turn, told] of answers) {
    const status = turns.get(turn)?.end?.status;
    if (status !== told) return `${turn} was answered as ${told} and ended as ${status ?? 'nothing'}`;
  }
  return null;
}

function checkBudgets({ turns }: Fold, { messages }: Witness, runs: ReadonlyMap<string, ReadonlySet<string>>): string | null {
  const plans = new Map([...messages.values()].map(({ text, plan }) => [text, plan]));
  for (const { id, text, steps } of turns.values()) {
    const own = plans.get(text)?.limits;
    if (steps > (own?.maxSteps ?? limits.maxStepsPerTurn) + 1) return `${id} took ${steps} steps`;
    const ran = runs.get(id)?.size ?? 0;
    if (ran > (own?.maxCalls ?? limits.maxCallsPerTurn)) return `${id} ran ${ran} calls, more than its ${own?.maxCalls}`;
  }
  return null;
}

function checkEffects(fold: Fold, witness: Witness): string | null {
  const times = new Map<string, number>();
  const runs = new Map<string, Set<string>>();
  const direct = new Map(witness.direct.map((call) => [call.n, { ...call, times: 0 }]));
  for (const effect of witness.effects) {
    const alone = direct.get(effect.n);
    if (alone !== undefined) {
      alone.times += 1;
      continue;
    }
    const call = fold.calls.get(effect.callId);
    if (call === undefined) return `an effect of ${effect.callId}, which is not in the log`;
    const count = (times.get(effect.callId) ?? 0) + 1;
    times.set(effect.callId, count);
    const fault = checkEffect(effect, call, count, witness);
    if (fault !== null) return `${effect.callId} ${fault}`;
    if (outerRootId(effect.callId) !== undefined) continue;
    runs.set(call.turn, (runs.get(call.turn) ?? new Set()).add(effect.callId));
  }
  for (const { n, once, asks, approvals, times: ran } of direct.values()) {
    if (once && ran > 1) return `the direct call ${String(n)} has a key and had its effect ${ran} times`;
    if (asks && ran > approvals) return `the direct call ${String(n)} was approved ${approvals} times and had its effect ${ran} times`;
  }
  return checkBudgets(fold, witness, runs);
}

function checkEffect(effect: Effect, call: Call, count: number, { remembered }: Witness): string | null {
  if (call.takenBack || !call.stepWhole) return 'had its effect, and its step was not whole';
  if (call.n !== effect.n) return 'ran with other arguments than the log has';
  const asks = askingTools.has(effect.canonical) && (!remembered || effect.canonical === 'sim.guarded');
  if ((asks || call.asked > 0) && call.decision !== 'approve') return `requires approval (${call.decision ?? 'none'}) and ran`;
  if (count > 1 && !effect.safe) return `is unsafe and had its effect ${count} times`;
  return null;
}

function checkWords({ calls }: Fold, { decisions, results }: Witness): string | null {
  for (const { callId, decision } of decisions) {
    const stored = calls.get(callId)?.decision;
    if (stored !== decision) return `"${decision}" was accepted for ${callId}, and the log has ${stored ?? 'nothing'}`;
  }
  for (const { callId, text } of results) {
    const stored = calls.get(callId)?.resultText;
    if (stored !== text) return `the result "${text}" was accepted for ${callId}, and the log has "${stored ?? ''}"`;
  }
  return null;
}
