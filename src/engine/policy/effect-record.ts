/**
 * The effects of one run of a call that require approval, recorded while the call runs on files that are not committed yet. A checkpoint is a
 * hash of all that was recorded so far; a yes is bound to the checkpoints of the run that asked. A later run continues past a checkpoint only if
 * the yes has it, so that it does what was asked about, byte for byte, or asks again. Used by `ask-first.ts`.
 */
import type { Ask, Question } from '../../core/approval.ts';
import { canonicalJson } from '../../core/hash.ts';
import { limits } from '../../core/limits.ts';
import { joinPath, parentPath } from '../../core/path.ts';
import { questionAbout, type EffectToAsk } from '../../core/policy/approval-question.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { Problem } from '../../core/problem.ts';
import { sha256HexSync } from '../../core/sha256.ts';
import type { FileSystem } from '../../ports/file-system.ts';

/**
 * `before`: what stood at the path. `files`: where the path is read from at each checkpoint; null: the effect is not about a file. `isForeseen`: the
 * arguments of the call say what becomes of the path, and they are part of what is approved.
 */
type Recorded = EffectToAsk & { path: string; files: FileSystem | null; before: string; isForeseen: boolean };

/** `files`: of a change to a file, the files that it is done to, before it is done. `operation`: absent: the effect itself. */
type ToRecord = Omit<EffectToAsk, 'operation'> & { operation?: Ask; files?: FileSystem; isForeseen?: boolean };

export class EffectRecord {
  readonly #base: FileSystem;
  readonly #approved: ReadonlySet<string>;
  readonly #recorded = new Map<string, Recorded>();
  readonly #paths = new Map<string, Ask>();
  readonly #reads = new Set<string>();
  readonly #passed: string[] = [];
  /** Keys that were recorded when the last checkpoint was passed. */
  #covered: ReadonlySet<string> = new Set();
  #isPending = false;
  /** Stored files were read that the last checkpoint is not about: what is sent now may come from them. */
  #readsSincePass = false;
  /** Of what is recorded now; null: something was recorded since. */
  #checkpoint: string | null = null;

  /** `base`: the files as stored. `approved`: the checkpoints that the yes is bound to; empty: there is no yes. */
  constructor(base: FileSystem, approved: readonly string[]) {
    this.#base = base;
    this.#approved = new Set(approved);
  }

  /** Something was recorded that no yes covers yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** What the call has read of the stored files is part of each checkpoint: a script that was changed is another script. */
  read(path: string): void {
    if (this.#reads.has(path)) return;
    this.#reads.add(path);
    this.#readsSincePass ||= this.#base.stat(path) !== null;
  }

  /** Of a file that an earlier effect of the call is about: whatever changes it again changes what was asked. null: none. */
  askAbout(path: string): Ask | null {
    return this.#paths.get(path) ?? null;
  }

  /**
   * Whether the yes covers the effect already. Never a change to a file: what it writes is seen at the next checkpoint. Never a request that may
   * carry what was read since the last one.
   */
  covers(effect: Effect): boolean {
    if (pathOf(effect) !== '' || (effect?.kind === 'network' && this.#readsSincePass)) return false;
    return this.#covered.has(keyOf(effect));
  }

  add({ effect, ask, operation = ask, files, isForeseen = false }: ToRecord): void {
    const path = pathOf(effect);
    const key = keyOf(effect);
    this.#isPending = true;
    this.#checkpoint = null;
    // A further change to a file that is listed already: its bytes at the next checkpoint say what came of it.
    const known = this.#recorded.get(key);
    if (known?.isForeseen === true && known.files !== null) this.#recorded.set(key, { ...known, before: stateOf(known.files, path) });
    if (known !== undefined || (path !== '' && this.#paths.get(path) === ask)) return;
    if (this.#recorded.size >= limits.maxEffectsToAsk)
      throw new Problem('forbidden', `More than ${limits.maxEffectsToAsk} of its effects need approval: do less in one call.`);
    const at = path === '' ? null : (files ?? this.#base);
    const before = at === null ? '' : stateOf(at, path);
    this.#recorded.set(key, { effect, ask, operation: this.#madeWith(ask, path) ?? operation, path, files: at, before, isForeseen });
    if (at !== null && !this.#paths.has(path)) this.#paths.set(path, ask);
  }

  /** Of a path in a directory outside the workspace that the call has made itself: the question about that directory. */
  #madeWith({ kind }: Ask, path: string): Ask | null {
    if (kind !== 'write-outside') return null;
    for (let parent = parentPath(path); parent !== '/'; parent = parentPath(parent)) {
      const made = this.#recorded.get(keyOf({ kind: 'write-file', path: parent, change: 'create', own: true }));
      if (made?.before === 'none') return made.operation;
    }
    return null;
  }

  /** True where the call may continue: nothing waits for a yes, or the yes is bound to all that was recorded so far. */
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

  /** About all that was recorded. A yes to it lets the call pass this point and those that it passed before. */
  question(): Question {
    return questionAbout([...this.#recorded.values()], [...this.#passed, this.#current()]);
  }

  #current(): string {
    this.#checkpoint ??= this.#hash();
    return this.#checkpoint;
  }

  #hash(): string {
    const effects = [...this.#recorded]
      .map(([key, { path, files, before, isForeseen }]) => [key, before, files === null || isForeseen ? '' : stateOf(files, path)])
      .sort(byFirst);
    const reads = [...this.#reads].map((path) => [path, stateOf(this.#base, path)]).sort(byFirst);
    return sha256HexSync(new TextEncoder().encode(canonicalJson({ effects, reads })));
  }
}

/**
 * Why it is asked is no part of it: what the conversation has seen, and so the reason, may change while the call waits. Of the call itself there is
 * one, whoever asks. Of a written file the bytes count, not how they got there.
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

/** The content and mode of a file, of a directory with all that it holds; `none` where there is nothing. */
function stateOf(files: FileSystem, path: string): string {
  const stat = files.stat(path);
  if (stat === null) return 'none';
  if (stat.kind === 'file') return `file ${stat.mode} ${sha256HexSync(files.read(path))}`;
  const entries = files.list(path).map(({ name }) => [name, stateOf(files, joinPath(path, name))]);
  return `directory ${stat.mode} ${sha256HexSync(new TextEncoder().encode(canonicalJson(entries)))}`;
}
