/**
 * Indexes the rules of a policy by subject, so that a decision checks only the candidates and not a thousand rules. Built once per
 * list of rules; `evaluate-policy.ts` decides which candidates match.
 */
import { memoizeByObject } from '../memoize.ts';
import type { Actor, EffectSubject } from './effects/effect-kind.ts';
import { rulesOfEffect, type Effect } from './policy-effect.ts';
import { withoutPort } from './host.ts';
import { serverOfOffer } from '../names/offer-pattern.ts';
import type { PolicyRule } from './rule.ts';

/** `index`: the position in the document, from 0. */
export type PlacedRule = { index: number; rule: PolicyRule };

/** The rules with one decision. `pathDepth`: the maximum number of segments in their paths. */
export type RuleSide = { size: number; byKey: ReadonlyMap<string, readonly PlacedRule[]>; pathDepth: number };
export type RuleTable = Record<PolicyRule['decision'], RuleSide>;

/** Lists of rules are cached by the isolate and never changed, so each one is indexed once. */
export const ruleTableOf = memoizeByObject((rules: readonly PolicyRule[]): RuleTable => {
  const placed = rules.map((rule, index) => ({ index, rule }));
  const side = (decision: PolicyRule['decision']): RuleSide => sideOf(placed.filter(({ rule }) => rule.decision === decision));
  return { deny: side('deny'), ask: side('ask'), allow: side('allow') };
});

/** Returns the first match in document order; null: none. */
export function firstMatch(side: RuleSide, effect: Effect, actor: Actor, fits: (rule: PolicyRule) => boolean): PlacedRule | null {
  if (side.size === 0) return null;
  let first: PlacedRule | null = null;
  const look = (key: string): void => {
    for (const placed of side.byKey.get(key) ?? []) {
      if (first !== null && placed.index >= first.index) return;
      if (fits(placed.rule)) first = placed;
    }
  };
  look('');
  lookBySubject(rulesOfEffect(effect).subject(effect), side.pathDepth, look);
  lookByTool(actor.tool, look);
  for (const tool of actor.chain ?? []) lookByTool(tool, look);
  look(`key ${actor.key}`);
  if (actor.agent !== null) look(`agent ${actor.agent}`);
  return first;
}

/** A tool pattern matches whole names: `server.*`. */
export function isOfTool(pattern: string, tool: string): boolean {
  return pattern === tool || (pattern.endsWith('.*') && tool.startsWith(pattern.slice(0, -1)));
}

/** `*.example.com` matches all subdomains. Ports are part of a host. */
export function isOfHost(pattern: string, host: string): boolean {
  return pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)));
}

function sideOf(placed: readonly PlacedRule[]): RuleSide {
  const byKey = new Map<string, PlacedRule[]>();
  let pathDepth = 0;
  for (const entry of placed) {
    const key = keyOf(entry.rule);
    const others = byKey.get(key);
    if (others === undefined) byKey.set(key, [entry]);
    else others.push(entry);
    if (entry.rule.path !== undefined) pathDepth = Math.max(pathDepth, entry.rule.path.split('/').length - 1);
  }
  return { size: placed.length, byKey, pathDepth };
}

/** The most specific field of the rule. Patterns of resources and prompts are found by their server. */
function keyOf({ host, path, secret, name, resource, prompt, tool, key, agent }: PolicyRule): string {
  if (host !== undefined) return `host ${host}`;
  if (path !== undefined) return `path ${path}`;
  if (secret !== undefined) return `secret ${secret}`;
  if (name !== undefined) return `name ${name}`;
  const offer = resource ?? prompt;
  if (offer !== undefined) return `offer ${serverOfOffer(offer)}`;
  if (tool !== undefined) return `tool ${tool}`;
  if (key !== undefined) return `key ${key}`;
  return agent === undefined ? '' : `agent ${agent}`;
}

function lookBySubject(
  { host, path, secret, name, resource, prompt }: EffectSubject,
  pathDepth: number,
  look: (key: string) => void,
): void {
  if (host !== undefined) {
    for (const one of new Set([host, withoutPort(host)])) {
      look(`host ${one}`);
      for (let dot = one.indexOf('.'); dot !== -1; dot = one.indexOf('.', dot + 1)) look(`host *${one.slice(dot)}`);
    }
  }
  if (path !== undefined && pathDepth > 0) lookByPath(path, pathDepth, look);
  if (secret !== undefined) look(`secret ${secret}`);
  if (name !== undefined) look(`name ${name}`);
  const offer = resource ?? prompt;
  if (offer !== undefined) look(`offer ${serverOfOffer(offer)}`);
}

function lookByPath(path: string, depth: number, look: (key: string) => void): void {
  look('path /');
  if (path === '/') return;
  let end = 0;
  for (let names = 0; names < depth && end !== -1; names += 1) {
    end = path.indexOf('/', end + 1);
    look(`path ${end === -1 ? path : path.slice(0, end)}`);
  }
}

function lookByTool(tool: string, look: (key: string) => void): void {
  look(`tool ${tool}`);
  const dot = tool.indexOf('.');
  if (dot !== -1) look(`tool ${tool.slice(0, dot)}.*`);
}
