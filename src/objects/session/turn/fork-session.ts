/** Forks a session after one of its turns: a new session gets the conversation up to there, and the files as they are now. */
import type { Principal } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { pairCalls } from '../../../core/turn/pair-calls.ts';
import { MB } from '../../../core/limits/units.ts';
import type { ForkedConversation, SessionView } from '../../../ports/session.ts';
import { copyInParts } from '../../../storage/files/file-image.ts';
import type { OpenSession } from '../object/open-session.ts';
import type { SubmitContext } from './accept-turn.ts';
import { conversationUpTo } from './branch-history.ts';

/** It is sent in one RPC, which carries 32 MB, and each object holds it in memory several times. */
export const maxForkCharacters = 10 * MB;

type ForkContext = Pick<SubmitContext, 'openSession' | 'session' | 'sessions'>;

/** `key`: as in `Sessions.create`. A repeat with the key completes a fork that was interrupted. */
export async function forkSession(context: ForkContext, caller: Principal, turn: string, key?: string): Promise<SessionView> {
  const { openSession, session, sessions } = context;
  const conversation = conversationThrough(context, turn);
  const setup = { ...openSession.meta.setup, listed: true, from: { session, turn } };
  const made = await sessions.create(caller, setup, key);
  // Either it was completed before, or the key has created another session.
  if (made.lastEvent > 0 || made.from?.session !== session || made.from.turn !== turn) return made;
  const target = sessions.get(made.id);
  try {
    await copyInParts(openSession.files, (part) => target.applyFiles(caller, part));
    await target.importConversation(caller, conversation);
  } catch (error) {
    // With a key the next attempt completes it.
    if (key === undefined) await target.remove(caller).catch(() => undefined);
    throw error;
  }
  return await target.view(caller);
}

/** Takes over the conversation of another session. Has no effect on a session that has one. */
export function importConversation(openSession: OpenSession, { history, gathered, taint, title }: ForkedConversation): void {
  const { log, transcript, summary } = openSession;
  if (log.newest > 0) return;
  openSession.taint.addAll(taint);
  transcript.apply(log.append({ type: 'history', messages: pairCalls(history), ...(gathered.length > 0 && { gathered }) }));
  summary.noteFork(title);
}

export function appendHistory(
  openSession: OpenSession,
  { history, taint }: Pick<ForkedConversation, 'history' | 'taint'>,
): { event: number } {
  const { log, transcript, turns } = openSession;
  turns.requireAcceptable();
  if (!turns.isIdle()) throw new Problem('conflict', 'A turn of this session has not ended. Wait for its end, or cancel it.');
  openSession.taint.addAll(taint);
  const event = log.append({ type: 'history', messages: pairCalls(history) });
  transcript.apply(event);
  turns.extendLast(event.id);
  return { event: event.id };
}

function conversationThrough({ openSession, session }: ForkContext, turn: string): ForkedConversation {
  const row = openSession.turns.get(turn);
  if (row === null) throw new Problem('not_found', 'There is no such turn in this session.');
  if (row.lastEvent === null) throw new Problem('conflict', 'This turn has not ended yet. Wait for its end or cancel it.');
  const conversation = conversationUpTo(openSession, session, row.lastEvent);
  const { length } = JSON.stringify(conversation.history);
  if (length > maxForkCharacters) {
    const detail = `The conversation up to this turn has ${length} characters, and at most ${maxForkCharacters} can be copied. Fork after an earlier turn.`;
    throw new Problem('body_too_large', detail);
  }
  return { ...conversation, taint: openSession.taint.read(), title: openSession.summary.summary().title };
}
