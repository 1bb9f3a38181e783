/**
 * The taint rule for histories that clients bring: the marks of an answer are stored in the Catalog before its client has the end of it, and
 * read when the answer comes back as history, in this session or another one.
 */
import { namesOfAnswer, type SaidAnswer } from '../core/answer-name.ts';
import { limits } from '../core/limits.ts';
import type { Principal } from '../core/principal.ts';
import { judgeHistory } from '../engine/policy/judge-history.ts';
import { withTimeLimit } from '../net/time-limit.ts';
import type { Wiring } from '../wiring.ts';
import type { SubmitDoor } from './accept-turn.ts';
import type { Room } from './room.ts';

export function createJudge({ catalog, callDeps, namesFor, log }: Wiring): SubmitDoor['judge'] {
  return async ({ workspace, keyId }, plan, history) => {
    const { server } = callDeps(workspace);
    const recall = async (names: readonly string[]) => (await catalog(workspace).taintMarks(names)).map((marks) => marks?.taint ?? null);
    return await judgeHistory({ log, recall, names: () => namesFor(workspace, plan, keyId), ...(server && { server }) }, keyId, history);
  };
}

/** Never throws: an answer whose marks are not stored is unknown when it comes back, and counts as both private and untrusted. */
export async function rememberAnswer({ catalog, log }: Wiring, room: Room, caller: Principal, answer: SaidAnswer): Promise<void> {
  if (answer.text.trim() === '' && answer.reasoning.trim() === '') return;
  try {
    const names = await namesOfAnswer(caller.keyId, answer);
    const marks = { names, taint: room.taint.read(), ttlMs: limits.answerMarksMs, answersOf: caller.keyId };
    const late = (): never => {
      throw new Error('the Catalog did not answer in time');
    };
    await withTimeLimit(catalog(caller.workspace).addTaintMarks(marks), limits.answerMarksWaitMs, late);
  } catch (error) {
    log.error('the marks of an answer could not be stored', { cause: String(error) });
  }
}
