/**
 * Runs a call that may have effects which require approval. It runs on uncommitted files, as it would with approval, so that one question
 * can list everything it does. At an effect that cannot be undone (a request, a secret, a registry change, a call of another tool) it stops
 * until an approval covers everything so far. Once approved it runs the same way again, and commits only if the approval covers all of it.
 * Used by `policy-guard.ts`.
 */
import type { ApprovalReason, ApprovalQuestion } from '../../core/policy/approval.ts';
import type { EffectToAsk } from '../../core/policy/approval-question.ts';
import type { PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import type { FileSystem, FileOverlay } from '../../ports/file-system.ts';
import type { InnerCalls } from '../../ports/inner-calls.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { EffectRecord } from './effect-record.ts';
import { guardFiles } from './guard-files.ts';
import { guardRegistry, type CheckEffects } from './guard-registry.ts';
import { forbidden, isReadRequest, needsApproval, networkEffect, redirectRefused, refuseAfterAbort, refuseDenied } from './refusals.ts';

/** Sends a request; `onHop` as in `ports/outbound.ts`. */
export type SendWithHops = (request: Request, onHop?: (to: URL, hop: number) => void) => Promise<Response>;

/**
 * `ruled`: the workspace has rules; without any, nothing is denied and fewer effects are checked. `inTurn`: a model makes the call. `called`:
 * a tool that the call has called and would call again if it were rerun; absent or null: none. `isFileTool`: whether a nested call of this
 * name only works on files.
 */
export type GuardParts = {
  context: ToolContext;
  send: SendWithHops;
  judge(effect: Effect): PolicyDecision;
  ruled: boolean;
  inTurn: boolean;
  called?(): string | null;
  isFileTool?(name: string): boolean;
};

/** `isPredicted`: as in `effect-record.ts`. */
export type EffectBeforeRun = EffectToAsk & { isPredicted?: boolean };

/**
 * What the call may do. `entry`: everything that is not denied, since its toolset entry has `approval: "never"`. `call`: what needs no
 * approval, and what an approval covers. `approved`: the binding of the approval; empty: none. `asks`: effects that require approval before
 * the call runs. `reads`: stored files that those approvals are bound to.
 */
export type ApprovedEffects =
  | { by: 'entry' }
  | { by: 'call'; approved: readonly string[]; asks: readonly EffectBeforeRun[]; reads: readonly string[]; replaced?: string | undefined };

/** `stop` aborts the tool. `note`: records why an effect was denied. */
type Hooks = { stop(reason: string): void; note(judged: PolicyDecision): PolicyDecision };

export class StagedRun {
  readonly #parts: GuardParts;
  readonly #hooks: Hooks;
  readonly #record: EffectRecord;
  readonly #held: ReturnType<typeof createStagedFiles>;
  /** Whether the call has read a file whose reading requires approval: until that is covered, no request is sent. */
  #isStrict = false;
  /** The first request other than GET or HEAD, as `POST host`. */
  #sent: string | null = null;

  constructor(parts: GuardParts, { approved, asks, reads, replaced }: Extract<ApprovedEffects, { by: 'call' }>, hooks: Hooks) {
    this.#parts = parts;
    this.#hooks = hooks;
    this.#record = new EffectRecord(parts.context.files, approved, replaced);
    this.#held = createStagedFiles(parts.context.files);
    for (const path of reads) this.#record.read(path);
    for (const ask of asks) this.#record.add(ask);
  }

  question(): ApprovalQuestion | null {
    return this.#passes() ? null : this.#record.question();
  }

  release(): void {
    this.#held.commit();
  }

  context(): ToolContext {
    const { context, inTurn } = this.#parts;
    const { calls } = context;
    const check: CheckEffects = (effects, options) => this.#check(effects, options?.ruled === true);
    return {
      ...context,
      ...guardRegistry(context, check, inTurn),
      calls: calls === null ? null : this.#calls(calls),
      fetch: (request) => this.#request(request),
      files: guardFiles(this.#held.files, {
        deep: this.#parts.ruled,
        mayCommit: () => this.#passes(),
        read: (path) => this.#read(path),
        change: (path, effects, files) => this.#change(path, effects, files),
      }),
    };
  }

  #passes(): boolean {
    if (!this.#record.passes()) return false;
    this.#isStrict = false;
    return true;
  }

  #halt(): void {
    this.#hooks.stop(this.#record.question().reason);
  }

  /** Allows an effect that an approval covers; denies one that requires approval when it is too late to ask. */
  #judge(effect: Effect): PolicyDecision {
    const judged = this.#parts.judge(effect);
    const { ask } = judged;
    if (ask === null) return judged;
    if (this.#record.covers(effect)) return { ...judged, verdict: 'allow', ask: null };
    const late = this.#tooLate(ask);
    return late === null ? judged : this.#hooks.note({ ...judged, verdict: 'deny', ask: null, reason: late });
  }

  /** Returns why approval can no longer be requested; null if it can. A rerun would repeat what the call has sent or called. */
  #tooLate({ reason }: ApprovalReason): string | null {
    const called = this.#parts.called?.() ?? null;
    if (this.#sent === null && called === null) return null;
    const what = this.#sent === null ? `called ${called}` : `sent ${this.#sent}`;
    return `${reason}. That requires approval, which cannot be requested after this call has ${what}. Do it earlier, or in a separate call`;
  }

  #read(path: string): void {
    this.#record.read(path);
    if (!this.#parts.ruled) return;
    const effect: Effect = { kind: 'read-file', path };
    const judged = this.#judge(effect);
    refuseDenied(path, judged);
    if (judged.ask === null) return;
    this.#held.stage();
    this.#record.add({ effect, ask: judged.ask });
    this.#isStrict = true;
  }

  #change(path: string, effects: () => Iterable<Effect>, files: FileSystem): void {
    refuseAfterAbort(path, this.#parts.context.signal);
    // Writes to such a file always fail.
    if (files.isReadOnly?.(path) === true) return;
    const asked: { effect: Effect; ask: ApprovalReason }[] = [];
    let deleted = 0;
    for (const effect of effects()) {
      const ask = this.#askOfChange(path, effect);
      if (ask !== null) asked.push({ effect, ask });
      if (effect.kind === 'delete-file') deleted += 1;
    }
    if (asked.length === 0) return;
    this.#held.stage();
    for (const { effect, ask } of asked) this.#record.add({ effect, ask, operation: toFolderQuestion(ask, path, deleted), files });
  }

  #askOfChange(path: string, effect: Effect): ApprovalReason | null {
    const judged = this.#judge(effect);
    refuseDenied(path, judged);
    const again = judged.ask === null && 'path' in effect ? this.#record.askForPath(effect.path) : null;
    const late = again === null ? null : this.#tooLate(again);
    if (late !== null) refuseDenied(path, this.#hooks.note({ ...judged, verdict: 'deny', reason: late }));
    return judged.ask ?? again;
  }

  /** Called before an effect that cannot be undone. `holds`: it must wait until everything before it is approved. */
  #stopUnlessCovered(effects: readonly { effect: Effect; ask: ApprovalReason }[], holds: boolean): void {
    for (const one of effects) this.#record.add(one);
    if ((effects.length === 0 && !holds) || this.#passes()) return;
    const { reason } = this.#record.question();
    this.#halt();
    throw needsApproval(effects[0]?.ask.reason ?? reason);
  }

  #request(request: Request): Promise<Response> {
    return this.#parts.send(request, (to, hop) => {
      const effect = networkEffect(request, to);
      const reads = isReadRequest(request);
      const judged = hop > 0 && !reads ? this.#parts.judge(effect) : this.#judge(effect);
      if (judged.verdict === 'deny') throw forbidden('Not sent', judged);
      const { ask } = judged;
      if (hop > 0 && !reads) {
        if (ask !== null && !this.#record.covers(effect)) throw redirectRefused(request, to, ask);
        return;
      }
      this.#stopUnlessCovered(ask === null ? [] : [{ effect, ask }], !reads || this.#isStrict);
      if (!reads) this.#sent ??= `${request.method} ${effect.host}`;
    });
  }

  /** Checks secrets and registry changes. `ruled`: approval is required only if a rule asks for it. */
  #check(effects: readonly Effect[], ruled: boolean): void {
    const asked = effects.flatMap((effect) => {
      const judged = this.#judge(effect);
      if (judged.verdict === 'deny') throw forbidden('Not done', judged);
      return judged.ask === null || (ruled && judged.rule === null) ? [] : [{ effect, ask: judged.ask }];
    });
    this.#stopUnlessCovered(
      asked,
      effects.some(({ kind }) => kind === 'registry'),
    );
  }

  /** Nested calls that work on this call's files run with it; every other nested call waits for the approval. */
  #calls(calls: InnerCalls): InnerCalls {
    return {
      get tools() {
        return calls.tools;
      },
      get replay() {
        return calls.replay;
      },
      call: async (name, args, options) => {
        const isRehearsed = options?.files !== undefined && this.#parts.isFileTool?.(name) === true;
        if (this.#passes() || isRehearsed) return await calls.call(name, args, options);
        this.#halt();
        return { waits: true };
      },
    };
  }
}

/** Deletes in one folder are one question and one rule to remember, however many files there are. */
function toFolderQuestion(ask: ApprovalReason, path: string, deleted: number): ApprovalReason {
  if (ask.kind !== 'delete-file' || ask.target === path) return ask;
  const files = deleted === 1 ? 'the file' : `the ${deleted} files`;
  return { ...ask, reason: `It deletes ${files} in ${path}, which cannot be undone`, target: path };
}

/**
 * Files that can be staged: after `stage`, every change stays in an overlay until `commit`. A tool that changes files without an overlay of
 * its own runs on these, so that it has done nothing if its effects are not approved.
 */
function createStagedFiles(base: FileSystem) {
  let overlay: FileOverlay | null = null;
  const current = (): FileSystem => overlay ?? base;
  const files: FileSystem = {
    isReadOnly: (path) => current().isReadOnly?.(path) === true,
    stat: (path) => current().stat(path),
    read: (path) => current().read(path),
    write: (path, content, options) => current().write(path, content, options),
    append: (path, content) => current().append(path, content),
    makeDirectory: (path, options) => current().makeDirectory(path, options),
    list: (path) => current().list(path),
    remove: (path, options) => current().remove(path, options),
    rename: (from, to) => current().rename(from, to),
    setMode: (path, mode) => current().setMode(path, mode),
    setModifiedAt: (path, modifiedAt) => current().setModifiedAt(path, modifiedAt),
    paths: () => current().paths(),
    overlay: () => current().overlay(),
  };
  return {
    files,
    /** Stages all further changes in an overlay. */
    stage() {
      overlay ??= base.overlay();
    },
    /** Commits the staged changes; throws a `FileError` if they conflict with changes made meanwhile. */
    commit() {
      const staged = overlay;
      overlay = null;
      staged?.commit();
    },
  };
}
