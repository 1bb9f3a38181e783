/**
 * Sessions in memory whose turns end at once: the model repeats the input. Input `fail` fails the turn, `wait` leaves it
 * running, `ask` waits for an approval, `client` for the first of the caller's tools. A direct call with `command: "ask"`
 * needs approval, too. History is matched as the real one does: by role and text, a mismatch forks.
 */
import type { ApprovalView, Decision } from '../../src/core/approval.ts';
import { hasScope, type Principal } from '../../src/core/principal.ts';
import { Problem } from '../../src/core/problem.ts';
import type { Message } from '../../src/core/message.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/session-event.ts';
import { canonicalJson } from '../../src/core/hash.ts';
import { errorResult, textResult } from '../../src/core/tool.ts';
import { encodeEvent } from '../../src/dialects/native.ts';
import { createChunkEncoder, toCompletion } from '../../src/dialects/openai-chat.ts';
import type {
  Decided,
  Session,
  SessionCall,
  SessionCallRequest,
  Sessions,
  SessionSetup,
  SubmittedTurn,
  SubmitTurn,
  TranscriptMessage,
  TurnAnswer,
} from '../../src/ports/session.ts';
import {
  askedAt,
  decide,
  expiresAt,
  findApproval,
  linkedCall,
  nothingWaits,
  pendingOf,
  takeResult,
  toPending,
  type Waiting,
} from './waiting.ts';

export type FakeSessions = Sessions & {
  all: Map<string, FakeSession>;
  /** Every `submit`, as it came. */
  submitted: (SubmitTurn & { session: string })[];
  /** Every rule that a `remember` asked for: the call's id. */
  remembered: string[];
  /** Direct calls that ran. */
  ran: SessionCallRequest[];
  /** Every `eventsAfter`, as it came. */
  reads: { after: number; waitMs: number }[];
};

type FakeSession = {
  id: string;
  owner: string;
  setup: SessionSetup;
  events: SessionEvent[];
  messages: TranscriptMessage[];
  files: Map<string, Uint8Array>;
  keys: Map<string, { hash: string | undefined; submitted: SubmittedTurn }>;
  /** Answers of chat dialects: id → what it shows. */
  completions: Map<string, { turn: string; model: string; includeUsage: boolean }>;
  calls: Map<string, { hash: string | undefined; answer: SessionCall }>;
  waiting: Waiting;
};

const createdAt = '2026-01-01T00:00:00.000Z';
const usage = { inputTokens: 3, outputTokens: 2 };

export function fakeSessions(): FakeSessions {
  const all = new Map<string, FakeSession>();
  const submitted: FakeSessions['submitted'] = [];
  const reads: FakeSessions['reads'] = [];
  const remembered: string[] = [];
  const ran: SessionCallRequest[] = [];
  const keyed = new Map<string, FakeSession>();
  const found = (owner: string, setup: SessionSetup): FakeSession => {
    const session: FakeSession = {
      id: `ses${all.size + 1}`,
      owner,
      setup,
      events: [],
      messages: [],
      files: new Map(),
      keys: new Map(),
      completions: new Map(),
      calls: new Map(),
      waiting: nothingWaits(),
    };
    all.set(session.id, session);
    return session;
  };
  const open = (id: string, caller: Principal): FakeSession => {
    const session = all.get(id);
    if (session === undefined || (session.owner !== caller.keyId && !hasScope(caller, 'admin')))
      throw new Problem('not_found', 'There is no such session.');
    return session;
  };

  /** Whoever asks: a link is the right to what it names. */
  const known = (id: string): FakeSession => {
    const session = all.get(id);
    if (session === undefined) throw new Problem('not_found', 'There is no such session.');
    return session;
  };

  const get = (id: string): Session => ({
    view: async (caller) => viewOf(open(id, caller)),
    setup: async (caller) => open(id, caller).setup,
    remove: async (caller) => {
      all.delete(open(id, caller).id);
    },
    messages: async (caller) => ({ items: open(id, caller).messages, nextCursor: null }),
    submit: async (caller, request) => {
      let session = open(id, caller);
      submitted.push({ ...request, session: id });
      const known = request.idempotencyKey === undefined ? undefined : session.keys.get(request.idempotencyKey);
      if (known !== undefined) {
        if (known.hash !== request.bodyHash) throw new Problem('idempotency_mismatch', 'This key was used with another body.');
        return known.submitted;
      }
      if (!matches(session.messages, request.history ?? [])) session = found(session.owner, session.setup);
      const turn = runTurn(session, request);
      const made: SubmittedTurn = {
        turn,
        position: 0,
        session: session.id,
        edition: request.plan.edition ?? null,
        completion: request.chat === undefined ? null : `chatcmpl-${turn}`,
      };
      if (request.chat !== undefined) session.completions.set(`chatcmpl-${turn}`, { turn, ...request.chat });
      if (request.idempotencyKey !== undefined) session.keys.set(request.idempotencyKey, { hash: request.bodyHash, submitted: made });
      return made;
    },
    answer: async (caller, turn) => answerOf(open(id, caller), turn),
    stream: async (caller, turn) => {
      const events = turnEvents(open(id, caller), turn);
      const asking = events.findIndex((event) => event.type === 'approval-required' || event.type === 'client-tool-required');
      return streamOf((asking === -1 ? events : events.slice(0, asking + 1)).map(encodeEvent));
    },
    completion: async (caller, completion, { streamed }) => {
      const session = open(id, caller);
      const shape = session.completions.get(completion);
      if (shape === undefined) throw new Problem('not_found', 'There is no such answer.');
      const events = turnEvents(session, shape.turn);
      const identity = { id: completion, model: shape.model, created: 1, includeUsage: shape.includeUsage };
      if (!streamed) return streamOf([JSON.stringify(toCompletion(events, identity))]);
      const encoder = createChunkEncoder(identity);
      return streamOf(events.map((event) => encoder.encode(event)));
    },
    eventsAfter: async (caller, after, waitMs) => {
      reads.push({ after, waitMs });
      return open(id, caller).events.filter((event) => event.id > after);
    },
    cancel: async (caller) => {
      const { turn } = viewOf(open(id, caller));
      return { turn: turn?.id ?? null, cancelled: turn?.status === 'running' };
    },
    approvals: async (caller) => [...open(id, caller).waiting.approvals.values()].filter(({ state }) => state === 'pending'),
    approval: async (caller, callId) => findApproval(open(id, caller).waiting, callId),
    decide: async (caller, callId, decision, { remember }) => {
      const answer = applyDecision(open(id, caller), callId, decision);
      if (remember) remembered.push(callId);
      return answer;
    },
    mintLink: async (caller, callId) => {
      const { waiting } = open(id, caller);
      const approval = findApproval(waiting, callId);
      if (approval.state !== 'pending') throw new Problem('conflict', `It is ${approval.state} already.`);
      const nonce = `nonce${waiting.links.size + 1}`;
      waiting.links.set(nonce, { callId, used: false });
      return { nonce, expiresAt: Date.parse(askedAt) + 24 * 60 * 60_000 };
    },
    linkedApproval: async (nonce) => {
      const { waiting } = known(id);
      return findApproval(waiting, linkedCall(waiting, nonce));
    },
    decideByLink: async (nonce, decision) => {
      const session = known(id);
      const answer = applyDecision(session, linkedCall(session.waiting, nonce), decision);
      const link = session.waiting.links.get(nonce);
      if (link !== undefined) link.used = true;
      return answer;
    },
    takeResults: async (caller, results) => {
      const session = open(id, caller);
      const calls = results.map((result) => takeResult(session.waiting, result));
      const turn = calls[0]?.turn ?? '';
      const pending = pendingOf(session.waiting, turn);
      if (pending.length === 0) finishTurn(session, turn, 'the results are there');
      return { turn, status: pending.length === 0 ? 'running' : 'waiting', pending };
    },
    call: async (caller, request) => {
      const session = open(id, caller);
      const before = request.idempotencyKey === undefined ? undefined : session.calls.get(request.idempotencyKey);
      if (before !== undefined) {
        if (before.hash !== request.bodyHash) throw new Problem('idempotency_mismatch', 'This key was used with another body.');
        return before.answer;
      }
      const answer = runCall(session, request, ran);
      if (request.idempotencyKey !== undefined) session.calls.set(request.idempotencyKey, { hash: request.bodyHash, answer });
      return answer;
    },
    listFiles: async (caller, relative) => {
      const path = absolute(relative);
      const prefix = path === '/' ? '/' : `${path}/`;
      const files = [...open(id, caller).files].filter(([name]) => name.startsWith(prefix));
      return {
        path,
        entries: files.map(([name, content]) => ({
          name: name.slice(prefix.length),
          kind: 'file',
          size: content.byteLength,
          modifiedAt: createdAt,
        })),
      };
    },
    readFile: async (caller, relative) => {
      const { files } = open(id, caller);
      const path = absolute(relative);
      const content = files.get(path);
      if (content !== undefined) return { content, modifiedAt: createdAt };
      if ([...files.keys()].some((name) => name.startsWith(`${path}/`))) return { directory: true };
      throw new Problem('not_found', `There is no file ${path}.`);
    },
    writeFile: async (caller, relative, content) => {
      const { files } = open(id, caller);
      const path = absolute(relative);
      const created = !files.has(path);
      files.set(path, content);
      return { path, created };
    },
    deleteFile: async (caller, relative) => {
      const path = absolute(relative);
      if (!open(id, caller).files.delete(path)) throw new Problem('not_found', `There is no file ${path}.`);
    },
  });

  return {
    all,
    submitted,
    remembered,
    ran,
    reads,
    get,
    create: async (owner, setup, key) => {
      const name = `${owner.workspace} ${key}`;
      const before = key === undefined ? undefined : keyed.get(name);
      if (before !== undefined && all.has(before.id)) return viewOf(before);
      const made = found(owner.keyId, setup);
      if (key !== undefined) keyed.set(name, made);
      return viewOf(made);
    },
  };
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/workspace/${path}`;
}

function viewOf({ id, setup, events, waiting }: FakeSession) {
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
  };
}

function runTurn(session: FakeSession, { plan, input, history }: SubmitTurn): string {
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

function finishTurn(session: FakeSession, turn: string, text: string): void {
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
  appendTo(session)({ ...common, type: 'approval-required', turn, step: 1, name: 'bash', ask: 'always', target: null, expiresAt });
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

function applyDecision(session: FakeSession, callId: string, decision: Decision): Decided {
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

/** A call that asks waits under its arguments; approved, the same one runs once. */
function runCall(session: FakeSession, request: SessionCallRequest, ran: SessionCallRequest[]): SessionCall {
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

function answerOf(session: FakeSession, turn: string): TurnAnswer {
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

function turnEvents(session: FakeSession, turn: string): SessionEvent[] {
  return session.events.filter((event) => 'turn' in event && event.turn === turn);
}

function matches(stored: readonly TranscriptMessage[], history: readonly Message[]): boolean {
  const comparable = ({ role, parts }: { role: string; parts: readonly object[] }) => JSON.stringify([role, parts]);
  return history.length === 0 || stored.length === 0 || JSON.stringify(stored.map(comparable)) === JSON.stringify(history.map(comparable));
}

function toTranscript(message: Message): TranscriptMessage {
  return { role: message.role === 'system' ? 'user' : message.role, turn: 'history', parts: message.parts };
}

function streamOf(frames: readonly string[]): ReadableStream<Uint8Array> {
  return new Blob([frames.join('')]).stream();
}
