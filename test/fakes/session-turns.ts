/** What happens in a fake session: its turns, approval decisions, direct calls. Used by `sessions.ts`. */
import type { DialectName } from '../../src/core/text/reference.ts';
import type { EditionPointer } from '../../src/core/toolset/edition-tool.ts';
import type { ApprovalView, Decision } from '../../src/core/policy/approval.ts';
import { canonicalJson } from '../../src/core/hash.ts';
import type { Message } from '../../src/core/model/message.ts';
import { Problem } from '../../src/core/problem.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/turn/session-event.ts';
import { errorResult, textResult } from '../../src/core/tools/tool.ts';
import type {
  DecisionOutcome,
  SessionCall,
  SessionCallRequest,
  SessionSetup,
  SubmittedTurn,
  SubmitTurn,
  TranscriptMessage,
  TurnAnswer,
} from '../../src/ports/session.ts';
import type { FileSystem } from '../../src/ports/file-system.ts';
import { askedAt, decide, expiresAt, findApproval, pendingOf, toPending, type Waiting } from './waiting.ts';
import { noEffects } from './no-effects.ts';

export type FakeSession = {
  id: string;
  owner: string;
  setup: SessionSetup;
  events: SessionEvent[];
  messages: TranscriptMessage[];
  files: FileSystem;
  keys: Map<string, { hash: string | undefined; submitted: SubmittedTurn }>;
  /** Answers of chat dialects: id → what it shows. */
  completions: Map<
    string,
    {
      turn: string;
      dialect: DialectName;
      echo: Record<string, unknown>;
      model: string;
      includeUsage: boolean;
      edition: EditionPointer | null;
    }
  >;
  calls: Map<string, { hash: string | undefined; answer: SessionCall }>;
  waiting: Waiting;
};

export const createdAt = '2026-01-01T00:00:00.000Z';
const usage = { inputTokens: 3, outputTokens: 2 };

export function viewOf({ id, setup, events, waiting }: FakeSession) {
  const started = events.findLast((event) => event.type === 'turn-start');
  const end = events.findLast((event) => event.type === 'turn-end');
  const ended = end !== undefined && end.turn === started?.turn;
  const open = started !== undefined && pendingOf(waiting, started.turn).length > 0 ? 'waiting' : 'running';
  return {
    id,
    ...(setup.agent !== undefined && { agent: setup.agent }),
    ...(setup.model !== undefined && { model: setup.model }),
    toolset: setup.toolset ?? null,
    createdAt,
    turn: started === undefined ? null : { id: started.turn, status: ended ? end.status : open, reason: ended ? end.reason : null },
    queued: 0,
    ...(setup.from !== undefined && { from: setup.from }),
    title: null,
    lastEvent: events.length,
    lastActivityAt: createdAt,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

export function runTurn(session: FakeSession, { plan, input, history }: SubmitTurn): string {
  const turn = `turn${session.events.filter((event) => event.type === 'turn-start').length + 1}`;
  const append = appendTo(session);
  if (session.messages.length === 0) for (const message of history ?? []) session.messages.push(toTranscript(message));
  const text = input.map((part) => (part.type === 'text' ? part.text : '[image]')).join(' ');
  session.messages.push({ role: 'user', turn, parts: input });
  append({ type: 'turn-start', turn, input, model: plan.model, edition: plan.edition });
  if (text === 'wait') return turn;
  append({ type: 'step-start', turn, step: 1 });
  if (text === 'fail') {
    append({ type: 'error', turn, problem: new Problem('upstream_error', 'The model is not well.').toBody() });
    append({ type: 'turn-end', turn, status: 'failed', reason: 'upstream_error', usage });
    return turn;
  }
  const [tool] = plan.clientTools ?? [];
  if (text === 'ask') askForApproval(session, turn, `call_${session.events.length}`, { command: 'ask' });
  else if (text === 'client' && tool !== undefined) askClient(session, turn, `call_${session.events.length}`, tool.name);
  else finishTurn(session, turn, `You said: ${text}`);
  return turn;
}

export function finishTurn(session: FakeSession, turn: string, text: string): void {
  const append = appendTo(session);
  append({ type: 'text-delta', turn, step: 1, text });
  append({ type: 'usage', turn, step: 1, usage });
  append({ type: 'step-end', turn, step: 1, reason: 'stop', model: 'rehearsal/default' });
  append({ type: 'turn-end', turn, status: 'completed', reason: 'stop', usage });
  session.messages.push({ role: 'assistant', turn, parts: [{ type: 'text', text }] });
}

/** `turn` is null for a direct call, which has no events. */
function askForApproval(session: FakeSession, turn: string | null, callId: string, args: Record<string, unknown>): void {
  const reason = 'It says <b>ask</b>';
  const common = { callId, canonical: 'builtin.bash', entry: 'bash', arguments: args, reason };
  session.waiting.approvals.set(callId, { ...common, session: session.id, turn, state: 'pending', askedAt, expiresAt });
  if (turn === null) return;
  beginCall(session, turn, callId, 'bash', 'builtin.bash', args);
  appendTo(session)({
    ...common,
    ...noEffects,
    type: 'approval-required',
    turn,
    step: 1,
    name: 'bash',
    ask: 'always',
    target: null,
    expiresAt,
  });
}

function askClient(session: FakeSession, turn: string, callId: string, name: string): void {
  const args = { place: 'here' };
  const canonical = `client.${name}`;
  session.waiting.clientCalls.set(callId, {
    callId,
    kind: 'client-tool',
    canonical,
    arguments: args,
    reason: 'The caller runs it',
    turn,
    result: null,
  });
  beginCall(session, turn, callId, name, canonical, args);
  appendTo(session)({ type: 'client-tool-required', turn, step: 1, callId, name, canonical, arguments: args });
}

function beginCall(
  session: FakeSession,
  turn: string,
  callId: string,
  name: string,
  canonical: string,
  args: Record<string, unknown>,
): void {
  const append = appendTo(session);
  append({ type: 'tool-input-start', turn, step: 1, callId, name, canonical, via: 'wire' });
  append({ type: 'tool-input-end', turn, step: 1, callId, arguments: args, repaired: false });
  append({ type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'rehearsal/default' });
}

export function applyDecision(session: FakeSession, callId: string, decision: Decision): DecisionOutcome {
  const approval = findApproval(session.waiting, callId);
  const { turn } = approval;
  const first = decide(approval, decision);
  if (turn === null) return { callId, decision, turn, status: null };
  if (first) {
    const result = decision === 'approve' ? textResult('it ran') : errorResult('denied', 'The person said no.');
    const append = appendTo(session);
    append({ type: 'approval-decided', turn, step: 1, callId, decision, by: 'root' });
    append({ type: 'tool-result', turn, step: 1, callId, name: 'bash', canonical: 'builtin.bash', via: 'wire', ...result });
    finishTurn(session, turn, decision === 'approve' ? 'done' : 'not done');
  }
  return { callId, decision, turn, status: viewOf(session).turn?.status ?? null };
}

/** A call that requires approval waits under its arguments; once approved, the same call runs once. */
export function runCall(session: FakeSession, request: SessionCallRequest, ran: SessionCallRequest[]): SessionCall {
  const answer = { requested: request.name, canonical: 'builtin.bash', via: 'alias' as const, durationMs: 1 };
  if (request.arguments.command === 'ask') {
    const refused = errorResult('approval_required', 'It needs approval.');
    if (request.scratch === true) return { ...answer, result: refused };
    const same = (view: ApprovalView): boolean => view.turn === null && canonicalJson(view.arguments) === canonicalJson(request.arguments);
    const { approvals } = session.waiting;
    const approved = [...approvals.values()].find((view) => same(view) && view.state === 'approved');
    if (approved === undefined) {
      const asked = [...approvals.values()].find((view) => same(view) && view.state === 'pending');
      const callId = asked?.callId ?? `direct_${approvals.size + 1}`;
      if (asked === undefined) askForApproval(session, null, callId, request.arguments);
      return { ...answer, result: refused, pending: [toPending(findApproval(session.waiting, callId))] };
    }
    approved.state = 'used';
  }
  ran.push(request);
  return { ...answer, result: textResult(`in ${session.id}`) };
}

function appendTo(session: FakeSession): (body: SessionEventBody) => void {
  return (body) => {
    session.events.push({ ...body, id: session.events.length + 1, at: 0 });
  };
}

export function answerOf(session: FakeSession, turn: string): TurnAnswer {
  const events = turnEvents(session, turn);
  const end = events.find((event) => event.type === 'turn-end');
  const failure = events.find((event) => event.type === 'error');
  const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
  const pending = pendingOf(session.waiting, turn);
  if (end === undefined && pending.length > 0) {
    const reason = pending.some(({ kind }) => kind === 'approval') ? 'approval_required' : 'client_tool_required';
    return { turn, status: 'waiting', reason, text, toolCalls: [], pending, usage };
  }
  if (end === undefined) throw new Error('the fake turn has no end');
  return { turn, status: end.status, reason: end.reason, text, toolCalls: [], usage, ...(failure && { problem: failure.problem }) };
}

export function turnEvents(session: FakeSession, turn: string): SessionEvent[] {
  return session.events.filter((event) => 'turn' in event && event.turn === turn);
}

function toTranscript(message: Message): TranscriptMessage {
  return { role: message.role === 'system' ? 'user' : message.role, turn: 'history', parts: message.parts };
}
