/**
 * Decisions on approvals, and answers to questions of tools' servers, that a chat request brings in its own wire format: applied to its
 * session, like those of any other way, before the request continues the turn.
 */
import type { Dropped } from '../../core/model/dropped.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, type Issue, Problem } from '../../core/problem.ts';
import type { ClientAnswer, ClientDecision, ConversationBuilder } from '../../dialects/conversation.ts';
import type { SessionPort } from '../../ports/session.ts';
import type { FoundSession } from './chat-session.ts';

/**
 * Applies each decision, so that a retry of the request has the same effect, and then throws the first fault: `forbidden` for a key that may not
 * decide, `invalid_request` for an approval that is not of this session, `conflict` for one that was decided differently or has expired. If
 * the request continues with other input, such a late decision is only named in `dropped`.
 */
export async function decideInChat(
  principal: Principal,
  found: FoundSession | null,
  { decisions, input, results }: Pick<ConversationBuilder, 'decisions' | 'input' | 'results'>,
  dropped: Dropped,
): Promise<void> {
  const approvals = decisions.filter((given) => 'decision' in given);
  const answers = Map.groupBy(
    decisions.filter((given) => 'answer' in given),
    ({ callId, round }) => `${callId} ${round}`,
  );
  if (approvals.length > 0) requireAllowed(principal, { act: 'use-scope', scopes: ['approve'] });
  const unknown = decisions.filter(({ session }) => session !== found?.id);
  if (found === null || unknown.length > 0) throw invalidRequest(unknown.map(({ path }) => ({ path, message: notHere })));
  const late: Problem[] = [];
  const apply = async (path: string, work: Promise<unknown>): Promise<void> => {
    const fault = await conflictOf(path, work);
    if (fault === null) return;
    late.push(fault);
    dropped.add(path, fault.detail);
  };
  for (const given of approvals) await apply(given.path, decideOnce(principal, found.session, given));
  for (const given of answers.values()) await apply(given[0]?.path ?? '', answerOnce(principal, found.session, given));
  const [first] = late;
  if (first !== undefined && input.length === 0 && results.length === 0) throw first;
}

const notHere = 'is not the id of an approval of this session: send the id of an approval request that its last response contains';

/** Returns the conflict of a decision that had no effect; null: it was applied, or is a repeat. */
async function conflictOf(path: string, work: Promise<unknown>): Promise<Problem | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'conflict') throw error;
    return new Problem('conflict', error.detail, { ...error.extra, param: path });
  }
}

async function decideOnce(
  principal: Principal,
  session: SessionPort,
  { callId, round, decision, reason, path }: ClientDecision,
): Promise<void> {
  try {
    await session.decide(principal, callId, decision, { round, reason });
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') throw invalidRequest([{ path, message: notHere }]);
    throw error;
  }
}

/** All answers of one call. A question that was closed meanwhile is a conflict, like one that was answered otherwise. */
async function answerOnce(principal: Principal, session: SessionPort, answers: readonly ClientAnswer[]): Promise<void> {
  const [first] = answers;
  if (first === undefined) return;
  const input = Object.fromEntries(answers.map(({ key, answer }) => [key, answer]));
  try {
    await session.submitInput(principal, { callId: first.callId, round: first.round, input });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'not_found') throw new Problem('conflict', error.detail);
    throw error.code === 'invalid_request' ? invalidRequest(issuesIn(error, answers)) : error;
  }
}

/** The issues with the paths of the request: `input.<key>.content.<field>` is the field in the answer to that key. */
function issuesIn({ extra }: Problem, answers: readonly ClientAnswer[]): Issue[] {
  const issues = extra.issues as Issue[]; // `invalidRequest` wrote them.
  return issues.map((issue) => {
    const given = answers.find(({ key }) => issue.path.startsWith(`input.${key}.`));
    if (given === undefined) return { path: 'resume', message: `${issue.path} ${issue.message}` };
    const field = issue.path.slice(`input.${given.key}.`.length).replace(/^content\.?/, '');
    return { ...issue, path: field === '' ? given.path : `${given.path}.${field}` };
  });
}
