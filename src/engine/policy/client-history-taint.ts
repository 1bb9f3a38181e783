/**
 * The taint rule for histories that clients send: the marks of a response are stored in the Catalog before the client receives its
 * end, and looked up when the response comes back as history, in this session or in another one.
 */
import { namesOfAnswer, type AnswerContent } from '../../core/policy/answer-name.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Taint, TaintMarks } from '../../core/policy/taint.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import type { Message } from '../../core/model/message.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { CatalogCaller, CatalogPort } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { CallDeps } from '../call/call-scope.ts';
import { withTimeout } from '../timeout.ts';
import { judgeHistory } from './judge-history.ts';

/** Marks of an answer that a client may resend as history; after that the history counts as unknown. */
const answerMarksMs = 30 * 24 * 60 * 60_000;
/** The end of an answer waits this long until its marks are stored. */
const answerMarksWaitMs = 2_000;

type MarkedAnswers = { catalog(caller: CatalogCaller): Pick<CatalogPort, 'taintMarks' | 'addTaintMarks'>; log: Logger };

type HistoryJudgeDeps = MarkedAnswers & {
  callDeps(workspace: string): Pick<CallDeps, 'server'>;
  namesFor(workspace: string, plan: Plan, keyId: string): Promise<AliasMap | null>;
};

/** Returns the taint marks of a history that a client sent. */
export type HistoryJudge = (caller: Principal, plan: Plan, history: readonly Message[]) => Promise<Taint>;

/** The judge never throws. */
export function createHistoryJudge({ catalog, callDeps, namesFor, log }: HistoryJudgeDeps): HistoryJudge {
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

/**
 * Stores the marks of a response, and which session gave it, if one did. Never throws: a response without stored marks counts as private and
 * untrusted when a client sends it as history.
 */
export async function rememberAnswer(
  { catalog, log, clock }: MarkedAnswers & { clock: Clock },
  { taint, session }: { taint: Pick<TaintMarks, 'read'>; session?: string },
  caller: Pick<Principal, 'workspace' | 'keyId'>,
  answer: AnswerContent,
): Promise<void> {
  if (answer.text.trim() === '' && answer.reasoning.trim() === '') return;
  try {
    const names = await namesOfAnswer(caller.keyId, answer);
    const marks = { names, taint: taint.read(), ttlMs: answerMarksMs, answersOf: caller.keyId, ...(session !== undefined && { session }) };
    await withTimeout(clock, catalog(caller.workspace).addTaintMarks(marks), answerMarksWaitMs, () => {
      throw new Error('no response in time');
    });
  } catch (error) {
    log.error('the taint marks of a response could not be stored', { cause: String(error) });
  }
}
