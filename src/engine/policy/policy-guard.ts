/**
 * Guards the capabilities of a running tool by the policy: effects that require approval do not happen before an approval that lists them,
 * whatever the tool does. A denied effect is an error for the tool, which may continue with the rest.
 */
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import type { PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { guardFiles } from './guard-files.ts';
import { guardRegistry, type CheckEffects } from './guard-registry.ts';
import { forbidden, networkEffect, refuseAfterAbort, refuseDenied } from './refusals.ts';
import { StagedRun, type ApprovedEffects, type GuardParts } from './staged-run.ts';

export type GuardedCall = {
  context: ToolContext;
  /** What requires approval before the call may have its effects; null: nothing, or the approval covers everything. */
  question(): ApprovalQuestion | null;
  /** Commits the files that were staged until the approval was found to cover them. */
  commitFiles(): void;
  /** The reasons of the first few denied effects; a shell only reports `operation not permitted`. */
  denied(): readonly string[];
};

/** `stop` aborts the tool; whatever it does afterwards is dropped. */
export function guardCall(given: GuardParts, allowed: ApprovedEffects, stop: (reason: string) => void): GuardedCall {
  const reasons = new Set<string>();
  const note = <Denied extends PolicyDecision>(judged: Denied): Denied => {
    if (judged.verdict === 'deny' && reasons.size < maxShownDenials) reasons.add(judged.reason);
    return judged;
  };
  const denied = (): readonly string[] => [...reasons];
  const parts = { ...given, judge: (effect: Effect) => note(given.judge(effect)) };
  if (allowed.by === 'entry') {
    const context = given.ruled ? withoutAsking(parts) : given.context;
    return { context, denied, question: () => null, commitFiles: () => undefined };
  }
  const rehearsal = new StagedRun(parts, allowed, { stop, note });
  return {
    context: rehearsal.context(),
    denied,
    question: () => rehearsal.question(),
    commitFiles: () => rehearsal.release(),
  };
}

const maxShownDenials = 5;

/** Allows everything except denied effects. */
function withoutAsking({ context, send, judge, inTurn }: GuardParts): ToolContext {
  const check: CheckEffects = (effects) => {
    for (const effect of effects) {
      const judged = judge(effect);
      if (judged.verdict === 'deny') throw forbidden('Not done', judged);
    }
  };
  return {
    ...context,
    ...guardRegistry(context, check, inTurn),
    files: guardFiles(context.files, {
      deep: true,
      mayCommit: () => true,
      read: (path) => refuseDenied(path, judge({ kind: 'read-file', path })),
      change(path, effects, files) {
        refuseAfterAbort(path, context.signal);
        if (files.isReadOnly?.(path) === true) return;
        for (const effect of effects()) refuseDenied(path, judge(effect));
      },
    }),
    fetch: (request) =>
      send(request, (to) => {
        const judged = judge(networkEffect(request, to));
        if (judged.verdict === 'deny') throw forbidden('Not sent', judged);
      }),
  };
}

/** Returns files that refuse changes once the call has ended: a tool that ignored its signal must not write later. */
export function writableUntilAborted(files: FileSystem, signal: AbortSignal): FileSystem {
  return guardFiles(files, {
    deep: false,
    mayCommit: () => !signal.aborted,
    change(path) {
      refuseAfterAbort(path, signal);
    },
  });
}
