/** Compares the toolsets and rules that a plan changes with the calls of the last days: a bounded number of toolsets, and one reading of the newest turns. */
import { visibleKey } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { Problem } from '../../core/problem.ts';
import { documentPath } from '../../core/project/project-sections.ts';
import { hasImpact, impactText, type ImpactRow, type PlanImpact } from '../../core/project/plan-impact.ts';
import { dayOf } from '../../core/records/usage.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import { type AppliedDocument, maxComparedToolsets } from '../../ports/projects.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import type { DecisionImpact } from '../configuration/decision-impact.ts';
import { type ImpactSources, policyImpact } from '../configuration/policy-impact.ts';
import { newestTurns, type Turns } from '../configuration/recorded-turns.ts';
import { type ToolsetImpact, toolsetImpact } from '../configuration/toolset-impact.ts';
import { previewToolset } from '../configuration/write-toolset.ts';
import { planNames } from '../plan/plan-names.ts';

export type PlanImpactDeps = ImpactSources & { now(): number };

const days = 30;
const dayMs = 86_400_000;
const maxAtOnce = 3;
const maxExamples = 5;

/** `mended`: by name, the toolsets with the aliases that keep calls working. */
export async function planImpact(
  deps: PlanImpactDeps,
  catalog: CatalogPort,
  principal: Principal,
  documents: readonly AppliedDocument[],
): Promise<PlanImpact & { mended: ReadonlyMap<string, Toolset> }> {
  const now = deps.now();
  const range = { from: dayOf(now - (days - 1) * dayMs), to: dayOf(now) };
  const key = visibleKey(principal);
  const asked = { workspace: principal.workspace, ...range, key };
  const result: PlanImpact & { mended: Map<string, Toolset> } = { rows: [], unknown: [], mended: new Map() };
  const fewAtOnce = createConcurrencyLimit(maxAtOnce);
  let turns: Promise<Turns> | undefined;
  const compare = async ({ kind, name, action, after }: AppliedDocument, at: string): Promise<void> => {
    const add = (row: Row, more: string): void => void result.rows.push({ ...row, name: at, text: impactText(row), more });
    const unknown = (reason: string): void => void result.unknown.push({ name: at, reason });
    if (action === 'deferred') return unknown('its tools are known when this is applied');
    if (after === undefined) return unknown(`only ${maxComparedToolsets} toolsets of a plan are compared`);
    if (kind === 'policy') {
      if (key !== undefined) return unknown('the key sees only its own calls');
      // Bodies were parsed by the schema of their kind.
      const impact = await policyImpact(deps, principal, range, after as Policy);
      add({ ...policyRow(impact), isWhole: isWhole(impact.turns, impact.more) }, 'POST /v1/policy/impact');
      return;
    }
    turns ??= newestTurns(deps.usage, asked);
    const draft = await draftOf(catalog, principal, name, after as Toolset);
    if (draft.compiled.issues.length + draft.compiled.conflicts.length > 0) return unknown('it names tools of other documents of the plan');
    const stored = await deps.directory.toolset(principal.workspace, name);
    const before = planNames(stored.names, { aliases: deps.aliases, allow: null });
    const impact = await toolsetImpact(deps, principal, { ...asked, toolset: name, cursor: undefined }, before, draft, await turns);
    if (impact.mended !== null) result.mended.set(name, impact.mended);
    add(toolsetRow(impact), `POST /v1/toolsets/${name}/impact`);
  };
  const changed = documents.filter(
    ({ kind, action, isNew }) =>
      (kind === 'toolset' && isNew !== true && (action === 'updated' || action === 'deferred')) ||
      (kind === 'policy' && (action === 'created' || action === 'updated')),
  );
  const tryToCompare = async (document: AppliedDocument): Promise<void> => {
    const at = documentPath(document.kind, document.name);
    try {
      await compare(document, at);
    } catch (error) {
      // The plan itself does not depend on past calls.
      if (!(error instanceof Problem)) throw error;
      result.unknown.push({ name: at, reason: error.detail });
    }
  };
  await Promise.all(changed.map((document) => fewAtOnce(() => tryToCompare(document))));
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
  return { ...result, rows: result.rows.filter(hasImpact).sort(byName), unknown: result.unknown.sort(byName) };
}

async function draftOf(catalog: CatalogPort, principal: Principal, name: string, toolset: Toolset) {
  const compile = (tried: Toolset) => previewToolset(catalog, principal, name, tried, [...tried.tools.keys()]);
  return { toolset, compile, compiled: await compile(toolset) };
}

type Row = Omit<ImpactRow, 'name' | 'text' | 'more'>;

function toolsetRow({ changed, mends, decisions, arguments: given, nextCursor }: ToolsetImpact): Row {
  const broken = changed.filter(({ change }) => change !== 'found' && change !== 'targets');
  const calls = (wanted: string): number => broken.reduce((sum, { change, calls }) => sum + (change === wanted ? calls : 0), 0);
  const counts = { gone: calls('gone'), moved: calls('moved'), ambiguous: calls('ambiguous'), unusable: calls('unusable') };
  const refused = given?.refusedCalls ?? 0;
  const judged = decisionCounts(decisions);
  return {
    ...{ days, ...counts, refused, ...judged },
    ...{ names: broken.length, examples: broken.slice(0, maxExamples).map(({ requested }) => requested) },
    calls: Object.values(counts).reduce((sum, count) => sum + count, 0) + refused + judged.denied,
    mends:
      new Set(mends.map(({ tool, alias }) => `${tool} ${alias}`)).size +
      (given?.refused.reduce((sum, { mends: ofArguments }) => sum + ofArguments.length, 0) ?? 0),
    isWhole: isWhole(given?.turns, nextCursor !== null),
  };
}

function policyRow(impact: DecisionImpact): Omit<Row, 'isWhole'> {
  const judged = decisionCounts(impact);
  const none = { names: 0, examples: [], gone: 0, moved: 0, ambiguous: 0, unusable: 0, refused: 0, mends: 0 };
  return { ...none, ...judged, days, calls: judged.denied };
}

function decisionCounts({ changed }: DecisionImpact): Pick<Row, 'denied' | 'asked' | 'eased'> {
  const order = { allow: 0, ask: 1, deny: 2 };
  const sum = (isOne: (was: number, now: number) => boolean): number =>
    changed.reduce((total, { was, now, calls }) => total + (isOne(order[was.verdict], order[now.verdict]) ? calls : 0), 0);
  return { denied: sum((_was, now) => now === 2), asked: sum((was, now) => now === 1 && was === 0), eased: sum((was, now) => now < was) };
}

function isWhole(turns: { left: number; more: boolean } | undefined, isCut: boolean): boolean {
  return !isCut && turns?.left === 0 && !turns.more;
}
