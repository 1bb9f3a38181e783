/** Reads the recording of a case: a turn from its session, or a request from the request log. */
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import { type RecordedTurn, recordedTurn } from '../../core/replay/recorded-turn.ts';
import type { RecordedConversation } from '../../ports/session.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';
import { type CaseDeps, pricesOf, type RecordedCase, type RecordedPlace, Unreadable } from './recorded-case.ts';

/** Throws `Unreadable` for a recording that is gone, or cannot be replayed. */
export async function readCase(deps: CaseDeps, principal: Principal, source: RecordedPlace): Promise<RecordedCase> {
  try {
    if ('session' in source) return await readTurn(deps, principal, source);
    const { readRecordedRequest } = await import('./recorded-request.ts');
    return await readRecordedRequest(deps, principal, source.request);
  } catch (error) {
    if (error instanceof Problem && unreadableCodes.has(error.code))
      throw new Unreadable(error.detail, error.code === 'not_found' || error.code === 'forbidden');
    throw error;
  }
}

const unreadableCodes: ReadonlySet<string> = new Set(['not_found', 'forbidden', 'conflict', 'body_too_large', 'invalid_request']);

async function readTurn(
  deps: CaseDeps,
  principal: Principal,
  { session, turn }: Extract<RecordedPlace, { session: string }>,
): Promise<RecordedCase> {
  const { setup, asked, events, history, gathered } = await deps.sessions.get(session).recordedTurn(principal, turn);
  const recorded = recordedTurn(events, await pricesOf(deps.directory, principal.workspace, events));
  if (recorded === null) throw new Unreadable('The turn has not started.');
  if (recorded.laterInput.length > 0)
    throw new Unreadable(
      'Input was sent while the turn waited. A replay does not wait, so that it cannot have this input at the same point.',
    );
  return {
    ...{ asked: toPlanRequest({ setup, asked }, recorded), history, gathered, input: recorded.input, recorded },
    answers: true,
    notes: [],
  };
}

function toPlanRequest({ setup, asked }: Pick<RecordedConversation, 'setup' | 'asked'>, recorded: RecordedTurn): PlanRequest {
  const { edition, agent } = recorded;
  const toolset = asked?.toolset ?? setup.toolset;
  return {
    ...(agent === null ? { model: recorded.model } : { agent }),
    ...(agent === null && edition !== null && { toolset: toolset ?? edition.toolset }),
    ...(agent !== null && toolset !== undefined && { toolset }),
    instructions: asked?.instructions ?? setup.instructions,
    ...(asked?.settings !== undefined && { settings: asked.settings }),
    tools: asked?.tools ?? setup.tools ?? [],
    ...(asked?.allowed !== undefined && { allowed: asked.allowed }),
  };
}
