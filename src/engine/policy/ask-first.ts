/**
 * The capabilities of a running tool under the policy: what requires approval does not happen before a yes to a question that lists it, whatever
 * tool does it and in whatever way. What is denied is an error for the tool, which may continue with the rest.
 */
import type { Question } from '../../core/approval.ts';
import type { Judgement } from '../../core/policy/judge.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { FileError, type FileSystem } from '../../ports/file-system.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { guardFiles } from './guard-files.ts';
import { guardDesk, guardMaker, guardSecret, type Check } from './guard-registry.ts';
import { forbidden, networkEffect, refuseLate } from './refusals.ts';
import { Rehearsal, type Allowed, type GuardParts } from './rehearsal.ts';

export type GuardedCall = {
  context: ToolContext;
  /** What has to be asked before the call may have its effects; null: nothing, or the yes covers all of it. */
  question(): Question | null;
  /** Commits the files that were held until the yes was seen to cover them. */
  release(): void;
  /** Why, of the first few effects that were denied: a shell says no more than `operation not permitted`. */
  denied(): readonly string[];
};

/** `stop` ends the tool: what it does from then on is dropped. */
export function guard(given: GuardParts, allowed: Allowed, stop: (reason: string) => void): GuardedCall {
  const reasons = new Set<string>();
  const note = <Denied extends Judgement>(judged: Denied): Denied => {
    if (judged.verdict === 'deny' && reasons.size < maxToldDenials) reasons.add(judged.reason);
    return judged;
  };
  const denied = (): readonly string[] => [...reasons];
  const parts = { ...given, judge: (effect: Effect) => note(given.judge(effect)) };
  if (allowed.by === 'entry') {
    const context = given.ruled ? withoutAsking(parts) : given.context;
    return { context, denied, question: () => null, release: () => undefined };
  }
  const rehearsal = new Rehearsal(parts, allowed, { stop, note });
  return {
    context: rehearsal.context(),
    denied,
    question: () => rehearsal.question(),
    release: () => rehearsal.release(),
  };
}

const maxToldDenials = 5;

/** Everything but what is denied. */
function withoutAsking({ context, send, judge, inTurn }: GuardParts): ToolContext {
  const refuse = (path: string, effect: Effect): void => {
    const { verdict, reason } = judge(effect);
    if (verdict === 'deny') throw new FileError('EPERM', path, `${path}: not done. ${reason}.`);
  };
  const check: Check = (effects) => {
    for (const effect of effects) {
      const judged = judge(effect);
      if (judged.verdict === 'deny') throw forbidden('Not done', judged);
    }
  };
  const { secret, configuration, maker } = context;
  return {
    ...context,
    secret: guardSecret(secret, check),
    configuration: configuration === null ? null : guardDesk(configuration, check, inTurn),
    maker: maker === null ? null : guardMaker(maker, check, inTurn),
    files: guardFiles(context.files, {
      deep: true,
      mayCommit: () => true,
      read: (path) => refuse(path, { kind: 'read-file', path }),
      change(path, effects, files) {
        refuseLate(path, context.signal);
        if (files.isReadOnly?.(path) === true) return;
        for (const effect of effects()) refuse(path, effect);
      },
    }),
    fetch: (request) =>
      send(request, (to) => {
        const judged = judge(networkEffect(request, to));
        if (judged.verdict === 'deny') throw forbidden('Not sent', judged);
      }),
  };
}

/** Files that refuse changes once the call has ended: a tool that did not listen to its signal must not write later. */
export function untilOver(files: FileSystem, signal: AbortSignal): FileSystem {
  return guardFiles(files, {
    deep: false,
    mayCommit: () => !signal.aborted,
    change(path) {
      refuseLate(path, signal);
    },
  });
}
