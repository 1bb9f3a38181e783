/**
 * Decisions on approvals that a chat request brings in its own wire format: applied to its session, like those of any other way to decide,
 * before the request continues the turn.
 */
import type { Dropped } from '../../core/model/dropped.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { ClientDecision, ConversationBuilder } from '../../dialects/conversation.ts';
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
  requireAllowed(principal, { act: 'use-scope', scopes: ['approve'] });
  const unknown = decisions.filter(({ session }) => session !== found?.id);
  if (found === null || unknown.length > 0) throw invalidRequest(unknown.map(({ path }) => ({ path, message: notHere })));
  const late: Problem[] = [];
  for (const decision of decisions) {
    const fault = await decideOnce(principal, found.session, decision);
    if (fault === null) continue;
    late.push(fault);
    dropped.add(decision.path, fault.detail);
  }
  const [first] = late;
  if (first !== undefined && input.length === 0 && results.length === 0) throw first;
}

const notHere = 'is not the id of an approval of this session: send the id of an approval request that its last response contains';

/** Returns the conflict of a decision that had no effect; null: it was applied, or is a repeat. */
async function decideOnce(
  principal: Principal,
  session: SessionPort,
  { callId, round, decision, reason, path }: ClientDecision,
): Promise<Problem | null> {
  try {
    await session.decide(principal, callId, decision, { round, reason });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'not_found') throw invalidRequest([{ path, message: notHere }]);
    if (error.code !== 'conflict') throw error;
    return new Problem('conflict', error.detail, { ...error.extra, param: path });
  }
}
