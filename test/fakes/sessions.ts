/**
 * Sessions in memory whose turns end at once: the model repeats the input. Input `fail` fails the turn, `wait` leaves it running, `ask`
 * waits for an approval, `client` for the first of the client tools. A direct call with `command: "ask"` requires approval, too. History
 * is compared as in the real one: by role and text; a mismatch forks.
 */
import { isAllowed } from '../../src/core/people/authority.ts';
import type { Principal } from '../../src/core/people/principal.ts';
import type { Message } from '../../src/core/model/message.ts';
import { idempotencyMismatch, Problem } from '../../src/core/problem.ts';
import { encodeEvent } from '../../src/dialects/native.ts';
import { toAnswerId } from '../../src/core/text/reference.ts';
import { createAnswerDocument, createAnswerEncoder } from '../../src/dialects/answer.ts';
import { loadDialect } from '../../src/dialects/dialects.ts';
import type {
  SessionPort,
  SessionCallRequest,
  Sessions,
  SessionSetup,
  SubmittedTurn,
  SubmitTurn,
  TranscriptMessage,
} from '../../src/ports/session.ts';
import { deleteSessionFile, listSessionFiles, readSessionFile, writeSessionFile } from '../../src/objects/session/object/file-access.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { answerOf, applyDecision, createdAt, type FakeSession, finishTurn, runCall, runTurn, turnEvents, viewOf } from './session-turns.ts';
import { askedAt, findApproval, linkedCall, nothingWaits, pendingOf, takeResult } from './waiting.ts';
import { applyChanges, copyFiles } from '../../src/storage/files/file-image.ts';

export type FakeSessions = Sessions & {
  all: Map<string, FakeSession>;
  /** Every `submit`, unchanged. */
  submitted: (SubmitTurn & { session: string })[];
  /** The call ids of all decisions with `remember`, each with its value. */
  remembered: string[];
  /** Direct calls that ran. */
  ran: SessionCallRequest[];
  /** Every `eventsAfter`, unchanged. */
  reads: { after: number; waitMs: number }[];
};

/** Real ids of chat answers contain the session id as 32 bytes; the short ids here do not fit. */
const realId = '5'.repeat(64);

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
      files: createMemoryFiles(() => Date.parse(createdAt)),
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
    if (session === undefined || !isAllowed(caller, { act: 'open-session', isOwn: session.owner === caller.keyId }))
      throw new Problem('not_found', 'There is no such session.');
    return session;
  };

  /** For any caller: a link authorizes access to its approval. */
  const known = (id: string): FakeSession => {
    const session = all.get(id);
    if (session === undefined) throw new Problem('not_found', 'There is no such session.');
    return session;
  };

  const create: Sessions['create'] = async (owner, setup, key) => {
    const name = `${owner.workspace} ${key}`;
    const before = key === undefined ? undefined : keyed.get(name);
    if (before !== undefined && all.has(before.id)) return viewOf(before);
    const made = found(owner.keyId, setup);
    if (key !== undefined) keyed.set(name, made);
    return viewOf(made);
  };

  const get = (id: string): SessionPort => ({
    view: async (caller) => viewOf(open(id, caller)),
    setup: async (caller) => open(id, caller).setup,
    fork: async (caller, turn, key) => {
      const source = open(id, caller);
      const end = source.events.findIndex((event) => event.type === 'turn-end' && event.turn === turn);
      if (turnEvents(source, turn).length === 0) throw new Problem('not_found', 'There is no such turn in this session.');
      if (end < 0) throw new Problem('conflict', 'This turn has not ended yet. Wait for its end or cancel it.');
      const made = await create(caller, { ...source.setup, listed: true, from: { session: id, turn } }, key);
      const target = known(made.id);
      if (target.events.length === 0 && made.from?.turn === turn) {
        target.events.push({ type: 'history', messages: [], id: 1, at: 0 });
        applyChanges(
          target.files,
          copyFiles(source.files).map((file) => ({ path: file.path, file })),
        );
      }
      return viewOf(target);
    },
    importConversation: () => Promise.reject(new Error('a fake session copies itself')),
    appendHistory: () => Promise.reject(new Error('a fake session has no items')),
    setMetadata: () => Promise.reject(new Error('a fake session has no metadata')),
    deleteCompletion: () => Promise.reject(new Error('a fake session does not delete responses')),
    removeIfUnused: async () => false,
    remove: async (caller) => {
      all.delete(open(id, caller).id);
    },
    messages: async (caller) => ({ items: open(id, caller).messages, places: [], nextCursor: null }),
    submit: async (caller, request) => {
      let session = open(id, caller);
      submitted.push({ ...request, session: id });
      const known = request.idempotencyKey === undefined ? undefined : session.keys.get(request.idempotencyKey);
      if (known !== undefined) {
        if (known.hash !== request.bodyHash) throw idempotencyMismatch();
        return known.submitted;
      }
      if (!matches(session.messages, request.history ?? [])) session = found(session.owner, session.setup);
      const turn = runTurn(session, request);
      const made: SubmittedTurn = {
        turn,
        position: 0,
        session: session.id,
        edition: request.plan.edition ?? null,
        completion: request.chat === undefined ? null : toAnswerId(request.chat.dialect, turn),
      };
      if (made.completion !== null && request.chat !== undefined)
        session.completions.set(made.completion, { turn, edition: made.edition, ...request.chat });
      if (request.idempotencyKey !== undefined) session.keys.set(request.idempotencyKey, { hash: request.bodyHash, submitted: made });
      return made;
    },
    findByIdempotencyKey: async (caller, key, bodyHash) => {
      const known = open(id, caller).keys.get(key);
      if (known !== undefined && known.hash !== bodyHash) throw idempotencyMismatch();
      return known?.submitted ?? null;
    },
    hasTurn: async (caller, turn) => open(id, caller).events.some((event) => event.type === 'turn-start' && event.turn === turn),
    waitForAnswer: async (caller, turn) => answerOf(open(id, caller), turn),
    stream: async (caller, turn) => {
      const events = turnEvents(open(id, caller), turn);
      const asking = events.findIndex((event) => event.type === 'approval-required' || event.type === 'client-tool-required');
      return streamOf((asking === -1 ? events : events.slice(0, asking + 1)).map(encodeEvent));
    },
    completionTurn: async (caller, completion) => {
      const made = open(id, caller).completions.get(completion);
      if (made === undefined) throw new Problem('not_found', 'There is no such response.');
      return { turn: made.turn, edition: made.edition, inputThrough: 1 };
    },
    completion: async (caller, completion, { streamed }) => {
      const session = open(id, caller);
      const shape = session.completions.get(completion);
      if (shape === undefined) throw new Problem('not_found', 'There is no such response.');
      const events = turnEvents(session, shape.turn);
      const dialect = await loadDialect(shape.dialect);
      const identity = { id: completion, model: shape.model, created: 1, includeUsage: shape.includeUsage, echo: shape.echo };
      const range = { turn: shape.turn, after: 0, earlier: null };
      if (!streamed) {
        const document = createAnswerDocument(range, identity, realId, dialect);
        for (const event of events) document.take(event);
        return streamOf([JSON.stringify(document.document())]);
      }
      const encoder = createAnswerEncoder(range, identity, realId, dialect);
      return streamOf(events.flatMap((event) => encoder.encode(event).map(encoder.textOf)));
    },
    eventsAfter: async (caller, after, waitMs) => {
      reads.push({ after, waitMs });
      return open(id, caller).events.filter((event) => event.id > after);
    },
    eventPage: async (caller, { after, before, limit }) => {
      const { events } = open(id, caller);
      const between = events.filter((event) => event.id > (after ?? 0) && (before === undefined || event.id < before));
      const isFromEnd = after === undefined || before !== undefined;
      return { items: isFromEnd ? between.slice(-limit) : between.slice(0, limit), lastEvent: events.length };
    },
    recordedTurn: async (caller, turn) => {
      const { events, setup } = open(id, caller);
      return { setup, history: [], gathered: [], events: events.filter((event) => 'turn' in event && event.turn === turn) };
    },
    cancel: async (caller) => {
      const { turn } = viewOf(open(id, caller));
      return { turn: turn?.id ?? null, cancelled: turn?.status === 'running' };
    },
    cancelAll: async (caller) => ({ cancelled: viewOf(open(id, caller)).turn?.status === 'running' ? 1 : 0 }),
    approvals: async (caller) => [...open(id, caller).waiting.approvals.values()].filter(({ state }) => state === 'pending'),
    approval: async (caller, callId) => findApproval(open(id, caller).waiting, callId),
    decide: async (caller, callId, decision, { remember }) => {
      const answer = applyDecision(open(id, caller), callId, decision);
      if (remember) remembered.push(`${callId} ${remember}`);
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
    linkedApproval: async ({ nonce }) => {
      const { waiting } = known(id);
      return findApproval(waiting, linkedCall(waiting, nonce));
    },
    decideByLink: async ({ nonce }, decision, { remember } = {}) => {
      const session = known(id);
      const callId = linkedCall(session.waiting, nonce);
      const answer = applyDecision(session, callId, decision);
      if (remember) remembered.push(`${callId} ${remember}`);
      const link = session.waiting.links.get(nonce);
      if (link !== undefined) link.used = true;
      return answer;
    },
    submitResults: async (caller, results) => {
      const session = open(id, caller);
      const calls = results.map((result) => takeResult(session.waiting, result));
      const turn = calls[0]?.turn ?? '';
      const pending = pendingOf(session.waiting, turn);
      if (pending.length === 0) finishTurn(session, turn, 'the results are there');
      return { turn, status: pending.length === 0 ? 'running' : 'waiting', pending };
    },
    submitInput: async (caller, { callId }) => {
      open(id, caller);
      throw new Problem('not_found', `The call ${callId} does not wait for input.`);
    },
    call: async (caller, request) => {
      const session = open(id, caller);
      const before = request.idempotencyKey === undefined ? undefined : session.calls.get(request.idempotencyKey);
      if (before !== undefined) {
        if (before.hash !== request.bodyHash) throw idempotencyMismatch();
        return before.answer;
      }
      const answer = runCall(session, request, ran);
      if (request.idempotencyKey !== undefined) session.calls.set(request.idempotencyKey, { hash: request.bodyHash, answer });
      return answer;
    },
    explain: () => Promise.reject(new Error('a fake session explains nothing')),
    findCallByIdempotencyKey: async (caller, key, bodyHash) => {
      const known = open(id, caller).calls.get(key);
      if (known !== undefined && known.hash !== bodyHash) throw idempotencyMismatch();
      return known?.answer ?? null;
    },
    // As in the real session: it decides about paths, limits and conditions, not the routes.
    listFiles: async (caller, path, options) => listSessionFiles(open(id, caller).files, path, options),
    readFile: async (caller, path) => readSessionFile(open(id, caller).files, path),
    writeFile: async (caller, path, content, conditions) => await writeSessionFile(open(id, caller).files, path, content, conditions),
    deleteFile: async (caller, path, conditions) => await deleteSessionFile(open(id, caller).files, path, conditions),
    loadFiles: async (caller) => copyFiles(open(id, caller).files),
    applyFiles: async (caller, changes) => applyChanges(open(id, caller).files, changes),
  });

  return {
    all,
    submitted,
    remembered,
    ran,
    reads,
    get,
    idOf: async (owner, key) => keyed.get(`${owner.workspace} ${key}`)?.id ?? 'none',
    getByKey: async (owner, key) => get(keyed.get(`${owner.workspace} ${key}`)?.id ?? 'none'),
    create,
  };
}

function matches(stored: readonly TranscriptMessage[], history: readonly Message[]): boolean {
  const comparable = ({ role, parts }: { role: string; parts: readonly object[] }) => JSON.stringify([role, parts]);
  return history.length === 0 || stored.length === 0 || JSON.stringify(stored.map(comparable)) === JSON.stringify(history.map(comparable));
}

function streamOf(frames: readonly string[]): ReadableStream<Uint8Array> {
  return new Blob([frames.join('')]).stream();
}
