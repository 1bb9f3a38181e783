/**
 * What a run of a turn works with: the names of its plan, the rules of the workspace, and its conversation, files and results.
 * Loaded once a run: a run after a crash or a wait loads its own.
 */
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { outerRootId } from '../../core/toolset/composite-tool.ts';
import { fetchResultTool } from '../../core/toolset/injected-tool.ts';
import type { ToolResultPart } from '../../core/model/message.ts';
import type { Gathered } from '../../core/turn/gathered-tools.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { fallbackRules } from '../../core/policy/policy.ts';
import type { Skill } from '../../core/skills/skill.ts';
import type { TaintMarks } from '../../core/policy/taint.ts';
import type { Transcript } from '../../core/turn/transcript.ts';
import { type CallScope, createCallScope } from '../call/call-scope.ts';
import { retryCatalogRead } from '../plan/retry-catalog-read.ts';
import { whyNotYet } from '../plan/newest-made.ts';
import { withFetchResult } from '../plan/plan-names.ts';
import { createSkillReader, joinSkills } from '../plan/plan-skills.ts';
import { markForeignText } from '../policy/mark-taint.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResultStore } from '../../ports/result-store.ts';
import type { StepDeps } from './run-step.ts';
import type { TurnScope } from './run-turn.ts';
import { type AuditedRun, auditScope, type TurnAuditParts } from './turn-audit.ts';

export type TurnScopeParts = TurnAuditParts & {
  deps: StepDeps;
  transcript: Transcript & { gathered(): readonly Gathered[] };
  taint: TaintMarks;
  results: ResultStore | null;
  workspace: string;
  /** Returns the names that a plan offers; null without a toolset. */
  namesFor(plan: Plan): Promise<AliasMap | null>;
  rules(): Promise<CallScope['rules']>;
  /** Returns the bodies of a plan's skills that still exist. */
  skillsFor(plan: Plan): Promise<readonly Skill[]>;
  /** Returns the files of the turn with those of its skills. */
  filesWith(skills: readonly Skill[]): FileSystem;
};

/** `sealed`: the turn has ended, or a newer run exists; nothing more is appended. */
export type ScopedRun = AuditedRun & { plan: Plan; abort: AbortController; sealed: boolean };

/** What differs between the places where a turn runs. */
type OwnTurnScope = Pick<TurnScope, 'append' | 'newest' | 'isFollowed' | 'inputs' | 'admitQuestions'> & {
  call: Pick<CallScope, 'journal' | 'begin' | 'recorded'>;
};

/** Returns what stores the results whose media are no longer shown (`createTranscript`), so that they can be fetched. */
export function keepHiddenMedia(results: ResultStore) {
  return ({ callId, canonical, content }: Pick<ToolResultPart, 'callId' | 'canonical' | 'content'>): boolean => {
    // A piece of another result: the model fetches it once more.
    if (canonical === fetchResultTool.canonical) return false;
    if (!results.has(callId)) results.store(callId, content);
    return true;
  };
}

/** Waits while the Catalog cannot be read. */
export async function createTurnScope(parts: TurnScopeParts, run: ScopedRun, { call, ...own }: OwnTurnScope): Promise<TurnScope> {
  const { deps, transcript, workspace, results, flushAudit } = parts;
  const { plan } = run;
  const { append } = own;
  const read = async () => ({ offered: await parts.namesFor(plan), rules: await parts.rules(), skills: await parts.skillsFor(plan) });
  const { offered, rules, skills: stored } = await retryCatalogRead(deps, run.abort.signal, read);
  const skills = joinSkills(stored, plan, offered);
  markForeignText(parts.taint, [...(offered?.tools ?? []), ...(offered?.inner?.tools ?? [])], parts.keyId);
  let known = rules;
  // Evaluated at each step: a turn that stores a long result can read the rest of it in the next step.
  const names = () => withFetchResult(offered, results);
  const inner = offered?.inner;
  const gathered = () => transcript.gathered();
  return {
    ...own,
    workspace,
    turn: run.turn,
    plan,
    names,
    state: run.state,
    messages: () => transcript.messages(),
    conversation: transcript,
    gathered,
    results,
    rules: async () => {
      const now = await parts.rules();
      // When the rules cannot be read now, the last known rules are better than requiring approval for everything.
      if (now !== fallbackRules) known = now;
      return known;
    },
    flushBeforeEnd: async () => void (await flushAudit()),
    call: createCallScope(plan, {
      ...auditScope(parts, run),
      ...call,
      names,
      whyNotYet: (name) => whyNotYet(deps, { workspace, keyId: parts.keyId }, plan, name),
      innerNames: inner === undefined ? undefined : () => inner,
      discoveredTools: gathered,
      rules,
      taint: parts.taint,
      canWait: true,
      results,
      guardLog: {
        find: (callId) => run.state.guarded.get(callId) ?? null,
        store: (callId, stage, decision) => {
          const parent = outerRootId(callId);
          append({ type: 'guard-decided', turn: run.turn, step: run.state.step, callId, ...(parent && { parent }), stage, ...decision });
        },
      },
      started: (callId, attempt, price) => {
        append({ type: 'tool-start', turn: run.turn, step: run.state.step, callId, attempt, ...(price !== null && { cost: price }) });
        // A call must not run without its `tool-start` event: the turn was ended, or a newer run exists.
        if (run.sealed) throw new Error('this run has ended');
      },
      files: parts.filesWith(skills),
      skills: createSkillReader(skills, () => inner ?? names()),
    }),
  };
}
