/**
 * What the policy has to know about one kind of effect. Each file of this folder defines kinds; `policy-effect.ts` lists them. A new kind
 * is one file and one line there.
 */
import type * as z from 'zod';
import { isInside, workspace } from '../../text/path.ts';
import type { ApprovalReason, AskedEffect, AskKind } from '../approval.ts';
import type { PolicyRule } from '../rule.ts';
import { describeTaint, isTainted, type Taint } from '../taint.ts';

/**
 * `tool`: canonical. `chain`: the tools that called it, outermost first; absent: none. `agent`: null if there is none. `key`: id. A
 * denial or approval rule for a tool also covers the tools that it calls; permission is granted only to the tool itself.
 */
export type Actor = { tool: string; chain?: readonly string[]; agent: string | null; key: string };

/**
 * Further input of the decision. `taint`: null if the taint rule does not apply. `taintRule`: true if it applies whatever the
 * policy's `taint` says.
 */
export type Circumstances = { actor: Actor; taint: Taint | null; taintRule?: boolean };

/** What an effect is about, by the fields in which rules name it. */
export type EffectSubject = Partial<Record<'path' | 'host' | 'method' | 'secret' | 'name' | 'resource' | 'prompt', string>>;

/** `Of`: an effect of this kind. */
export type EffectRules<Of> = {
  subject(effect: Of): EffectSubject;
  /** How a question lists the effect. */
  action(effect: Of): AskedEffect['action'];
  /** Completes "Rule 1 forbids …". */
  describe(effect: Of, actor: Actor): string;
  /** The strongest change; null: it is checked at the inner effects. Sending is separate (`sends`). */
  change(effect: Of): 'read' | 'write' | 'destroy' | null;
  /** Whether data leaves the service. */
  sends(effect: Of): boolean;
  /** The questions without any rule (contract §7), in order; an approval of one does not cover the next. */
  questions(effect: Of, circumstances: Circumstances): readonly ApprovalReason[];
  /** Whether the effect would raise a question of this kind if it were asked about. */
  raises(effect: Of, kind: AskKind, tainted: boolean): boolean;
  /** Effects that a rule of these subjects could match: rules that match no example are rejected. */
  examples(rule: Pick<PolicyRule, keyof EffectSubject>): Of[];
};

type Optional = 'sends' | 'questions' | 'raises';

/**
 * Defines a kind of effect by its public schema (POST /v1/policy/test), which also is its type, and what the policy knows about it. By
 * default it sends nothing and raises no questions.
 */
export function effectKind<Schema extends z.ZodType>(
  schema: Schema,
  rules: Omit<EffectRules<z.output<Schema>>, Optional> & Partial<Pick<EffectRules<z.output<Schema>>, Optional>>,
): { schema: Schema; rules: EffectRules<z.output<Schema>> } {
  return { schema, rules: { sends: () => false, questions: () => [], raises: () => false, ...rules } };
}

/** One approval covers the whole call, so the first question also names the subject of the second. */
export function beforeSending(
  ask: ApprovalReason | null,
  taint: Taint | null,
  { what, target }: { what: string; target: string },
): readonly ApprovalReason[] {
  if (taint === null || !isTainted(taint)) return listed(ask, null);
  const seen = describeTaint(taint);
  const leak: ApprovalReason = { kind: 'taint', reason: `It ${what}, and ${seen}, so private data may be sent out`, target };
  return listed(ask === null ? null : { ...ask, reason: `${ask.reason}, and ${seen}` }, leak);
}

export function writesOutside(path: string): ApprovalReason | null {
  return isInside(path, workspace) ? null : { kind: 'write-outside', reason: `It writes outside ${workspace}: ${path}`, target: path };
}

export function listed(...asks: readonly (ApprovalReason | null)[]): readonly ApprovalReason[] {
  return asks.filter((ask) => ask !== null);
}
