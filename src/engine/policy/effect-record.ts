/**
 * Records the effects of one run of a call that require approval, while the call runs on uncommitted files. A checkpoint is a hash of
 * everything recorded so far; an approval is bound to the checkpoints of the run that requested it. A later run passes a checkpoint only if
 * the approval has it: it either does exactly what was approved, byte for byte, or requests approval again. Used by `policy-guard.ts`.
 */
import type { ApprovalReason, ApprovalQuestion } from '../../core/policy/approval.ts';
import { canonicalJson, sha256HexSync } from '../../core/hash.ts';
import { joinPath, parentPath } from '../../core/text/path.ts';
import { questionAbout, type EffectToAsk } from '../../core/policy/approval-question.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { Problem } from '../../core/problem.ts';
import type { FileSystem } from '../../ports/file-system.ts';

/** Effects that require approval in one call; above that the call is refused. */
const maxEffectsToAsk = 10_000;

/**
 * `before`: the state of the path before the effect. `files`: where the path is read at each checkpoint; null: the effect is not about a file.
 * `isPredicted`: the arguments of the call determine what happens to the path, and they are part of what is approved.
 */
type Recorded = EffectToAsk & { path: string; files: FileSystem | null; before: string; isPredicted: boolean };

/** `files`: for a change to a file, the files it is made on, before it is made. `operation`: default is the effect itself. */
type ToRecord = Omit<EffectToAsk, 'operation'> & { operation?: ApprovalReason; files?: FileSystem; isPredicted?: boolean };

export class EffectRecord {
  readonly #base: FileSystem;
  readonly #approved: ReadonlySet<string>;
  readonly #replaced: string | undefined;
  readonly #recorded = new Map<string, Recorded>();
  readonly #paths = new Map<string, ApprovalReason>();
  readonly #reads = new Set<string>();
  readonly #passed: string[] = [];
  /** Keys that were recorded when the last checkpoint was passed. */
  #covered: ReadonlySet<string> = new Set();
  #isPending = false;
  /** Stored files were read since the last checkpoint: a request sent now may contain their content. */
  #readsSincePass = false;
  /** The hash of everything recorded; null after something was added. */
  #checkpoint: string | null = null;

  /**
   * `base`: the stored files. `approved`: the checkpoints that the approval is bound to; empty without an approval. `replaced`: the hash of
   * the arguments if the caller did not send them itself; they are part of each checkpoint.
   */
  constructor(base: FileSystem, approved: readonly string[], replaced?: string) {
    this.#base = base;
    this.#replaced = replaced;
    this.#approved = new Set(approved);
  }

  /** Whether an effect was recorded that no approval covers yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Records a read of a stored file. It is part of each checkpoint, since a script that was changed is a different script. */
  read(path: string): void {
    if (this.#reads.has(path)) return;
    this.#reads.add(path);
    this.#readsSincePass ||= this.#base.stat(path) !== null;
  }

  /** Returns the question about an earlier effect on this file: changing it again changes what was asked. null for none. */
  askForPath(path: string): ApprovalReason | null {
    return this.#paths.get(path) ?? null;
  }

  /**
   * Whether the approval already covers the effect. Never true for a change to a file, whose content is checked at the next checkpoint, nor
   * for a request that may contain data read since the last one.
   */
  covers(effect: Effect): boolean {
    if (pathOf(effect) !== '' || (effect?.kind === 'network' && this.#readsSincePass)) return false;
    return this.#covered.has(keyOf(effect));
  }

  add({ effect, ask, operation = ask, files, isPredicted = false }: ToRecord): void {
    const path = pathOf(effect);
    const key = keyOf(effect);
    this.#isPending = true;
    this.#checkpoint = null;
    // A further change to a listed file: its content at the next checkpoint includes the change.
    const known = this.#recorded.get(key);
    if (known?.isPredicted === true && known.files !== null) this.#recorded.set(key, { ...known, before: stateOf(known.files, path) });
    if (known !== undefined || (path !== '' && this.#paths.get(path) === ask)) return;
    if (this.#recorded.size >= maxEffectsToAsk)
      throw new Problem('forbidden', `More than ${maxEffectsToAsk} effects of this call require approval. Do less in one call.`);
    const at = path === '' ? null : (files ?? this.#base);
    const before = at === null ? '' : stateOf(at, path);
    this.#recorded.set(key, { effect, ask, operation: this.#madeWith(ask, path) ?? operation, path, files: at, before, isPredicted });
    if (at !== null && !this.#paths.has(path)) this.#paths.set(path, ask);
  }

  /** For a path in a directory outside the workspace that the call created: returns the question about that directory. */
  #madeWith({ kind }: ApprovalReason, path: string): ApprovalReason | null {
    if (kind !== 'write-outside') return null;
    for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
      const made = this.#recorded.get(keyOf({ kind: 'write-file', path: parent, change: 'create', own: true }));
      if (made?.before === 'none') return made.operation;
    }
    return null;
  }

  /** Whether the call may continue: nothing waits for approval, or the approval is bound to everything recorded so far. */
  passes(): boolean {
    if (!this.#isPending) return true;
    const checkpoint = this.#current();
    if (!this.#approved.has(checkpoint)) return false;
    this.#passed.push(checkpoint);
    this.#covered = new Set(this.#recorded.keys());
    this.#isPending = false;
    this.#readsSincePass = false;
    return true;
  }

  /** Returns the question about all recorded effects. Its approval lets the call pass this checkpoint and the ones before it. */
  question(): ApprovalQuestion {
    return questionAbout([...this.#recorded.values()], [...this.#passed, this.#current()]);
  }

  #current(): string {
    this.#checkpoint ??= this.#hash();
    return this.#checkpoint;
  }

  #hash(): string {
    const effects = [...this.#recorded]
      .map(([key, { path, files, before, isPredicted }]) => [key, before, files === null || isPredicted ? '' : stateOf(files, path)])
      .sort(byFirst);
    const reads = [...this.#reads].map((path) => [path, stateOf(this.#base, path)]).sort(byFirst);
    return sha256HexSync(new TextEncoder().encode(canonicalJson({ effects, reads, replaced: this.#replaced })));
  }
}

/**
 * Identifies an effect without the reason for asking: the reason depends on what the conversation has seen, which may change while the call
 * waits. The effect `call` has one key. For a written file its content matters, not how it was written.
 */
function keyOf(effect: Effect | null): string {
  switch (effect?.kind) {
    case undefined:
    case 'call':
      return canonicalJson({ kind: 'call' });
    case 'write-file':
      return canonicalJson({ kind: effect.kind, path: effect.path, movesAway: effect.change === 'move-away' });
    default:
      return canonicalJson(effect);
  }
}

function pathOf(effect: Effect | null): string {
  return effect?.kind === 'write-file' || effect?.kind === 'delete-file' ? effect.path : '';
}

function byFirst([one = '']: readonly string[], [other = '']: readonly string[]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The content and mode of a file, or of a directory with everything in it; `none` if the path does not exist. */
function stateOf(files: FileSystem, path: string): string {
  const stat = files.stat(path);
  if (stat === null) return 'none';
  if (stat.kind === 'file') return `file ${stat.mode} ${sha256HexSync(files.read(path))}`;
  const entries = files.list(path).map(({ name }) => [name, stateOf(files, joinPath(path, name))]);
  return `directory ${stat.mode} ${sha256HexSync(new TextEncoder().encode(canonicalJson(entries)))}`;
}
