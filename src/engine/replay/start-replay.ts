/** Starts a replay: finds its cases, checks what it replaces, and gives both to its object. */
import { sha256Hex, canonicalJson } from '../../core/hash.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import type { Replay, ReplayRequest } from '../../core/replay/replay.ts';
import { maxReplayCases, Suite } from '../../core/replay/suite.ts';
import { readToolsetReference } from '../../core/toolset/toolset.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { Directory } from '../../ports/directory.ts';
import type { CaseOfReplay, Replays } from '../../ports/replays.ts';
import type { Sessions } from '../../ports/session.ts';
import type { UsageReader } from '../../ports/usage.ts';
import type { Idempotency } from '../idempotency.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';
import { readToolset } from '../plan/read-toolset.ts';
import { requireReplayRoom } from './replay-room.ts';
import { readReplacements, type ReplacementDeps } from './replacements.ts';
import { type CaseSource, selectCases } from './select-cases.ts';

export type ReplayDeps = ReplacementDeps & {
  directory: Directory;
  sessions: Sessions;
  usage: UsageReader;
  replays: Replays;
  clock: { now(): number };
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
};

/** Each reads a limited number of rows and sessions. */
const maxPages = 40;
const casesPerPage = 100;

/** Throws `rate_limited` while the key has too many, `not_found`, `forbidden`, and `invalid_request` for drafts and for a request without cases. */
export async function startReplay(
  deps: ReplayDeps,
  principal: Principal,
  request: ReplayRequest,
  idempotency: Idempotency,
): Promise<Replay> {
  const { unmatched, concurrency, maxCost, with: replaced } = request;
  const of = idempotency.bodyHash ?? (await sha256Hex(canonicalJson(request)));
  await requireUsable(deps, principal, request);
  // A repeated request gets its replay, which is counted.
  if (idempotency.idempotencyKey === undefined) await requireReplayRoom(deps.catalog(principal), null);
  const { suite, rules, source } = await sourceOf(deps, principal, request);
  const { cases, left } = await allCases(deps, principal, source);
  if (cases.length === 0)
    throw new Problem('not_found', 'No recorded work matches. Rows of the request log appear within seconds; GET /v1/requests lists them.');
  const id = await deps.replays.create(principal, idempotency.idempotencyKey);
  const started = { with: replaced, unmatched, concurrency, ...(maxCost !== undefined && { maxCost }), of, suite, rules, cases, left };
  return await deps.replays.get(id).start(principal, started);
}

/** Each case plans with it: what is wrong with it is reported before the replay exists. */
async function requireUsable(deps: ReplayDeps, principal: Principal, request: ReplayRequest): Promise<void> {
  await readReplacements(deps, principal, request);
  const { model, agent, toolset } = request.with;
  if (model !== undefined) await deps.planTurn(principal, { model });
  if (typeof agent === 'string') await deps.planTurn(principal, { agent: readToolsetReference(agent).name });
  if (typeof toolset === 'string') await readToolset(deps.directory, principal, toolset);
}

type Given = { suite: Replay['suite']; rules: Suite['rules']; source: CaseSource };

async function sourceOf(
  { catalog }: ReplayDeps,
  principal: Principal,
  { suite, select, cases, rules = [] }: ReplayRequest,
): Promise<Given> {
  if (suite === undefined) return { suite: null, rules, source: { select, cases } };
  requireAllowed(principal, { act: 'use-workspace', what: 'Suites' });
  const { version, body } = await catalog(principal).get('suite', suite);
  const stored = Suite.parse(body);
  return { suite: { name: suite, version }, rules: stored.rules, source: stored };
}

/** `left`: at least so many; one more for what was not looked for. */
async function allCases(deps: ReplayDeps, principal: Principal, source: CaseSource): Promise<{ cases: CaseOfReplay[]; left: number }> {
  const now = deps.clock.now();
  const cases: CaseOfReplay[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const found = await selectCases(deps, principal, source, { cursor, limit: casesPerPage, now });
    cases.push(...found.cases);
    if (found.nextCursor === null) return { cases: cases.slice(0, maxReplayCases), left: found.left };
    if (page === maxPages || cases.length >= maxReplayCases) return { cases: cases.slice(0, maxReplayCases), left: found.left + 1 };
    cursor = found.nextCursor;
  }
}
