/**
 * What a run of a turn works with: the names of its plan, the rules of the workspace, and the session's log, files and results.
 * Loaded once a run: a run after a crash or a wait loads its own.
 */
import type { AliasMap } from '../../../core/toolset/alias-map.ts';
import { outerRootId } from '../../../core/toolset/composite-tool.ts';
import type { InputRequired } from '../../../core/tools/mcp-input.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import { fallbackRules } from '../../../core/policy/policy.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import type { TaintMarks } from '../../../core/policy/taint.ts';
import type { Transcript } from '../../../core/turn/transcript.ts';
import { retryCatalogRead } from '../../../engine/plan/retry-catalog-read.ts';
import { withFetchResult } from '../../../engine/plan/plan-names.ts';
import { whyNotYet } from '../../../engine/plan/newest-made.ts';
import { createSkillReader } from '../../../engine/plan/plan-skills.ts';
import { markForeignText } from '../../../engine/policy/mark-taint.ts';
import type { TurnDeps } from '../../../engine/turn/run-turn.ts';
import { createCallScope, type CallScope } from '../../../engine/call/call-scope.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { ResultStore } from '../../../ports/result-store.ts';
import { withSkillFiles } from '../../../storage/files/skill-files.ts';
import type { CallJournals } from '../log/call-journal.ts';
import type { EventLog } from '../log/event-log.ts';
import type { AdmitWork } from '../object/admit-work.ts';
import type { WaitStore } from '../pending/wait-store.ts';
import type { LogTranscript } from '../log/transcript-log.ts';
import { auditScope, type TurnAuditParts } from './turn-audit.ts';
import type { TurnRun } from './turn-run.ts';

/** A client follows the turn that it submitted within this time. */
const followDelayMs = 1_000;

export type TurnScopeParts = TurnAuditParts & {
  deps: TurnDeps;
  log: EventLog;
  transcript: Transcript & Pick<LogTranscript, 'gathered'>;
  files: FileSystem;
  waits: WaitStore;
  journals: CallJournals;
  taint: TaintMarks;
  results: ResultStore | null;
  workspace: string;
  /** Returns the names that a plan offers; null without a toolset. */
  namesFor(plan: Plan): Promise<AliasMap | null>;
  rules(): Promise<CallScope['rules']>;
  admitWork: AdmitWork;
  /** Returns the bodies of a plan's skills that still exist. */
  skillsFor(plan: Plan): Promise<readonly Skill[]>;
};

/** Builds the scope. `append` writes events of the run, or nothing when a newer run exists. Waits while the Catalog cannot be read. */
export async function createTurnScope(parts: TurnScopeParts, run: TurnRun, append: (...events: readonly SessionEventBody[]) => void) {
  const { deps, log, transcript, files, workspace, results, flushAudit } = parts;
  const { plan } = run;
  const mayFollow = !run.awaitsAnswer && plan.trigger === undefined;
  const read = async () => ({ offered: await parts.namesFor(plan), rules: await parts.rules(), skills: await parts.skillsFor(plan) });
  const { offered, rules, skills } = await retryCatalogRead(deps, run.abort.signal, read);
  markForeignText(parts.taint, [...(offered?.tools ?? []), ...(offered?.inner?.tools ?? [])], parts.keyId);
  let known = rules;
  // Evaluated at each step: a turn that stores a long result can read the rest of it in the next step.
  const names = () => withFetchResult(offered, results);
  const inner = offered?.inner;
  const gathered = () => transcript.gathered();
  return {
    workspace,
    turn: run.turn,
    plan,
    names,
    state: run.state,
    messages: () => transcript.messages(),
    conversation: transcript,
    gathered,
    results,
    newest: () => log.newest,
    append,
    // The client that submitted the turn may be about to follow it.
    isFollowed: () => log.isFollowed() || (mayFollow && deps.clock.now() - run.startedAt < followDelayMs),
    rules: async () => {
      const now = await parts.rules();
      // When the rules cannot be read now, the last known rules are better than requiring approval for everything.
      if (now !== fallbackRules) known = now;
      return known;
    },
    inputs: {
      store: (callId: string, input: InputRequired) => {
        // A newer run may have started before the question was stored.
        if (!run.sealed) parts.waits.addQuestion(callId, input);
      },
      given: (callId: string) => parts.waits.given(callId),
    },
    admitQuestions: (more: number) => parts.admitWork('pendingQuestions', more, plan.limited),
    flushBeforeEnd: async () => void (await flushAudit()),
    call: createCallScope(plan, {
      ...auditScope(parts, run),
      names,
      whyNotYet: (name) => whyNotYet(deps.directory, { workspace, keyId: parts.keyId }, plan, name),
      innerNames: inner === undefined ? undefined : () => inner,
      discoveredTools: gathered,
      rules,
      taint: parts.taint,
      canWait: true,
      journal: parts.journals.open({ turn: run.turn, step: () => run.state.step, append, isSealed: () => run.sealed }),
      results,
      guardLog: {
        find: (callId) => run.state.guarded.get(callId) ?? null,
        store: (callId, stage, decision) => {
          const parent = outerRootId(callId);
          append({ type: 'guard-decided', turn: run.turn, step: run.state.step, callId, ...(parent && { parent }), stage, ...decision });
        },
      },
      started: (callId: string, attempt: number) => {
        append({ type: 'tool-start', turn: run.turn, step: run.state.step, callId, attempt });
        // A call must not run without its `tool-start` event: the turn was ended, or a newer run exists.
        if (run.sealed) throw new Error('this run has ended');
      },
      files: withSkillFiles(files, skills),
      skills: createSkillReader(skills, () => inner ?? names()),
    }),
  };
}
