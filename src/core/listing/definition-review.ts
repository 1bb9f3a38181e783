/**
 * The review of what servers list (contract §4, pins): which definition is in force, held or rejected. `decide-definition.ts` has an
 * administrator's decisions. The same for every kind of definition; `stored-tool.ts` and `apply-listing.ts` use it for tools. Pure.
 */
import { z } from 'zod';
import { identityChanged, type Finding, type HoldReason } from './hold.ts';

/** `pin`: the SHA-256 of the definition as listed, the `refId` of requests. */
export type Pinned = { pin: string };

/** What is stored about one name that a server lists or listed. */
export type Reviewed<Definition extends Pinned> = {
  name: string;
  /** The definition in force; null: none was ever accepted. */
  accepted: Definition | null;
  /** The definition as the server lists it; null: not listed, or not a valid definition. */
  listed: Definition | null;
  /** Why `listed` is not in force; null: it is in force, or nothing is listed. */
  reason: HoldReason | null;
  /** Findings in the listed definition. */
  findings: readonly Finding[];
  /** Newest first: the newest acceptance, and a bounded number of rejections. */
  decisions: readonly ReviewDecision<Definition>[];
};

/** `at`: milliseconds since the epoch. `by`: the id of the key. */
export type DecidedBy = { by: string; at: number };
export type Rejection = DecidedBy & { decision: 'rejected'; refId: string; note?: string };
/** `before`, `reason`, `findings`: the state that undoing the acceptance restores. */
type AcceptanceOf<Definition> = DecidedBy & {
  decision: 'accepted';
  refId: string;
  before: Definition | null;
  reason: HoldReason;
  findings: readonly Finding[];
};
export type ReviewDecision<Definition> = Rejection | AcceptanceOf<Definition>;

/** A decision as shown. */
export const DefinitionDecision = z
  .object({
    decision: z.enum(['accepted', 'rejected']),
    refId: z.string().meta({ description: 'The definition that was decided about.' }),
    by: z.string().meta({ description: 'Id of the key.' }),
    at: z.iso.datetime(),
    acknowledged: z.array(z.string()).optional().meta({ description: 'The codes of the findings that were acknowledged.' }),
    note: z.string().optional(),
  })
  .meta({ id: 'DefinitionDecision' });
export type DefinitionDecision = z.infer<typeof DefinitionDecision>;

export type ReviewState = 'missing' | 'rejected' | 'held' | 'ready';

export function reviewStateOf<Definition extends Pinned>(
  reviewed: Pick<Reviewed<Definition>, 'listed' | 'reason' | 'decisions'>,
): ReviewState {
  if (reviewed.listed === null) return 'missing';
  if (isRejected(reviewed)) return 'rejected';
  return reviewed.reason === null ? 'ready' : 'held';
}

/** Whether the listed definition was rejected. */
function isRejected<Definition extends Pinned>({ listed, decisions }: Pick<Reviewed<Definition>, 'listed' | 'decisions'>): boolean {
  return listed !== null && rejectionOf(decisions, listed.pin) !== null;
}

/** Returns the rejection of a definition; null: it was not rejected. */
export function rejectionOf<Definition>(decisions: readonly ReviewDecision<Definition>[], refId: string): Rejection | null {
  return decisions.find((one): one is Rejection => one.decision === 'rejected' && one.refId === refId) ?? null;
}

/** Whether the name must stay known while it is neither listed nor used, because a definition of it was rejected. */
export function hasRejections<Definition>(decisions: readonly ReviewDecision<Definition>[]): boolean {
  return decisions.some(({ decision }) => decision === 'rejected');
}

/** Returns the codes of findings, each once, sorted: what an acceptance must acknowledge. */
export function findingCodes(findings: readonly Finding[]): string[] {
  return [...new Set(findings.map(({ finding }) => finding))].sort();
}

export function showDecisions<Definition>(decisions: readonly ReviewDecision<Definition>[]): DefinitionDecision[] {
  return decisions.map((one) => {
    const shown = { decision: one.decision, refId: one.refId, by: one.by, at: new Date(one.at).toISOString() };
    if (one.decision === 'rejected') return { ...shown, ...(one.note !== undefined && { note: one.note }) };
    return { ...shown, ...(one.findings.length > 0 && { acknowledged: findingCodes(one.findings) }) };
  });
}

/** What a listing or a decision changes; its caller stores it. */
export type Review<Definition extends Pinned> = Pick<Reviewed<Definition>, 'accepted' | 'reason' | 'findings' | 'decisions'>;

/**
 * Returns the state after the server listed `item` (`listed` null: something invalid). `before`: undefined for a name that was never listed.
 * `isFirst`: the server is new, so what does not require a review is in force. `isSuspicious`: findings require one. `stranger`: the finding
 * that the server changed its identity; what was accepted is then held until it is accepted again.
 */
export function reviewListed<Definition extends Pinned>(
  before: Reviewed<Definition> | undefined,
  { listed, findings, isSuspicious }: { listed: Definition | null; findings: readonly Finding[]; isSuspicious: boolean },
  { isFirst, stranger }: { isFirst: boolean; stranger?: Finding | null },
): Review<Definition> {
  const { accepted = null, decisions = [] } = before ?? {};
  const other = stranger ?? (before === undefined || before.reason === null ? null : strangerIn(before.findings));
  const reviewed = { accepted, findings: other === null || accepted === null ? findings : [other, ...findings], decisions };
  if (listed === null) return { ...reviewed, reason: null };
  const reason = holdReason(accepted, listed, { isSuspicious, isStranger: other !== null });
  // A name that was held or rejected remains so, even if its server was created again.
  return isFirst && before === undefined && reason === 'new' ? { ...reviewed, accepted: listed, reason: null } : { ...reviewed, reason };
}

/** Why the listed definition is held, compared with the accepted one; null: it is not. */
export function holdReason<Definition extends Pinned>(
  accepted: Definition | null,
  listed: Definition,
  { isSuspicious, isStranger }: { isSuspicious: boolean; isStranger: boolean },
): HoldReason | null {
  if (accepted === null) return isSuspicious ? 'suspicious' : 'new';
  if (accepted.pin !== listed.pin) return 'changed';
  return isStranger ? 'server' : null;
}

/** It remains until an administrator accepts, also if the server is listed again. null: none. */
export function strangerIn(findings: readonly Finding[]): Finding | null {
  return findings.find(({ finding }) => finding === identityChanged) ?? null;
}
