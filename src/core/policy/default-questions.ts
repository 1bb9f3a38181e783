/**
 * The default questions without any rule (DESIGN §7), and the kinds of question that an effect belongs to, in which rules are
 * written. Pure; used by `evaluate-policy.ts`.
 */
import type { ApprovalReason, AskKind } from './approval.ts';
import { isInside, workspace } from '../text/path.ts';
import type { Circumstances, Effect } from './policy-effect.ts';
import { isTainted, describeTaint, type Taint } from './taint.ts';
import type { DoneEffect } from './rule.ts';

const none: readonly ApprovalReason[] = [];

/** Returns the questions in order; an approval of one does not cover the next. Most effects have none. */
export function defaultQuestions(effect: Effect, { actor, taint }: Circumstances): readonly ApprovalReason[] {
  switch (effect.kind) {
    case 'call':
      return beforeSending(askOfCall(actor.tool, effect), effect.sends ? taint : null, { what: `calls ${actor.tool}`, target: actor.tool });
    case 'network': {
      const { host } = effect;
      const ask: ApprovalReason = {
        kind: 'network',
        reason: `It sends a request to ${host}, which is new to this workspace`,
        target: host,
      };
      return beforeSending(ask, taint, { what: `sends a request to ${host}`, target: host });
    }
    case 'delete-file':
      return listed(askFile('delete-file', `It deletes ${effect.path}, which cannot be undone`, effect.path), outside(effect.path));
    case 'write-file':
      return effect.change === 'overwrite' && !effect.own
        ? listed(
            askFile('overwrite-file', `It replaces the content of ${effect.path}, which this session did not write`, effect.path),
            outside(effect.path),
          )
        : listed(outside(effect.path), null);
    case 'registry':
      return effect.change === 'create-tool'
        ? none
        : [{ kind: 'registry', reason: `It ${changes[effect.change]} ${effect.name}`, target: effect.name }];
    case 'read-file':
    case 'secret':
      return none;
    default:
      return effect satisfies never;
  }
}

/** Whether the effect would raise a question of this kind if it were asked about. */
export function raisesQuestion(effect: Effect, kind: AskKind, { taint }: Circumstances): boolean {
  const tainted = taint !== null && isTainted(taint);
  switch (effect.kind) {
    case 'call':
      if (kind === 'taint') return effect.sends && tainted;
      if (kind === 'destructive') return effect.does === 'destroy';
      return kind === 'untrusted' && !effect.trusted && effect.does !== 'read' && effect.does !== null;
    case 'network':
      return kind === 'network' || (kind === 'taint' && tainted);
    case 'delete-file':
      return kind === 'delete-file' || (kind === 'write-outside' && !isInside(effect.path, workspace));
    case 'write-file':
      if (kind === 'overwrite-file') return effect.change === 'overwrite' && !effect.own;
      // The file is gone from its path: a file that may not be deleted may not be moved away either.
      if (kind === 'delete-file') return effect.change === 'move-away';
      return kind === 'write-outside' && !isInside(effect.path, workspace);
    case 'registry':
      return kind === 'registry';
    case 'read-file':
    case 'secret':
      return false;
    default:
      return effect satisfies never;
  }
}

/** Returns the strongest change of an effect; null: it is checked at the inner effects. Sending is separate (`sends`). */
export function changeOf(effect: Effect): Exclude<DoneEffect, 'send'> | null {
  switch (effect.kind) {
    case 'call':
      return effect.does;
    case 'network':
      if (effect.method === 'DELETE') return 'destroy';
      return effect.method === 'GET' || effect.method === 'HEAD' || effect.method === 'OPTIONS' ? 'read' : 'write';
    case 'delete-file':
      return 'destroy';
    case 'write-file':
      return effect.change === 'overwrite' && !effect.own ? 'destroy' : 'write';
    case 'registry':
      return effect.change === 'delete-toolset' ? 'destroy' : 'write';
    case 'read-file':
    case 'secret':
      return 'read';
    default:
      return effect satisfies never;
  }
}

export function sendsData(effect: Effect): boolean {
  return effect.kind === 'network' || (effect.kind === 'call' && effect.sends);
}

const changes = {
  'share-tool': 'shares with the whole workspace the tool',
  'replace-tool': 'replaces the tool',
  'write-toolset': 'changes the toolset',
  'delete-toolset': 'deletes the toolset',
} as const;

/** One question per tool, so that one rule can answer it. */
function askOfCall(canonical: string, { does, trusted }: Extract<Effect, { kind: 'call' }>): ApprovalReason | null {
  if (does === null || does === 'read' || (trusted && does !== 'destroy')) return null;
  const may = does === 'destroy' ? 'may delete or overwrite data' : 'may change data';
  return trusted
    ? { kind: 'destructive', reason: `${canonical} ${may}`, target: canonical }
    : { kind: 'untrusted', reason: `${canonical} ${may}, and its server is not trusted`, target: canonical };
}

/** One approval covers the whole call, so the first question also names the subject of the second. */
function beforeSending(
  ask: ApprovalReason | null,
  taint: Taint | null,
  { what, target }: { what: string; target: string },
): readonly ApprovalReason[] {
  if (taint === null || !isTainted(taint)) return listed(ask, null);
  const seen = describeTaint(taint);
  const leak: ApprovalReason = { kind: 'taint', reason: `It ${what}, and ${seen}, so private data may be sent out`, target };
  return listed(ask === null ? null : { ...ask, reason: `${ask.reason}, and ${seen}` }, leak);
}

function outside(path: string): ApprovalReason | null {
  return isInside(path, workspace) ? null : askFile('write-outside', `It writes outside ${workspace}: ${path}`, path);
}

function askFile(kind: AskKind, reason: string, target: string): ApprovalReason {
  return { kind, reason, target };
}

function listed(first: ApprovalReason | null, second: ApprovalReason | null): readonly ApprovalReason[] {
  if (first === null) return second === null ? none : [second];
  return second === null ? [first] : [first, second];
}
