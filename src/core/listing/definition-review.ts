/**
 * The review of what servers list (contract §4, pins): which definition is in force, held or rejected, and an administrator's decisions about
 * it. The same for every kind of definition; `stored-tool.ts` and `apply-listing.ts` use it for tools. Pure: who decides, and when, is passed
 * in. Each function returns the changed members, which its caller stores.
 */
import { z } from 'zod';
import { boundedText } from '../text/bounded-text.ts';
import { identityChanged, maxDefinitionFindings, type Finding, type HoldReason } from './hold.ts';
import { canonicalJson } from '../hash.ts';
import { limits } from '../limits.ts';
import { quote } from '../names/names.ts';
import { Problem } from '../problem.ts';

/** `pin`: the SHA-256 of the definition as listed, the `refId` of requests. */
type Pinned = { pin: string };

/** `noun`: as messages name it, for example `tool`. `textOf`: the definition as listed, with every hidden character visible. */
export type DefinitionKind<Definition extends Pinned> = { noun: string; textOf(listed: Definition): string };

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
  /** Newest first: the newest acceptance, and at most `maxRejections` rejections. */
  decisions: readonly ReviewDecision<Definition>[];
};

/** `at`: milliseconds since the epoch. `by`: the id of the key. */
export type DecidedBy = { by: string; at: number };
type Rejection = DecidedBy & { decision: 'rejected'; refId: string; note?: string };
/** `before`, `reason`, `findings`: the state that undoing the acceptance restores. */
type AcceptanceOf<Definition> = DecidedBy & {
  decision: 'accepted';
  refId: string;
  before: Definition | null;
  reason: HoldReason;
  findings: readonly Finding[];
};
export type ReviewDecision<Definition> = Rejection | AcceptanceOf<Definition>;

/** Rejections of one name that are kept. A server that returns to an older one is held again. */
export const maxRejections = 20;

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

// The members of requests that decide.

const RefId = z.string().regex(/^[0-9a-f]{64}$/, { message: 'must be 64 hex digits: held.refId, as GET shows it' });

export const AcceptDecision = {
  refId: RefId.optional().meta({
    description:
      '`refId` of the reviewed definition (`held.refId`). If the server now lists another definition, nothing is accepted (409). Required with `acknowledge`.',
  }),
  acknowledge: z
    .array(z.string().min(1).max(100))
    .max(maxDefinitionFindings + 1)
    .optional()
    .meta({
      description:
        'The codes of all findings in the definition, which the problem `acknowledgement_required` lists. Required if there are any.',
    }),
};
export const RejectDecision = {
  refId: RefId.optional().meta({
    description: '`refId` of the reviewed definition. If the server now lists another definition, nothing is rejected (409).',
  }),
  note: boundedText(limits.maxNoteBytes).min(1).optional().meta({ description: 'The reason, shown with the rejection.' }),
};
export const UndoDecision = {
  refId: RefId.optional().meta({ description: 'Undoes the decision about this definition. Default: the newest decision.' }),
};

export type AcceptRequest = { refId?: string | undefined; acknowledge?: readonly string[] | undefined };
export type RejectRequest = { refId?: string | undefined; note?: string | undefined };
export type UndoRequest = { refId?: string | undefined };

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

type Listing<Definition extends Pinned> = Pick<Reviewed<Definition>, 'accepted' | 'reason' | 'findings' | 'decisions'>;

/**
 * Returns the state after the server listed `item` (`listed` null: something invalid). `before`: undefined for a name that was never listed.
 * `isFirst`: the server is new, so what does not require a review is in force. `isSuspicious`: findings require one. `stranger`: the finding
 * that the server changed its identity; what was accepted is then held until it is accepted again.
 */
export function reviewListed<Definition extends Pinned>(
  before: Reviewed<Definition> | undefined,
  { listed, findings, isSuspicious }: { listed: Definition | null; findings: readonly Finding[]; isSuspicious: boolean },
  { isFirst, stranger }: { isFirst: boolean; stranger?: Finding | null },
): Listing<Definition> {
  const { accepted = null, decisions = [] } = before ?? {};
  const other = stranger ?? (before === undefined || before.reason === null ? null : strangerIn(before.findings));
  const reviewed = { accepted, findings: other === null || accepted === null ? findings : [other, ...findings], decisions };
  if (listed === null) return { ...reviewed, reason: null };
  const reason = holdReason(accepted, listed, { isSuspicious, isStranger: other !== null });
  // A name that was held or rejected remains so, even if its server was created again.
  return isFirst && before === undefined && reason === 'new' ? { ...reviewed, accepted: listed, reason: null } : { ...reviewed, reason };
}

function holdReason<Definition extends Pinned>(
  accepted: Definition | null,
  listed: Definition,
  { isSuspicious, isStranger }: { isSuspicious: boolean; isStranger: boolean },
): HoldReason | null {
  if (accepted === null) return isSuspicious ? 'suspicious' : 'new';
  if (accepted.pin !== listed.pin) return 'changed';
  return isStranger ? 'server' : null;
}

/** It remains until an administrator accepts, also if the server is listed again. null: none. */
function strangerIn(findings: readonly Finding[]): Finding | null {
  return findings.find(({ finding }) => finding === identityChanged) ?? null;
}

/**
 * Puts the listed definition into force. Throws `conflict` if it is not held or not the reviewed one, and `acknowledgement_required` unless
 * exactly its findings are acknowledged.
 */
export function acceptDefinition<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  reviewed: Reviewed<Definition>,
  request: AcceptRequest,
  decided: DecidedBy,
): Listing<Definition> {
  const { accepted, reason, findings, decisions } = reviewed;
  const listed = requireListed(kind, reviewed, request.refId);
  requireNotRejected(kind, reviewed);
  if (reason === null)
    throw new Problem('conflict', `The ${kind.noun} ${quote(reviewed.name)} is not held, so there is nothing to accept.`);
  requireAcknowledged(kind, reviewed, request);
  const acceptance = { decision: 'accepted' as const, refId: listed.pin, ...decided, before: accepted, reason, findings };
  return {
    accepted: listed,
    reason: null,
    findings,
    decisions: [acceptance, ...decisions.filter(({ decision }) => decision === 'rejected')],
  };
}

/**
 * Throws `acknowledgement_required` with what the request must contain, unless it names the definition and exactly the codes of its
 * findings. So a definition with findings takes two requests, and one whose findings changed in between a third.
 */
export function requireAcknowledged<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  { name, listed, findings }: Pick<Reviewed<Definition>, 'name' | 'listed' | 'findings'>,
  { refId, acknowledge = [] }: AcceptRequest,
): void {
  const codes = findingCodes(findings);
  const isExact = canonicalJson([...new Set(acknowledge)].sort()) === canonicalJson(codes);
  if (isExact && (codes.length === 0 || refId !== undefined)) return;
  const what = `The definition of the ${kind.noun} ${quote(name)} has`;
  const detail =
    codes.length === 0
      ? `${what} no findings. Leave "acknowledge" out.`
      : `${what} findings. Read them and the definition. To accept it nevertheless, send "refId" and "acknowledge" with exactly these codes: ${codes.join(', ')}.`;
  const shown = listed === null ? {} : { refId: listed.pin, definition: kind.textOf(listed) };
  throw new Problem('acknowledgement_required', detail, { ...shown, acknowledge: codes, findings: [...findings] });
}

/** Rejects the listed definition: it cannot be used until the decision is undone. Throws `conflict` if it is not the reviewed one. */
export function rejectDefinition<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  reviewed: Reviewed<Definition>,
  { refId, note }: RejectRequest,
  decided: DecidedBy,
): Listing<Definition> {
  const { accepted, reason, findings, decisions } = reviewed;
  const listed = requireListed(kind, reviewed, refId);
  requireNotRejected(kind, reviewed);
  const rejection: Rejection = { decision: 'rejected', refId: listed.pin, ...decided, ...(note !== undefined && { note }) };
  const rejections = decisions.filter(({ decision }) => decision === 'rejected');
  const forgotten = new Set<unknown>(rejections.slice(maxRejections - 1));
  return { accepted, reason, findings, decisions: [rejection, ...decisions.filter((one) => !forgotten.has(one))] };
}

/**
 * Takes the newest decision back, or that about one definition. After an acceptance the definition that was in force before it is, and the
 * listed one is held again. Throws `conflict` if there is no such decision.
 */
export function undoDecision<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  reviewed: Reviewed<Definition>,
  { refId }: UndoRequest,
): Listing<Definition> {
  const { name, accepted, listed, reason, findings } = reviewed;
  const undone = reviewed.decisions.find((one) => refId === undefined || one.refId === refId);
  if (undone === undefined) {
    const about = refId === undefined ? `the ${kind.noun} ${quote(name)}` : `this definition of the ${kind.noun} ${quote(name)}`;
    throw new Problem('conflict', `There is no decision about ${about} to undo.`);
  }
  const decisions = reviewed.decisions.filter((one) => one !== undone);
  if (undone.decision === 'rejected') return { accepted, reason, findings, decisions };
  const { before } = undone;
  if (listed?.pin === undone.refId) return { accepted: before, reason: undone.reason, findings: undone.findings, decisions };
  // The server lists another definition by now.
  const stranger = strangerIn(undone.findings);
  const found = stranger === null || strangerIn(findings) !== null ? findings : [stranger, ...findings];
  const isStranger = strangerIn(found) !== null;
  return {
    accepted: before,
    reason: listed && holdReason(before, listed, { isSuspicious: false, isStranger }),
    findings: found,
    decisions,
  };
}

/** Returns the listed definition. Throws `conflict` if there is none, or if it is not the reviewed one. */
export function requireListed<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  { name, listed }: Pick<Reviewed<Definition>, 'name' | 'listed'>,
  refId: string | undefined,
): Definition {
  if (listed === null)
    throw new Problem(
      'conflict',
      `The server lists no valid definition of the ${kind.noun} ${quote(name)}, so there is nothing to decide about.`,
    );
  if (refId === undefined || refId === listed.pin) return listed;
  const message = `The ${kind.noun} ${quote(name)} has changed since the review. Read the definition again.`;
  throw new Problem('conflict', message, { refId: listed.pin });
}

function requireNotRejected<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  { name, listed, decisions }: Reviewed<Definition>,
): void {
  const rejection = listed === null ? null : rejectionOf(decisions, listed.pin);
  if (rejection === null) return;
  const message = `This definition of the ${kind.noun} ${quote(name)} was rejected by ${rejection.by}. Undo the rejection first.`;
  throw new Problem('conflict', message, { refId: rejection.refId });
}
