/**
 * Taking in a chat client's request: the history that it resends is matched, results of its own tools and new text go to the
 * turn that waits for them, else to a turn of their own; and the answer is noted as the place in the log where it begins.
 * Everything from the match on is one block, so that two requests cannot both go on with the same turn.
 */
import { limits } from '../core/limits.ts';
import type { Message, ToolCallPart } from '../core/message.ts';
import { invalidRequest, Problem, quoted } from '../core/problem.ts';
import { callNames, pairCalls, resultMessage } from '../core/pair-calls.ts';
import { readToolCallId, toCompletionId } from '../core/reference.ts';
import type { SessionEventBody } from '../core/session-event.ts';
import { type Taint, unknownTaint } from '../core/taint.ts';
import type { TurnMessages } from '../core/transcript.ts';
import type { TurnState } from '../core/turn-state.ts';
import type { AnswerRange } from '../dialects/answer.ts';
import { dialectOf } from '../dialects/dialects.ts';
import type { SubmittedTurn, SubmitTurn } from '../ports/session.ts';
import { acceptTurn, type SubmitDoor } from './accept-turn.ts';
import type { ClientCall } from './client-calls.ts';
import { matchHistory, toTold, type HistoryMatch, type Told } from './history.ts';
import { isOwnNote, readShown, toldSince, type Shown } from './shown.ts';
import { abortedResults, answered, clientCallIds, resultEvents, type HashedResult } from './take-results.ts';

/** `results`: by the ids that this session knows the calls under. `asked`: hash of the input (`core/answer-name.ts`). `brought`: marks of the history; null: it was not judged. */
export type ChatRequest = SubmitTurn & {
  chat: NonNullable<SubmitTurn['chat']>;
  results: readonly HashedResult[];
  asked: string;
  brought: Taint | null;
};

/** null: the history is another conversation than this session's. Throws `invalid_request` for results that nobody waits for. */
export function submitChat(door: SubmitDoor, request: ChatRequest): SubmittedTurn | null {
  const { room, session } = door;
  const shown = readShown(room, session);
  const history = ownIds(request.history ?? [], session);
  const results = classify(room, request.results);
  const match = judge(door, shown, history, request, results);
  if (match.is === 'fork' || match.is === 'import' || results.strange.length > 0) {
    // In a conversation of its own each result needs the call that it answers.
    const calls = callNames(history);
    const lonely = request.results.map(({ result }) => result.callId).filter((id) => !calls.has(id));
    if (history.length === 0 || lonely.length > 0) throw nobodyWaits(request, lonely);
    if (match.is !== 'import') return null;
  }
  if (match.is === 'import') importHistory(door, history, request);
  else {
    const waiting = results.fresh[0]?.call.turn ?? room.turns.waiting()?.id ?? null;
    const repeated = request.input.length === 0 && results.fresh.length === 0;
    const again = repeated && hasFailed(room, shown);
    if (repeated && !again && match.tail === sinceLast && shown.last !== null) return joined(door, shown.last.id, shown.last.range.turn);
    if (waiting !== null) return goOn(door, request, shown, results.fresh, waiting);
    // What failed is done anew, from where it failed: there is nothing to show again.
    if (repeated && !again) return showRest(door, request, shown);
  }
  // Before anything of the turn is written: its own events come after.
  const after = room.log.newest;
  return acceptTurn(door, request, (turn) => note(door, request, { turn, after, earlier: shown.earlier }));
}

/** The last answer was a failure and nothing else. */
function hasFailed(room: SubmitDoor['room'], { last, earlier }: Shown): boolean {
  if (last === null || earlier !== null) return false;
  const status = room.turns.get(last.range.turn)?.status;
  if (status !== 'failed' && status !== 'interrupted') return false;
  const { said, calls } = toldSince(room, last.range.after);
  return said.length === 0 && calls.size === 0;
}

type Classified = {
  /** Of calls that are waited for. */
  fresh: (HashedResult & { call: ClientCall })[];
  /** Ids of calls that are none of this session's, or have another result. What was answered with the same stands nowhere. */
  strange: string[];
};

function classify({ clientCalls }: SubmitDoor['room'], results: readonly HashedResult[]): Classified {
  const classified: Classified = { fresh: [], strange: [] };
  for (const entry of results) {
    const call = clientCalls.get(entry.result.callId);
    if (call?.state === 'pending') classified.fresh.push({ ...entry, call });
    else if (call?.state !== 'answered' || call.answerHash !== entry.hash) classified.strange.push(entry.result.callId);
  }
  return classified;
}

/** Places in the list of tails that a client may not have: what nobody was shown, and the last answer, which may have been lost on its way. */
const sinceLast = 1;

function judge(
  { room, session }: SubmitDoor,
  { last, unseen }: Shown,
  history: readonly Message[],
  { results, input }: ChatRequest,
  { fresh }: Classified,
): HistoryMatch {
  // A session that is not sent a history needs none of its own here: thousands of messages stay where they are.
  if (history.length === 0) return matchHistory({ users: [], said: [], calls: new Set() }, null);
  const isNote = (paragraph: string): boolean => isOwnNote(room, session, paragraph);
  const isShown = (call: ToolCallPart): boolean => isImported(call) || room.clientCalls.get(call.callId) !== null;
  const toldIn = (turns: readonly TurnMessages[]): Told =>
    toTold(
      turns.flatMap(({ messages }) => messages),
      { isShown, isNote },
    );
  const lost = last === null || results.length === 0 || fresh.length > 0 || input.length > 0 ? [] : [toldSince(room, last.range.after)];
  const sent = toTold(history, { isShown: () => true, isNote });
  const beneath = room.clientCalls.beneathOthers();
  const match = (turns: readonly TurnMessages[]): HistoryMatch => {
    const told = toldIn(turns);
    return matchHistory({ ...told, calls: new Set([...told.calls, ...beneath, ...room.clientCalls.pending()]) }, sent, [unseen, ...lost]);
  };

  const turns = room.transcript.everything();
  const whole = match(turns);
  const broken = whole.is === 'fork' ? room.turns.brokenOff() : new Set();
  if (broken.size === 0) return whole;
  // A client that got an error sends the message again, or drops it; one that stopped a turn may drop what it said.
  const isSilent = (turn: TurnMessages): boolean => {
    const { said, calls } = toldIn([turn]);
    return said.length === 0 && calls.size === 0;
  };
  const without = [(turn: TurnMessages) => broken.has(turn.turn) && isSilent(turn), ({ turn }: TurnMessages) => broken.has(turn)];
  const matches = without.map((isLeftOut) => match(turns.filter((turn) => !isLeftOut(turn))));
  return matches.find(({ is }) => is === 'same') ?? whole;
}

/** Calls of a history that a client brought have its ids. */
function isImported({ callId, nativeId }: ToolCallPart): boolean {
  return callId === nativeId;
}

function importHistory({ room }: SubmitDoor, history: readonly Message[], { results, gathered, brought }: ChatRequest): void {
  room.taint.take(brought ?? unknownTaint('the history that the client sent'));
  const given = results.map(({ result }) => result);
  const messages = pairCalls([...history, resultMessage(given, callNames(history))]);
  const event = room.log.append({ type: 'history', messages, ...(gathered !== undefined && { gathered }) });
  room.transcript.apply(event);
}

/** With the turn that waits (or that runs while a call of the client's waits): results are taken, and what was said beside them. */
function goOn(door: SubmitDoor, request: ChatRequest, shown: Shown, fresh: Classified['fresh'], turn: string): SubmittedTurn {
  const { room } = door;
  const { input } = request;
  const said: SessionEventBody[] = input.length === 0 ? [] : [{ type: 'turn-input', turn, input }];
  if (said.length > 0) refuseFlood(door, turn);
  // Calls that no chat client was given yet are still to be shown: only what was left unanswered is given up.
  const isGivenUp = (state: TurnState): SessionEventBody[] => abortedResults(room, state, stillOpen(shown, state, fresh));
  room.runner.tell(turn, (state) => [...resultEvents(room, state, fresh), ...(said.length > 0 ? isGivenUp(state) : []), ...said]);
  answered(room, fresh);
  const after = room.log.newest;
  // The answer that was asked for before, and could not begin, is still owed.
  const owed =
    shown.last !== null && shown.last.range.turn !== turn && room.turns.stateOf(shown.last.range.turn) === 'queued'
      ? shown.last.range.turn
      : null;
  const range: AnswerRange =
    owed === null ? { turn, after, earlier: shown.earlier } : { turn: owed, after, earlier: shown.earlier ?? { turn, after } };
  const submitted = joined(door, note(door, request, range), turn);
  remember(door, request, submitted);
  return submitted;
}

function stillOpen({ last, unseen }: Shown, state: TurnState, fresh: Classified['fresh']): ReadonlySet<string> {
  const never = last === null ? clientCallIds(state) : [...unseen.calls];
  return new Set([...never, ...fresh.map(({ result }) => result.callId)]);
}

/** Nothing new was said: the rest of what was not shown, or the last answer once more. */
function showRest(door: SubmitDoor, request: ChatRequest, { last, earlier }: Shown): SubmittedTurn {
  if (earlier !== null) {
    const completion = note(door, request, { turn: earlier.turn, after: door.room.log.newest, earlier });
    const submitted = joined(door, completion, earlier.turn);
    remember(door, request, submitted);
    return submitted;
  }
  if (last === null)
    throw nobodyWaits(
      request,
      request.results.map(({ result }) => result.callId),
    );
  return joined(door, last.id, last.range.turn);
}

/** An answer of a turn that was accepted before. */
function joined({ room, session }: SubmitDoor, completion: string, turn: string): SubmittedTurn {
  return { turn, position: 0, session, edition: room.turns.get(turn)?.plan.edition ?? null, completion };
}

function note({ room, session, ids, now }: SubmitDoor, { chat, asked }: ChatRequest, range: AnswerRange): string {
  const { model, includeUsage, dialect, echo } = chat;
  const id = toCompletionId(dialect, ids.next('cmpl'), session);
  room.completions.add({ id, range, model, includeUsage, dialect, echo, asked, createdAt: now() });
  return id;
}

function remember({ room }: SubmitDoor, { idempotencyKey, bodyHash = '' }: ChatRequest, submitted: SubmittedTurn): void {
  if (idempotencyKey !== undefined) room.turns.rememberKey(idempotencyKey, bodyHash, { ...submitted, session: null });
}

function refuseFlood({ room }: SubmitDoor, turn: string): void {
  let said = 0;
  for (const event of room.log.readAll(room.turns.get(turn)?.before ?? 0))
    if (event.type === 'turn-input' && event.turn === turn) said += 1;
  if (said >= limits.maxInputsWhileWaiting)
    throw new Problem(
      'rate_limited',
      `This turn waits, and was already told ${said} things more. Answer what it waits for first, or cancel it.`,
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

/** The id by which this session knows the call; what is not its own stays as it is. */
export function ownCallId(id: string, session: string): string {
  const reference = readToolCallId(id);
  return reference?.session === session ? reference.own : id;
}

function nobodyWaits({ chat }: ChatRequest, callIds: readonly string[]): Problem {
  const named = callIds.slice(0, limits.maxSuggestions).map(quoted);
  return invalidRequest([
    {
      path: dialectOf(chat.dialect).conversationField,
      message: `nobody waits for the result of ${named.join(', ')}: send the messages before it too, with the call that it answers`,
    },
  ]);
}
