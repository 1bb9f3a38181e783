/**
 * The review of what servers list (contract §4, pins): which definition is in force, held or rejected. `decide-definition.ts` has an
 * administrator's decisions. The same for every kind of definition; `stored-tool.ts` and `apply-listing.ts` use it for tools. Pure.
 */
import * as z from 'zod';
import { identityChanged, type Finding, type HoldReason } from '../tools/hold.ts';

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
/** Who has decided, in the decisions about a tool: the setting of its server, not a key. */
export const updatesId = 'updates';

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
    by: z.string().meta({ description: 'Id of the key; `updates` if the setting `updates` of the server decided.' }),
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

/** The definition in force after an acceptance, which can be undone. */
export function acceptListed<Definition extends Pinned>(
  { accepted, findings, decisions, reason }: Pick<Reviewed<Definition>, 'accepted' | 'findings' | 'decisions'> & { reason: HoldReason },
  listed: Definition,
  decided: DecidedBy,
): Review<Definition> {
  const acceptance = { decision: 'accepted' as const, refId: listed.pin, ...decided, before: accepted, reason, findings };
  const rejections = decisions.filter(({ decision }) => decision === 'rejected');
  return { accepted: listed, reason: null, findings, decisions: [acceptance, ...rejections] };
}

/** What a listing or a decision changes; its caller stores it. */
export type Review<Definition extends Pinned> = Pick<Reviewed<Definition>, 'accepted' | 'reason' | 'findings' | 'decisions'>;

/** `take`: returns the definition to put into force; null: it is held. */
export type ListingContext<Definition> = {
  isFirst: boolean;
  identityChange?: Finding | null;
  updates?: { take(accepted: Definition | null, listed: Definition): Definition | null; decided: DecidedBy };
};

/**
 * Returns the state after the server listed `item` (`listed` null: something invalid). `before`: undefined for a name that was never listed.
 * `isFirst`: the server is new, so what does not require a review is in force. `isSuspicious`: findings require one. `identityChange`: the finding
 * that the server changed its identity; what was accepted is then held until it is accepted again. `updates`: what is in force without an
 * administrator, of what else changed.
 */
export function reviewListed<Definition extends Pinned>(
  before: Reviewed<Definition> | undefined,
  { listed, findings, isSuspicious }: { listed: Definition | null; findings: readonly Finding[]; isSuspicious: boolean },
  { isFirst, identityChange, updates }: ListingContext<Definition>,
): Review<Definition> {
  const { accepted = null, decisions = [] } = before ?? {};
  const other = identityChange ?? (before === undefined || before.reason === null ? null : identityChangeIn(before.findings));
  const reviewed = { accepted, findings: other === null || accepted === null ? findings : [other, ...findings], decisions };
  if (listed === null) return { ...reviewed, reason: null };
  const reason = holdReason(accepted, listed, { isSuspicious, hasOtherIdentity: other !== null });
  if (isFirst && before === undefined && reason === 'new') return { ...reviewed, accepted: listed, reason: null };
  if (reason !== null && updates && !isSuspicious && other === null && rejectionOf(decisions, listed.pin) === null) {
    const taken = updates.take(accepted, listed);
    if (taken !== null) return acceptListed({ ...reviewed, reason }, taken, updates.decided);
  }
  // A name that was held or rejected remains so, even if its server was created again.
  return { ...reviewed, reason };
}

/** Why the listed definition is held, compared with the accepted one; null: it is not. */
export function holdReason<Definition extends Pinned>(
  accepted: Definition | null,
  listed: Definition,
  { isSuspicious, hasOtherIdentity }: { isSuspicious: boolean; hasOtherIdentity: boolean },
): HoldReason | null {
  if (accepted === null) return isSuspicious ? 'suspicious' : 'new';
  if (accepted.pin !== listed.pin) return 'changed';
  return hasOtherIdentity ? 'server' : null;
}

/** It remains until an administrator accepts, also if the server is listed again. null: none. */
export function identityChangeIn(findings: readonly Finding[]): Finding | null {
  return findings.find(({ finding }) => finding === identityChanged) ?? null;
}
