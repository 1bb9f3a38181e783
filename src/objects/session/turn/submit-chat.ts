/**
 * Accepts a chat client's request: compares the history that it resends, passes results of client tools and new text to the turn
 * that waits for them, or else queues a new turn, and stores the start of the response in the log. Everything from the comparison
 * on is one transaction, so that two requests cannot resume the same turn.
 */
import { limits } from '../../../core/limits/limits.ts';
import type { Message, ToolCallPart } from '../../../core/model/message.ts';
import { invalidRequest, Problem, quoted } from '../../../core/problem.ts';
import { callNames, historyWithResults } from '../../../core/turn/pair-calls.ts';
import { readToolCallId, toCompletionId } from '../../../core/text/reference.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import { type Taint, unknownTaint } from '../../../core/policy/taint.ts';
import type { TurnMessages } from '../../../core/turn/transcript.ts';
import type { TurnState } from '../../../core/turn/turn-state.ts';
import type { AnswerRange } from '../../../dialects/answer.ts';
import type { SubmittedTurn, SubmitTurn } from '../../../ports/session.ts';
import { acceptTurn, type AcceptTurn, type SubmitContext } from './accept-turn.ts';
import type { ClientCall } from '../pending/wait.ts';
import { matchHistory, toComparableHistory, type HistoryMatch, type ComparableHistory } from './compare-history.ts';
import { isServiceNote, readShownToClient, outputShownAfter, type ShownToClient } from '../log/shown-to-client.ts';
import { abortedResults, markAnswered, clientCallIds, resultEvents, type HashedResult } from './accept-results.ts';

/** Inputs that a caller may send while a turn waits. */
export const maxInputsWhileWaiting = 20;

/**
 * `results`: by the call ids of this session. `inputHash`: hash of the input (`core/policy/answer-name.ts`). `historyTaint`: taint marks of the
 * history; null when it was not judged.
 */
export type ChatSubmission = AcceptTurn & {
  chat: NonNullable<SubmitTurn['chat']>;
  results: readonly HashedResult[];
  inputHash: string;
  historyTaint: Taint | null;
};

/** Returns null when the history is a different conversation from the session's. Throws `invalid_request` for results of calls that are not pending. */
export function submitChat(context: SubmitContext, request: ChatSubmission): SubmittedTurn | null {
  const { openSession, session } = context;
  const shown = readShownToClient(openSession, session);
  const history = ownIds(request.history ?? [], session);
  const results = classify(openSession, request.results);
  const match = judge(context, shown, history, request, results);
  if (match.kind === 'fork' || match.kind === 'import' || results.unknown.length > 0) {
    // In a new conversation each result needs the call that it belongs to.
    const calls = callNames(history);
    const withoutCall = request.results.map(({ result }) => result.callId).filter((id) => !calls.has(id));
    if (history.length === 0 || withoutCall.length > 0) throw unknownCalls(request, withoutCall);
    if (match.kind !== 'import') return null;
  }
  if (match.kind === 'import') importHistory(context, history, request);
  else {
    const waiting = results.fresh[0]?.call.turn ?? openSession.turns.waiting()?.id ?? null;
    const repeated = request.input.length === 0 && results.fresh.length === 0;
    const again = repeated && hasFailed(openSession, shown);
    if (repeated && !again && match.missingTail === sinceLast && shown.lastAnswer !== null)
      return joined(context, shown.lastAnswer.id, shown.lastAnswer.range.turn);
    if (waiting !== null) return resumeTurn(context, request, shown, results.fresh, waiting);
    // A failed turn is run again; there is nothing to send a second time.
    // A conversation may begin with instructions alone.
    const begins = shown.lastAnswer === null && shown.earlier === null && request.results.length === 0;
    if (repeated && !again && !begins) return showUnseen(context, request, shown);
  }
  // Read before the turn writes anything, so that its own events come after it.
  const after = openSession.log.newest;
  return acceptTurn(context, request, (turn) => note(context, request, { turn, after, earlier: shown.earlier }));
}

/** True when the last turn failed and its response had no content. */
function hasFailed(openSession: SubmitContext['openSession'], { lastAnswer: last, earlier }: ShownToClient): boolean {
  if (last === null || earlier !== null) return false;
  const status = openSession.turns.get(last.range.turn)?.status;
  if (status !== 'failed' && status !== 'interrupted') return false;
  const { assistantTexts, callIds } = outputShownAfter(openSession, last.range.after);
  return assistantTexts.length === 0 && callIds.size === 0;
}

type Classified = {
  /** Results of pending calls. */
  fresh: (HashedResult & { call: ClientCall })[];
  /** Ids of calls that are not in this session or have a different result. Repeats of the same result are in neither list. */
  unknown: string[];
};

function classify({ waits }: SubmitContext['openSession'], results: readonly HashedResult[]): Classified {
  const classified: Classified = { fresh: [], unknown: [] };
  for (const entry of results) {
    const call = waits.get('client-tool', entry.result.callId);
    if (call?.state === 'pending') classified.fresh.push({ ...entry, call });
    else if (call?.state !== 'answered' || call.answerHash !== entry.hash) classified.unknown.push(entry.result.callId);
  }
  return classified;
}

/** Index in the list of tails that a client may lack: 0 is what no client has received, 1 the last response, which may have been lost on the way. */
const sinceLast = 1;

function judge(
  { openSession, session }: SubmitContext,
  { lastAnswer: last, unseen }: ShownToClient,
  history: readonly Message[],
  { results, input, chat: { decided } }: ChatSubmission,
  { fresh }: Classified,
): HistoryMatch {
  // Without a history there is nothing to compare: the session's own messages, possibly thousands, are not loaded.
  if (history.length === 0) return matchHistory({ userTexts: [], assistantTexts: [], callIds: new Set() }, null);
  const isNote = (paragraph: string): boolean => isServiceNote(openSession, session, paragraph);
  const comparableOf = (turns: readonly TurnMessages[]): ComparableHistory => {
    const messages = turns.flatMap((turn) => turn.messages);
    const imported = toComparableHistory(messages, { isShown: isImported, isNote });
    return { ...imported, callIds: new Set([...imported.callIds, ...turns.flatMap(({ clientCalls }) => clientCalls)]) };
  };
  const lost =
    last === null || (results.length === 0 && decided !== true) || fresh.length > 0 || input.length > 0
      ? []
      : [outputShownAfter(openSession, (last.range.earlier ?? last.range).after)];
  const sent = toComparableHistory(history, { isShown: () => true, isNote });
  const match = (turns: readonly TurnMessages[]): HistoryMatch => matchHistory(comparableOf(turns), sent, [unseen, ...lost]);

  const turns = openSession.transcript.everything();
  const whole = match(turns);
  const broken = whole.kind === 'fork' ? openSession.turns.endedIncomplete() : new Set();
  if (broken.size === 0) return whole;
  // After an error a client resends the message or drops it; a client that stopped a turn may drop the turn's text.
  const isSilent = (turn: TurnMessages): boolean => {
    const { assistantTexts, callIds } = comparableOf([turn]);
    return assistantTexts.length === 0 && callIds.size === 0;
  };
  const without = [(turn: TurnMessages) => broken.has(turn.turn) && isSilent(turn), ({ turn }: TurnMessages) => broken.has(turn)];
  const matches = without.map((isLeftOut) => match(turns.filter((turn) => !isLeftOut(turn))));
  return matches.find(({ kind: is }) => is === 'same') ?? whole;
}

/** Calls of an imported history have the client's ids. */
function isImported({ callId, nativeId }: ToolCallPart): boolean {
  return callId === nativeId;
}

function importHistory(
  { openSession }: SubmitContext,
  history: readonly Message[],
  { results, gathered, historyTaint }: ChatSubmission,
): void {
  openSession.taint.addAll(historyTaint ?? unknownTaint('the history that the client sent'));
  const given = results.map(({ result }) => result);
  const messages = historyWithResults(history, given);
  const event = openSession.log.append({ type: 'history', messages, ...(gathered !== undefined && { gathered }) });
  openSession.transcript.apply(event);
}

/** Resumes the turn that waits, or that runs while a call of the client is pending, with the results and the new input. */
function resumeTurn(
  context: SubmitContext,
  request: ChatSubmission,
  shown: ShownToClient,
  fresh: Classified['fresh'],
  turn: string,
): SubmittedTurn {
  const { openSession } = context;
  const { input } = request;
  const inputEvents: SessionEventBody[] = input.length === 0 ? [] : [{ type: 'turn-input', turn, input }];
  if (inputEvents.length > 0) refuseFlood(context, turn);
  // Calls that no client has received yet stay pending; only received calls without a result are aborted.
  const abortEvents = (state: TurnState): SessionEventBody[] => abortedResults(openSession, state, openCallIds(shown, state, fresh));
  openSession.runner.applyExternal(turn, (state) => [
    ...resultEvents(openSession, state, fresh),
    ...(inputEvents.length > 0 ? abortEvents(state) : []),
    ...inputEvents,
  ]);
  markAnswered(openSession, fresh, openSession.meta.keyId);
  const after = openSession.log.newest;
  // The previous response could not begin because its turn is queued; it is still due.
  const lastTurn = shown.lastAnswer?.range.turn ?? turn;
  const isQueued = lastTurn !== turn && openSession.turns.stateOf(lastTurn) === 'queued';
  const range: AnswerRange = isQueued
    ? { turn: lastTurn, after, earlier: shown.earlier ?? { turn, after } }
    : { turn, after, earlier: shown.earlier };
  return remember(context, request, joined(context, note(context, request, range), turn));
}

function openCallIds({ lastAnswer: last, unseen }: ShownToClient, state: TurnState, fresh: Classified['fresh']): ReadonlySet<string> {
  const notReceived = last === null ? clientCallIds(state) : [...unseen.callIds];
  return new Set([...notReceived, ...fresh.map(({ result }) => result.callId)]);
}

/** For a request without new input: returns what no client has received yet, or the last response again. */
function showUnseen(context: SubmitContext, request: ChatSubmission, { lastAnswer: last, earlier }: ShownToClient): SubmittedTurn {
  if (earlier !== null) {
    const completion = note(context, request, { turn: earlier.turn, after: context.openSession.log.newest, earlier });
    return remember(context, request, joined(context, completion, earlier.turn));
  }
  const callIds = request.results.map(({ result }) => result.callId);
  if (last === null) throw unknownCalls(request, callIds);
  return joined(context, last.id, last.range.turn);
}

/** Returns a response of a turn that was accepted before. */
function joined({ openSession, session }: SubmitContext, completion: string, turn: string): SubmittedTurn {
  return { turn, position: 0, session, edition: openSession.turns.get(turn)?.plan.edition ?? null, completion };
}

function note({ openSession, session, ids, now }: SubmitContext, { chat, inputHash: asked }: ChatSubmission, range: AnswerRange): string {
  const { model, includeUsage, dialect, echo } = chat;
  const id = toCompletionId(dialect, ids.next('cmpl'), session);
  openSession.completions.add({ id, range, model, includeUsage, dialect, echo, asked, createdAt: now() });
  return id;
}

/** Stores the response under the idempotency key of the request, if it has one. */
function remember(
  { openSession }: SubmitContext,
  { idempotencyKey, bodyHash = '' }: ChatSubmission,
  submitted: SubmittedTurn,
): SubmittedTurn {
  if (idempotencyKey !== undefined) openSession.turns.rememberKey(idempotencyKey, bodyHash, { ...submitted, session: null });
  return submitted;
}

function refuseFlood({ openSession }: SubmitContext, turn: string): void {
  let said = 0;
  for (const event of openSession.log.readAll(openSession.turns.get(turn)?.before ?? 0))
    if (event.type === 'turn-input' && event.turn === turn) said += 1;
  if (said >= maxInputsWhileWaiting)
    throw new Problem(
      'rate_limited',
      `This turn is waiting and already has ${said} additional inputs. Answer what it waits for, or cancel it.`,
    );
}

function ownIds(messages: readonly Message[], session: string): Message[] {
  return messages.map((message) =>
    message.role === 'assistant' || message.role === 'tool'
      ? ({
          ...message,
          parts: message.parts.map((part) => ('callId' in part ? { ...part, callId: ownCallId(part.callId, session) } : part)),
        } as Message) // The same kinds of parts as before.
      : message,
  );
}

/** Returns the id by which this session knows the call; an id of another session or client is returned unchanged. */
export function ownCallId(id: string, session: string): string {
  const reference = readToolCallId(id);
  return reference?.session === session ? reference.own : id;
}

function unknownCalls({ chat }: ChatSubmission, callIds: readonly string[]): Problem {
  const named = callIds.slice(0, limits.maxSuggestions).map(quoted);
  return invalidRequest([
    {
      path: chat.dialect === 'openai-responses' ? 'input' : 'messages',
      message: `there is no pending call for the result of ${named.join(', ')}. Send the earlier messages too, including the tool call`,
    },
  ]);
}
