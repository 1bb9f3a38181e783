/**
 * Compares how the policy decides past calls before and after a change of its rules, or of the tools of a toolset. Nothing runs. Calls are judged by their
 * counts, which have no arguments; those of tools whose arguments decide are judged one by one, from the logs of sessions.
 */
import type { RecordedCall } from '../../core/impact/recorded-calls.ts';
import { derivedNotes, type PolicyRule } from '../../core/policy/rule.ts';
import type { PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { readPreset } from '../../core/toolset/arguments/entry-arguments.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import { prepareArguments } from '../call/prepare-call.ts';
import { isJudgedByArguments, judgeCall } from '../policy/judge-call.ts';
import { type CountedCalls, withNames } from './called-names.ts';

/** `rule`: its index in the policy; null: none decided. */
export type JudgedDecision = Pick<PolicyDecision, 'verdict' | 'reason'> & { rule: number | null };

/** Calls of a tool whose decision differs in the same way. `sessions`: of those whose logs were read. */
export type ChangedDecision = {
  tool: string;
  was: JudgedDecision;
  now: JudgedDecision;
  calls: number;
  agents: readonly string[];
  keys: readonly string[];
  sessions: readonly string[];
};

export type DecisionImpact = {
  judged: number;
  changedCalls: number;
  changed: ChangedDecision[];
  /** `arguments`: calls whose arguments decide, and were not read. `tools`: of tools that are not known now. `inner`: judged without what they do while they run. */
  unjudged: { arguments: number; tools: number; inner: number };
};

/** A tool and the rules for it, before or after the change. */
export type DecidedSide = { tool: EditionTool; rules: readonly PolicyRule[] };
type Caller = { agent: string | null; key: string };
type LoggedCall = Pick<RecordedCall, 'arguments'> & Caller & { session: string };

const maxChanged = 100;

export function createDecisionComparison() {
  const found = new Map<string, ChangedDecision>();
  const deciding = new Set<number>();
  const unjudged = { arguments: 0, tools: 0, inner: 0 };
  let judged = 0;
  const compare = (was: DecidedSide, now: DecidedSide, args: Record<string, unknown>, caller: Caller): [JudgedDecision, JudgedDecision] => {
    const decisions: [JudgedDecision, JudgedDecision] = [decide(was, args, caller), decide(now, args, caller)];
    const { rule } = decisions[1];
    if (rule !== null) deciding.add(rule);
    return decisions;
  };
  type Noted = Pick<ChangedDecision, 'calls' | 'agents' | 'keys' | 'sessions'>;
  const note = (tool: string, [was, now]: readonly [JudgedDecision, JudgedDecision], { calls, agents, keys, sessions }: Noted): void => {
    if (was.verdict === now.verdict) return;
    const id = JSON.stringify([tool, was.verdict, was.rule, now.verdict, now.rule]);
    const known = found.get(id) ?? { tool, was, now, calls: 0, agents: [], keys: [], sessions: [] };
    found.set(id, {
      ...{ ...known, calls: known.calls + calls },
      ...{ agents: withNames(known.agents, agents), keys: withNames(known.keys, keys), sessions: withNames(known.sessions, sessions) },
    });
  };
  return {
    /** Counted calls of a tool. null: the tool is not known. */
    count(was: DecidedSide | null, now: DecidedSide | null, { calls, agents, keys, ...caller }: CountedCalls): void {
      if (was === null || now === null) unjudged.tools += calls;
      else if (isOfArguments(was, now)) unjudged.arguments += calls;
      else {
        judged += calls;
        if (callsTools(now.tool)) unjudged.inner += calls;
        note(was.tool.canonical, compare(was, now, {}, caller), { calls, agents, keys, sessions: [] });
      }
    },
    /** A call of a log, which was also counted. */
    add(was: DecidedSide, now: DecidedSide, { arguments: args, session, ...caller }: LoggedCall): void {
      if (args === null) return;
      const isNew = isOfArguments(was, now);
      if (isNew) {
        judged += 1;
        unjudged.arguments = Math.max(0, unjudged.arguments - 1);
      }
      const agents = caller.agent === null ? [] : [caller.agent];
      note(was.tool.canonical, compare(was, now, args, caller), { calls: isNew ? 1 : 0, agents, keys: [caller.key], sessions: [session] });
    },
    /** `deciding`: the rules that decided a call after the change. */
    result(): DecisionImpact & { deciding: ReadonlySet<number> } {
      const changed = [...found.values()].filter(({ calls }) => calls > 0).sort((a, b) => b.calls - a.calls);
      const changedCalls = changed.reduce((sum, { calls }) => sum + calls, 0);
      return { judged, changedCalls, changed: changed.slice(0, maxChanged), unjudged, deciding };
    },
  };
}

function isOfArguments(was: DecidedSide, now: DecidedSide): boolean {
  return isJudgedByArguments(was.tool) || isJudgedByArguments(now.tool);
}

function decide({ tool, rules }: DecidedSide, args: Record<string, unknown>, { agent, key }: Caller): JudgedDecision {
  const scope = { rules, keyId: key, ...(agent !== null && { agent }), files: null };
  const own = isJudgedByArguments(tool) ? prepareArguments(tool, args, anyCaller(tool)).own : {};
  const { verdict, reason, rule } = judgeCall({}, scope, tool, own).decision;
  const isWritten = rule !== null && !Object.values<string | undefined>(derivedNotes).includes(rule.rule.note);
  return { verdict, reason, rule: isWritten ? rule.index : null };
}

/** Fields of callers with any value: whose calls they were is not recorded with them. */
export function anyCaller(tool: EditionTool): Record<string, string> {
  const presets = Object.values(tool.arguments?.preset ?? {}).map(readPreset);
  return Object.fromEntries(presets.flatMap((preset) => (preset.kind === 'caller' ? [[preset.field, '']] : [])));
}
