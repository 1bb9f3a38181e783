/**
 * Decides what happens with an effect: it is allowed, requires approval, or is denied (contract §7). Evaluated at the capability, for
 * every tool (`engine/policy/policy-guard.ts`), and in the call path for calls that leave the service; explained by POST
 * /v1/policy/test.
 * Deny rules take precedence over ask rules, ask rules over allow rules, and allow rules over the default questions, whatever the
 * order of the rules.
 */
import type { ApprovalReason, AskKind } from './approval.ts';
import { isInside } from '../text/path.ts';
import type { Actor, Circumstances, EffectSubject } from './effects/effect-kind.ts';
import { rulesOfEffect, type Effect } from './policy-effect.ts';
import { withoutPort } from './host.ts';
import { matchesOffer } from '../names/offer-pattern.ts';
import { isTainted } from './taint.ts';
import { firstMatch, isOfHost, isOfTool, ruleTableOf, type PlacedRule } from './rule-table.ts';
import { derivedNotes, type PolicyRule } from './rule.ts';

/** `ask`: for the verdict `ask`. `rule`: the rule that decided; null: the default. `reason`: one sentence without its full stop. */
export type PolicyDecision = { verdict: 'allow' | 'ask' | 'deny'; ask: ApprovalReason | null; rule: PlacedRule | null; reason: string };

const nothingToAsk: PolicyDecision = { verdict: 'allow', ask: null, rule: null, reason: 'It has no effect that requires approval' };

export function evaluatePolicy(rules: readonly PolicyRule[], effect: Effect, circumstances: Circumstances): PolicyDecision {
  if (rules.length === 0) return byDefault(effect, circumstances, () => null);
  const table = ruleTableOf(rules);
  const { actor } = circumstances;
  const denying = firstMatch(table.deny, effect, actor, (rule) => forbids(rule, effect, circumstances));
  if (denying !== null) return { verdict: 'deny', ask: null, rule: denying, reason: reasonOf(denying, 'forbids', effect, actor) };
  const asking = firstMatch(table.ask, effect, actor, (rule) => forbids(rule, effect, circumstances));
  if (asking !== null) {
    const reason = reasonOf(asking, 'asks before', effect, actor);
    return { verdict: 'ask', ask: { kind: 'rule', reason, target: null }, rule: asking, reason };
  }
  return byDefault(effect, circumstances, (ask) =>
    firstMatch(table.allow, effect, actor, (rule) => permits(rule, effect, ask.kind, circumstances)),
  );
}

/** Whether the rule alone would affect the decision: deny the effect, require approval, or answer one of its questions. */
export function ruleApplies(rule: PolicyRule, effect: Effect, circumstances: Circumstances): boolean {
  return rule.decision === 'allow'
    ? rulesOfEffect(effect)
        .questions(effect, circumstances)
        .some(({ kind }) => permits(rule, effect, kind, circumstances))
    : forbids(rule, effect, circumstances);
}

/** Removes the approval requirement; a denied effect stays denied. */
export function withoutApproval(judgement: PolicyDecision): PolicyDecision {
  return judgement.verdict === 'ask' ? nothingToAsk : judgement;
}

function byDefault(effect: Effect, circumstances: Circumstances, allowing: (ask: ApprovalReason) => PlacedRule | null): PolicyDecision {
  let allowed: PlacedRule | null = null;
  for (const ask of rulesOfEffect(effect).questions(effect, circumstances)) {
    const rule = allowing(ask);
    if (rule === null) return { verdict: 'ask', ask, rule: null, reason: ask.reason };
    allowed ??= rule;
  }
  return allowed === null
    ? nothingToAsk
    : { verdict: 'allow', ask: null, rule: allowed, reason: reasonOf(allowed, 'allows', effect, circumstances.actor) };
}

/** For rules that deny or ask: they also cover the tools that a tool calls, and every aspect of the effect. */
function forbids(rule: PolicyRule, effect: Effect, circumstances: Circumstances): boolean {
  const { actor, taint } = circumstances;
  const tainted = taint !== null && isTainted(taint);
  const { raises, subject } = rulesOfEffect(effect);
  const about = subject(effect);
  return (
    (rule.tool === undefined || isOfTool(rule.tool, actor.tool) || (actor.chain ?? []).some((tool) => isOfTool(rule.tool ?? '', tool))) &&
    (rule.kind === undefined || raises(effect, rule.kind, tainted)) &&
    (rule.effect === undefined || includes(rule.effect, effect) || coversMoveAway(rule, effect)) &&
    // A general ask rule does not cover reading; it must name the effect `read`.
    (rule.decision === 'deny' || effect.kind !== 'read-file' || rule.effect === 'read') &&
    (isAbout(rule, about, actor) || (about.host !== undefined && isAbout(rule, { ...about, host: withoutPort(about.host) }, actor)))
  );
}

/** A file that may not be deleted may not be moved away either. */
function coversMoveAway(rule: PolicyRule, effect: Effect): boolean {
  return rule.effect === 'destroy' && rule.path !== undefined && effect.kind === 'write-file' && effect.change === 'move-away';
}

/** For rules that allow: they cover only the tool itself, and only the given question. */
function permits(rule: PolicyRule, effect: Effect, kind: AskKind, { actor, taintRule }: Circumstances): boolean {
  if (rule.kind === undefined ? kind === 'taint' : rule.kind !== kind) return false;
  // The switch of the whole workspace does not apply if the agent has its own.
  if (kind === 'taint' && taintRule === true && Object.keys(rule).every((member) => member === 'decision' || member === 'kind'))
    return false;
  const { sends, change, subject } = rulesOfEffect(effect);
  return (
    (rule.tool === undefined || isOfTool(rule.tool, actor.tool)) &&
    (rule.effect === undefined || (rule.effect === 'send' ? sends(effect) : change(effect) === rule.effect)) &&
    isAbout(rule, subject(effect), actor)
  );
}

function includes(done: NonNullable<PolicyRule['effect']>, effect: Effect): boolean {
  const { sends, change } = rulesOfEffect(effect);
  if (done === 'send') return sends(effect);
  // A moved file could be read at its new path, so a file that may not be read may not be moved.
  if (done === 'read' && effect.kind === 'write-file' && effect.change === 'move-away') return true;
  const most = change(effect);
  return most === done || (done === 'write' && most === 'destroy');
}

function isAbout(rule: PolicyRule, { host, method, secret, name, path, resource, prompt }: EffectSubject, actor: Actor): boolean {
  return (
    (rule.agent === undefined || rule.agent === actor.agent) &&
    (rule.key === undefined || rule.key === actor.key) &&
    (rule.host === undefined || (host !== undefined && isOfHost(rule.host, host))) &&
    (rule.method === undefined || rule.method === method) &&
    (rule.secret === undefined || rule.secret === secret) &&
    (rule.name === undefined || rule.name === name) &&
    (rule.resource === undefined || (resource !== undefined && matchesOffer(rule.resource, resource))) &&
    (rule.prompt === undefined || (prompt !== undefined && matchesOffer(rule.prompt, prompt))) &&
    (rule.path === undefined || (path !== undefined && isInside(path, rule.path)))
  );
}

function reasonOf({ index, rule }: PlacedRule, verb: string, effect: Effect, actor: Actor): string {
  const [derived] = Object.values(derivedNotes).filter((note) => note === rule.note);
  if (derived !== undefined) return `Nothing forbids ${rulesOfEffect(effect).describe(effect, actor)}, and ${derived}`;
  const why = rule.note === undefined ? '' : ` (${rule.note})`;
  return `Rule ${index} of the workspace's policy ${verb} ${rulesOfEffect(effect).describe(effect, actor)}${why}`;
}
