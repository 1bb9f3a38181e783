/**
 * What accepting a held definition would have done to the calls of the last days, for the message that it is held. Computed by the service
 * itself, apart from the refresh, and bounded in time: the API computes it without that bound.
 */
import { systemKeyId } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import { dayOf } from '../../core/records/usage.ts';
import type { HeldImpact, HeldTool } from '../../core/triggers/callbacks/held-notice.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import { definitionImpact } from '../configuration/definition-impact.ts';
import { withTimeout } from '../timeout.ts';

const days = 30;
const dayMs = 86_400_000;
const maxMs = 5_000;
const maxMends = 10;

type Deps = { clock: Clock; log: Logger; audit: AuditPort; sessions: Sessions; catalog: CatalogPort; aliases: boolean };

/** null: it could not be computed, also because the server lists another definition by now. */
export async function heldImpact(deps: Deps, workspace: string, server: string, tool: HeldTool): Promise<HeldImpact | null> {
  const { clock, log, catalog } = deps;
  const compute = async (): Promise<HeldImpact | null> => {
    const { accepted: before, listed: after } = await catalog.reviewedDefinitions(server, tool.name);
    if (after.source?.pin !== tool.refId) return null;
    const range = { from: dayOf(clock.now() - (days - 1) * dayMs), to: dayOf(clock.now()), key: undefined };
    const impact = await definitionImpact(deps, { workspace, keyId: systemKeyId, scopes: ['admin'] }, { before, after }, range);
    const { judged, refusedCalls, refused, hashed, left, turns } = impact;
    const mends = refused.flatMap(({ toolset, mends: own }) => own.map(({ argument, alias }) => ({ toolset, argument, alias })));
    return {
      ...{ days, judged, refusedCalls, mends: mends.slice(0, maxMends), unjudged: hashed + left },
      turns: { left: turns.left, more: turns.more },
    };
  };
  try {
    return await withTimeout(clock, compute(), maxMs, () => null);
  } catch (error) {
    if (!(error instanceof Problem))
      log.error('the impact of a held definition could not be computed', { server, tool: tool.name, cause: String(error) });
    return null;
  }
}
