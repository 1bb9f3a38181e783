/**
 * Limits of turns and of requests to models (`core/usage-limits.ts`): whose limits apply, and the admission of a turn. Turns that a webhook
 * or schedule starts are refused in the same way, and are tried again by the Catalog.
 */
import { isIssuedKeyId } from '../../core/people/key.ts';
import type { Agent } from '../../core/turn/agent.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/people/principal.ts';
import { isReserved, type LimitedHolder, limitedHolders, limitsAmong } from '../../core/usage-limits.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { SubmittedTurn, SubmitTurn } from '../../ports/session.ts';

/** The limits of the workspace come with the verdict of a created key; for the root key, people and triggers, its settings are read. */
export async function readLimits(
  directory: Pick<Directory, 'workspaceSettings'>,
  principal: Principal,
  agent?: { name: string; agent: Agent },
): Promise<LimitedHolder[]> {
  const { workspace, keyId, limits } = principal;
  const own = agent === undefined ? undefined : { name: agent.name, limits: limitsAmong(agent.agent.limits) };
  if (isIssuedKeyId(keyId)) return limitedHolders(principal, own);
  const ofWorkspace = limitsAmong((await directory.workspaceSettings(workspace)).limits);
  return limitedHolders({ workspace, keyId, limits: { ...limits, ...(ofWorkspace !== null && { workspace: ofWorkspace }) } }, own);
}

/** Counts one use of the agents among the holders: requests of keys are counted when they arrive. */
export async function countAgentUse(limiter: Limiter, workspace: string, holders: readonly LimitedHolder[]): Promise<void> {
  const agents = holders.filter(({ of }) => of === 'agent');
  await limiter.countRequest(workspace, agents);
}

/** Submits a turn if its limits allow it. Throws `rate_limited` before anything is stored. */
export async function submitWithinLimits(
  { limiter, ids }: { limiter: Limiter; ids: Ids },
  { workspace }: Principal,
  request: SubmitTurn,
  submit: (request: SubmitTurn) => Promise<SubmittedTurn>,
): Promise<SubmittedTurn> {
  const { limited } = request.plan;
  if (limited === undefined) return await submit(request);
  const turn = request.turn ?? ids.next('turn');
  await admitTurn(limiter, workspace, limited, turn);
  try {
    const submitted = await submit({ ...request, turn });
    // The request has joined or continued another turn.
    if (submitted.turn !== turn) await limiter.endTurn(workspace, limited, turn);
    return submitted;
  } catch (error) {
    await limiter.endTurn(workspace, limited, turn);
    throw error;
  }
}

/** Counts a turn that starts, until `limiter.endTurn`. Throws `rate_limited`. */
export async function admitTurn(limiter: Limiter, workspace: string, limited: readonly LimitedHolder[], turn: string): Promise<void> {
  await requireBudget(limiter, workspace, limited);
  await limiter.requireStorage(workspace, limited);
  await countAgentUse(limiter, workspace, limited);
  await limiter.startTurn(workspace, limited, turn);
}

/** An exhausted budget refuses the turn here instead of its first step, which only waits for what calls in flight have reserved. */
async function requireBudget(limiter: Limiter, workspace: string, limited: readonly LimitedHolder[]): Promise<void> {
  try {
    (await limiter.reserveCall(workspace, limited, { tokens: 1, cost: 0.000_001 })).settle({ tokens: 0, cost: 0 });
  } catch (error) {
    if (!(error instanceof Problem && isReserved(error))) throw error;
  }
}
