/** Judges the rules of a suite for one case, from the recording and the replay alone. */
import { tryParse } from '../json/wire-value.ts';
import { quoted } from '../problem.ts';
import { sameJson } from '../schema/schema-parts.ts';
import { compareCalls, sameCallsInAnyOrder } from './compare-calls.ts';
import type { ReplayCall, SchemaOf } from './match-calls.ts';
import type { ReplayFacts, JudgedRule } from './replay.ts';
import type { ReplayRule } from './suite.ts';

export type JudgedSide = { text: string; calls: readonly ReplayCall[]; facts: ReplayFacts };

export function judgeRules(
  rules: readonly ReplayRule[],
  sides: { recorded: JudgedSide; replayed: JudgedSide; schemaOf: SchemaOf },
): JudgedRule[] {
  return rules.map((rule) => {
    const detail = faultOf(rule, sides);
    return { rule, passed: detail === null, detail };
  });
}

/** null: the rule holds. */
function faultOf(rule: ReplayRule, { recorded, replayed, schemaOf }: Parameters<typeof judgeRules>[1]): string | null {
  if ('maxCalls' in rule) {
    const { calls } = replayed.facts;
    return calls <= rule.maxCalls ? null : `It made ${calls} calls of tools, at most ${rule.maxCalls} are allowed.`;
  }
  if ('maxCost' in rule) {
    const { cost } = replayed.facts;
    if (cost === null) return 'Its cost is not known: a model without a price was called.';
    return cost <= rule.maxCost ? null : `It cost ${cost}, at most ${rule.maxCost} is allowed.`;
  }
  if ('answer' in rule) return answerFault(rule.answer, recorded.text, replayed.text);
  if (rule.calls === 'same-any-order')
    return sameCallsInAnyOrder(recorded.calls, replayed.calls, schemaOf) ? null : 'It did not make the recorded calls.';
  const { same, changed, added, missing } = compareCalls(recorded.calls, replayed.calls, schemaOf).calls;
  return changed + added + missing === 0
    ? null
    : `Of the calls, ${same} are the same, ${changed} have other arguments, ${added} were added and ${missing} are missing.`;
}

function answerFault(rule: Extract<ReplayRule, { answer: unknown }>['answer'], recorded: string, replayed: string): string | null {
  if (typeof rule === 'object' && 'contains' in rule)
    return replayed.includes(rule.contains) ? null : `The answer does not contain ${quoted(rule.contains)}.`;
  const wanted = rule === 'json-equal' ? tryParse(recorded) : rule['json-equal'];
  if (wanted === undefined) return 'The recorded answer is not JSON.';
  const answer = tryParse(replayed);
  if (answer === undefined) return 'The answer is not JSON.';
  return sameJson(wanted, answer) ? null : 'The answer is another JSON value.';
}
