/**
 * Builds the single question about a call with several effects: the effects as data, and the sentence that lists them. Pure; built
 * from the record of `engine/policy/effect-record.ts`.
 */
import type { ApprovalReason, AskedEffect, ApprovalQuestion } from './approval.ts';
import type { EffectSubject } from './effects/effect-kind.ts';
import { rulesOfEffect, type Effect } from './policy-effect.ts';

/** Effects that a question lists as data, and that its sentence names of each kind. An approval is bound to all effects. */
export const maxListedEffects = 100;
const maxNamedEffects = 10;

/**
 * An effect that requires approval. `effect`: null if the toolset entry requires approval, whatever the call does. `operation`: the
 * question about the operation that the effect belongs to, such as the deletion of a folder; equal for all effects of one operation.
 */
export type EffectToAsk = { effect: Effect | null; ask: ApprovalReason; operation: ApprovalReason };

/**
 * Returns the question. `kind` and `target` are those of the first operation. `reason` is its reason, or lists the effects of all
 * operations if there are several.
 */
export function questionAbout(recorded: readonly EffectToAsk[], binding: readonly string[]): ApprovalQuestion {
  const [first] = recorded;
  if (first === undefined) throw new Error('there is nothing to ask');
  const isOne = new Set(recorded.map(({ operation }) => JSON.stringify(operation))).size === 1;
  const { kind, target, reason } = first.operation;
  const effects = recorded.slice(0, maxListedEffects).map(toAskedEffect);
  return {
    kind,
    target,
    reason: isOne ? reason : listed(recorded),
    effects,
    effectCount: recorded.length,
    ...(!isOne && { several: true as const }),
    binding,
  };
}

function toAskedEffect({ effect, ask }: EffectToAsk): AskedEffect {
  const { kind } = ask;
  return {
    action: actionOf(effect),
    kind,
    target: targetOf(effect) ?? ask.target,
    ...(effect?.kind === 'network' && { method: effect.method }),
  };
}

/** Returns one sentence without its full stop. Effects other than files and requests come first, with their own reasons. */
function listed(recorded: readonly EffectToAsk[]): string {
  const sentences: string[] = [];
  const files = new Map<AskedEffect['action'], string[]>();
  const requests: string[] = [];
  for (const one of recorded) {
    const { effect, ask } = one;
    const action = actionOf(effect);
    const target = targetOf(effect);
    if (ask.kind === 'rule' || ask.kind === 'always' || effect === null || target === null) sentences.push(ask.reason);
    else if (effect.kind === 'network') requests.push(requestText(effect, ask));
    else if (action in verbs) files.set(action, [...(files.get(action) ?? []), target]);
    else sentences.push(ask.reason);
    // The reason of a rule only names the rule and the path, so the file is also listed with the others.
    if (ask.kind === 'rule' && target !== null && action in verbs) files.set(action, [...(files.get(action) ?? []), target]);
  }
  const parts = [...[...files].map(([action, targets]) => fileText(action, targets)), ...bounded([...new Set(requests)])];
  const list = parts.length === 0 ? [] : [`It ${joined(parts)}`];
  return [...bounded([...new Set(sentences)]), ...list].join('. ');
}

const verbs: Partial<Record<AskedEffect['action'], string>> = {
  delete: 'deletes',
  replace: 'replaces',
  write: 'writes',
  move: 'moves',
  read: 'reads',
};

function fileText(action: AskedEffect['action'], targets: readonly string[]): string {
  const verb = verbs[action] ?? action;
  const shown = bounded(targets).join(', ');
  return targets.length === 1 ? `${verb} ${shown}` : `${verb} ${targets.length} files (${shown})`;
}

/** Adds the method, which the reason for a question about a host omits. */
function requestText({ host, method }: Extract<Effect, { kind: 'network' }>, { reason }: ApprovalReason): string {
  const before = `It sends a request to ${host}`;
  return reason.startsWith(before) ? `sends ${method} to ${host}${reason.slice(before.length)}` : `sends ${method} to ${host} (${reason})`;
}

function bounded(texts: readonly string[]): string[] {
  const shown = texts.slice(0, maxNamedEffects);
  return texts.length > shown.length ? [...shown, `and ${texts.length - shown.length} more`] : shown;
}

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 || last.startsWith('and ') ? parts.join(', ') : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

function actionOf(effect: Effect | null): AskedEffect['action'] {
  return effect === null ? 'call' : rulesOfEffect(effect).action(effect);
}

/** null: the call itself. */
function targetOf(effect: Effect | null): string | null {
  const { path, host, secret, name, resource, prompt }: EffectSubject = effect === null ? {} : rulesOfEffect(effect).subject(effect);
  return path ?? host ?? secret ?? name ?? resource ?? prompt ?? null;
}
