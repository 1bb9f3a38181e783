/**
 * The taint rule for histories that clients send: the marks of a response are stored in the Catalog before the client receives its
 * end, and looked up when the response comes back as history, in this session or in another one.
 */
import { namesOfAnswer, type AnswerContent } from '../../../core/policy/answer-name.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { judgeHistory } from '../../../engine/policy/judge-history.ts';
import { withTimeout } from '../../../engine/timeout.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { SessionNeeds } from '../object/session-needs.ts';
import type { SubmitContext } from './accept-turn.ts';
import type { OpenSession } from '../object/open-session.ts';

/** Marks of an answer that a client may resend as history; after that the history counts as unknown. */
const answerMarksMs = 30 * 24 * 60 * 60_000;
/** The end of an answer waits this long until its marks are stored. */
const answerMarksWaitMs = 2_000;

export function createHistoryJudge({ catalog, callDeps, namesFor, log }: SessionNeeds): SubmitContext['judgeHistory'] {
  return async ({ workspace, keyId }, plan, history) => {
    const { server } = callDeps(workspace);
    const recall = async (names: readonly string[]) => (await catalog(workspace).taintMarks(names)).map((marks) => marks?.taint ?? null);
    return await judgeHistory(
      { log, storedMarks: recall, names: () => namesFor(workspace, plan, keyId), ...(server && { server }) },
      keyId,
      history,
    );
  };
}

/** Stores the marks of a response, and that this session gave it. Never throws: a response without stored marks counts as private and untrusted when a client sends it as history. */
export async function rememberAnswer(
  { catalog, log }: SessionNeeds,
  { openSession, session }: { openSession: OpenSession; session: string },
  caller: Principal,
  answer: AnswerContent,
): Promise<void> {
  if (answer.text.trim() === '' && answer.reasoning.trim() === '') return;
  try {
    const names = await namesOfAnswer(caller.keyId, answer);
    const marks = { names, taint: openSession.taint.read(), ttlMs: answerMarksMs, answersOf: caller.keyId, session };
    await withTimeout(systemClock, catalog(caller.workspace).addTaintMarks(marks), answerMarksWaitMs, () => {
      throw new Error('no response in time');
    });
  } catch (error) {
    log.error('the taint marks of a response could not be stored', { cause: String(error) });
  }
}
