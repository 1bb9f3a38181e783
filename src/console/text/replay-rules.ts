/** Rules of replays in words: a kind, and a value where the kind has one. Pure. */
import type { components } from '../../../client/src/index.ts';
import { jsonOrText } from './json.ts';

export type Rule = components['schemas']['ReplayRule'];

/** In the order of the choices. `rule`: of what is typed. */
export const ruleKinds = {
  same: { label: 'the same calls', rule: () => ({ calls: 'same' }) },
  'same-any-order': { label: 'the same calls, in any order', rule: () => ({ calls: 'same-any-order' }) },
  'json-equal': { label: 'the recorded answer, as JSON', rule: () => ({ answer: 'json-equal' }) },
  contains: { label: 'an answer that contains', rule: (text: string) => ({ answer: { contains: text } }) },
  'json-value': { label: 'an answer equal to the JSON', rule: (text: string) => ({ answer: { 'json-equal': jsonOrText(text) as never } }) },
  maxCalls: { label: 'calls, at most', rule: (text: string) => ({ maxCalls: numberOf(text) }) },
  maxCost: { label: 'cost (USD), at most', rule: (text: string) => ({ maxCost: numberOf(text) }) },
} satisfies Record<string, { label: string; rule(text: string): Rule }>;
export type RuleKind = keyof typeof ruleKinds;

/** Text that is no number is refused by the service, at its rule. */
function numberOf(text: string): number {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? (text as unknown as number) : number;
}

export function partsOf(rule: Rule): { kind: RuleKind; value: string | null } {
  if ('calls' in rule) return { kind: rule.calls, value: null };
  if ('maxCalls' in rule) return { kind: 'maxCalls', value: String(rule.maxCalls) };
  if ('maxCost' in rule) return { kind: 'maxCost', value: String(rule.maxCost) };
  if (rule.answer === 'json-equal') return { kind: 'json-equal', value: null };
  if ('contains' in rule.answer) return { kind: 'contains', value: rule.answer.contains };
  const json = rule.answer['json-equal'];
  return { kind: 'json-value', value: typeof json === 'string' && jsonOrText(json) === json ? json : JSON.stringify(json) };
}

export function ruleOf(kind: RuleKind, value: string): Rule {
  return ruleKinds[kind].rule(value);
}

/** `calls, at most: 5`. */
export function ruleText(rule: Rule): string {
  const { kind, value } = partsOf(rule);
  return `${ruleKinds[kind].label}${value === null ? '' : `: ${value}`}`;
}
