/**
 * An administrator's decisions about a listed definition (contract §4): accept it, which takes an acknowledgement of its findings, reject it, or undo
 * such a decision. The same for every kind of definition; `decide-tool.ts` uses it for tools. Pure: who decides, and when, is passed in. Each
 * function returns the changed members, which its caller stores.
 */
import * as z from 'zod';
import { canonicalJson } from '../hash.ts';
import { limits } from '../limits/limits.ts';
import { quote } from '../names/names.ts';
import { Problem } from '../problem.ts';
import { boundedText } from '../text/bounded-text.ts';
import {
  acceptListed,
  findingCodes,
  holdReason,
  rejectionOf,
  identityChangeIn,
  updatesId,
  type DecidedBy,
  type Pinned,
  type Rejection,
  type Review,
  type Reviewed,
} from '../servers/definition-review.ts';
import { maxDefinitionFindings } from '../tools/hold.ts';

/** `noun`: as messages name it, for example `tool`. `textOf`: the definition as listed, with every hidden character visible. */
export type DefinitionKind<Definition extends Pinned> = { noun: string; textOf(listed: Definition): string };

/** Rejections of one name that are kept. A server that returns to an older one is held again. */
export const maxRejections = 20;

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

/**
 * Puts the listed definition into force. Throws `conflict` if it is not held or not the reviewed one, and `acknowledgement_required` unless
 * exactly its findings are acknowledged.
 */
export function acceptDefinition<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  reviewed: Reviewed<Definition>,
  request: AcceptRequest,
  decided: DecidedBy,
): Review<Definition> {
  const { accepted, reason, findings, decisions } = reviewed;
  const listed = requireListed(kind, reviewed, request.refId);
  requireNotRejected(kind, reviewed);
  if (reason === null)
    throw new Problem('conflict', `The ${kind.noun} ${quote(reviewed.name)} is not held, so there is nothing to accept.`);
  requireAcknowledged(kind, reviewed, request);
  return acceptListed({ accepted, findings, decisions, reason }, listed, decided);
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
): Review<Definition> {
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
 * listed one is held again; if the setting of the server had accepted it, it is rejected, since the next listing would accept it again.
 * Throws `conflict` if there is no such decision.
 */
export function undoDecision<Definition extends Pinned>(
  kind: DefinitionKind<Definition>,
  reviewed: Reviewed<Definition>,
  { refId }: UndoRequest,
  decided: DecidedBy,
): Review<Definition> {
  const { name, accepted, listed, reason, findings } = reviewed;
  const undone = reviewed.decisions.find((one) => refId === undefined || one.refId === refId);
  if (undone === undefined) {
    const about = refId === undefined ? `the ${kind.noun} ${quote(name)}` : `this definition of the ${kind.noun} ${quote(name)}`;
    throw new Problem('conflict', `There is no decision about ${about} to undo.`);
  }
  const others = reviewed.decisions.filter((one) => one !== undone);
  const rejection: Rejection = { decision: 'rejected', refId: undone.refId, ...decided };
  const decisions = undone.decision === 'accepted' && undone.by === updatesId ? [rejection, ...others] : others;
  if (undone.decision === 'rejected') return { accepted, reason, findings, decisions };
  const { before } = undone;
  if (listed?.pin === undone.refId) return { accepted: before, reason: undone.reason, findings: undone.findings, decisions };
  // The server lists another definition by now.
  const identityChange = identityChangeIn(undone.findings);
  const found = identityChange === null || identityChangeIn(findings) !== null ? findings : [identityChange, ...findings];
  const hasOtherIdentity = identityChangeIn(found) !== null;
  return {
    accepted: before,
    reason: listed && holdReason(before, listed, { isSuspicious: false, hasOtherIdentity }),
    findings: found,
    decisions,
  };
}

/** Returns the listed definition. Throws `conflict` if nothing valid is listed, or if it is not the reviewed definition. */
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
