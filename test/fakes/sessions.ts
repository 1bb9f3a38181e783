/**
 * Sessions in memory whose turns end at once: the model repeats the input. Input `fail` fails the turn, `wait` leaves it
 * running. History is matched as the real one does: by role and text, a mismatch forks.
 */
import { hasScope, type Principal } from '../../src/core/principal.ts';
import { Problem } from '../../src/core/problem.ts';
import type { Message } from '../../src/core/message.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/session-event.ts';
import { textResult } from '../../src/core/tool.ts';
import { encodeEvent } from '../../src/dialects/native.ts';
import { createChunkEncoder, toCompletion } from '../../src/dialects/openai-chat.ts';
import type { Session, Sessions, SessionSetup, SubmittedTurn, SubmitTurn, TranscriptMessage, TurnAnswer } from '../../src/ports/session.ts';

export type FakeSessions = Sessions & {
  all: Map<string, FakeSession>;
  /** Every `submit`, as it came. */
  submitted: (SubmitTurn & { session: string })[];
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
  keys: Map<string, { hash: string | undefined; turn: string; edition: SubmittedTurn['edition'] }>;
};

const createdAt = '2026-01-01T00:00:00.000Z';
const usage = { inputTokens: 3, outputTokens: 2 };

export function fakeSessions(): FakeSessions {
  const all = new Map<string, FakeSession>();
  const submitted: FakeSessions['submitted'] = [];
  const reads: FakeSessions['reads'] = [];
  const found = (owner: string, setup: SessionSetup): FakeSession => {
    const id = `ses${all.size + 1}`;
    const session: FakeSession = { id, owner, setup, events: [], messages: [], files: new Map(), keys: new Map() };
    all.set(id, session);
    return session;
  };
  const open = (id: string, caller: Principal): FakeSession => {
    const session = all.get(id);
    if (session === undefined || (session.owner !== caller.keyId && !hasScope(caller, 'admin')))
      throw new Problem('not_found', 'There is no such session.');
    return session;
  };

  const get = (id: string): Session => ({
    view: async (caller) => viewOf(open(id, caller)),
    setup: async (caller) => open(id, caller).setup,
    remove: async (caller) => {
      all.delete(open(id, caller).id);
    },
    messages: async (caller) => open(id, caller).messages,
    submit: async (caller, request) => {
      let session = open(id, caller);
      submitted.push({ ...request, session: id });
      const known = request.idempotencyKey === undefined ? undefined : session.keys.get(request.idempotencyKey);
      if (known !== undefined) {
        if (known.hash !== request.bodyHash) throw new Problem('idempotency_mismatch', 'This key was used with another body.');
        return { turn: known.turn, position: 0, session: id, edition: known.edition };
      }
      if (!matches(session.messages, request.history ?? [])) session = found(session.owner, session.setup);
      const turn = runTurn(session, request);
      const edition = request.plan.edition ?? null;
      if (request.idempotencyKey !== undefined) session.keys.set(request.idempotencyKey, { hash: request.bodyHash, turn, edition });
      return { turn, position: 0, session: session.id, edition };
    },
    answer: async (caller, turn) => answerOf(open(id, caller), turn),
    stream: async (caller, turn) => streamOf(turnEvents(open(id, caller), turn).map(encodeEvent)),
    completion: async (caller, turn, { model, streamed, includeUsage }) => {
      const events = turnEvents(open(id, caller), turn);
      const identity = { id: `chatcmpl-${turn}`, model, created: 1, includeUsage };
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
    call: async (caller, { name }) => {
      open(id, caller);
      return { requested: name, canonical: 'builtin.bash', via: 'alias', result: textResult(`in ${id}`), durationMs: 1 };
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

  return { all, submitted, reads, get, create: async (owner, setup) => viewOf(found(owner.keyId, setup)) };
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/workspace/${path}`;
}

function viewOf({ id, setup, events }: FakeSession) {
  const started = events.findLast((event) => event.type === 'turn-start');
  const end = events.findLast((event) => event.type === 'turn-end');
  const ended = end !== undefined && end.turn === started?.turn;
  return {
    id,
    ...(setup.agent !== undefined && { agent: setup.agent }),
    ...(setup.model !== undefined && { model: setup.model }),
    toolset: setup.toolset ?? null,
    createdAt,
    turn: started === undefined ? null : { id: started.turn, status: ended ? end.status : 'running', reason: ended ? end.reason : null },
    queued: 0,
  };
}

function runTurn(session: FakeSession, { plan, input, history }: SubmitTurn): string {
  const turn = `turn${session.events.filter((event) => event.type === 'turn-start').length + 1}`;
  const append = (body: SessionEventBody): void => {
    session.events.push({ ...body, id: session.events.length + 1, at: 0 });
  };
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
  append({ type: 'text-delta', turn, step: 1, text: `You said: ${text}` });
  append({ type: 'usage', turn, step: 1, usage });
  append({ type: 'step-end', turn, step: 1, reason: 'stop', model: plan.model });
  append({ type: 'turn-end', turn, status: 'completed', reason: 'stop', usage });
  session.messages.push({ role: 'assistant', turn, parts: [{ type: 'text', text: `You said: ${text}` }] });
  return turn;
}

function answerOf(session: FakeSession, turn: string): TurnAnswer {
  const events = turnEvents(session, turn);
  const end = events.find((event) => event.type === 'turn-end');
  const failure = events.find((event) => event.type === 'error');
  const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
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
