/**
 * What a key bound to toolsets or agents may touch. A name outside is refused before it is looked up, so the answer says
 * nothing about whether it exists. Scopes are checked earlier (`middleware/authenticate.ts`).
 */
import type { Plan } from '../core/plan.ts';
import type { Principal } from '../core/principal.ts';
import { Problem, quoted } from '../core/problem.ts';
import { readToolsetReference } from '../core/toolset-reference.ts';

/** `reference` may carry `@version`. */
export function mayUseToolset(principal: Principal, reference: string): boolean {
  return principal.toolsets === undefined || principal.toolsets.includes(readToolsetReference(reference).name);
}

export function mayUseAgent(principal: Principal, agent: string): boolean {
  return principal.agents === undefined || principal.agents.includes(agent);
}

export function requireToolset(principal: Principal, reference: string): void {
  const { name } = readToolsetReference(reference);
  if (!mayUseToolset(principal, name)) throw new Problem('forbidden', `This key is bound to other toolsets than ${quoted(name)}.`);
}

export function requireAgent(principal: Principal, agent: string): void {
  if (!mayUseAgent(principal, agent)) throw new Problem('forbidden', `This key is bound to other agents than ${quoted(agent)}.`);
}

/** A key bound to agents could otherwise leave them by naming the model itself. */
export function requireBareModel(principal: Principal): void {
  if (principal.agents !== undefined) {
    throw new Problem(
      'forbidden',
      `This key is bound to agents; use one of them as "agent/<name>": ${principal.agents.join(', ') || 'it has none'}.`,
    );
  }
}

export function isUnbound(principal: Principal): boolean {
  return principal.toolsets === undefined && principal.agents === undefined;
}

/** Whole-workspace settings are not for a key that is bound to a part of it. */
export function requireUnbound(principal: Principal, what: string): void {
  if (!isUnbound(principal)) {
    throw new Problem('forbidden', `${what} belong to the whole workspace; this key is bound to a part of it.`);
  }
}

/** The last look before a turn: whatever a plan was made from, its agent and toolset are the key's. */
export function requirePlan(principal: Principal, plan: Plan): void {
  if (plan.agent === undefined) requireBareModel(principal);
  else requireAgent(principal, plan.agent);
  if (plan.edition !== undefined) requireToolset(principal, plan.edition.toolset);
}
