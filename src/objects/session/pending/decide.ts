/**
 * Applies approval decisions, made by key or by link: checks and stores a decision and passes it to the turn, which resumes.
 * Repeating a decision has no effect; a different decision is refused. `session.ts` has checked the caller.
 */
import type { ApprovalVerdict, ApprovalView, Decision } from '../../../core/policy/approval.ts';
import { toBase64Url } from '../../../core/text/bytes.ts';
import { outerRootId, parentCallId } from '../../../core/toolset/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';
import type { AuditRow } from '../../../core/records/audit.ts';
import { isAllowed } from '../../../core/people/authority.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Origin } from '../../../core/people/principal.ts';
import type { Logger } from '../../../ports/runtime.ts';
import { newHosts, rulesToRemember } from '../../../core/policy/approval-ways.ts';
import { derivedNotes, PolicyRule } from '../../../core/policy/rule.ts';
import { invalidRequest, parseInput, Problem } from '../../../core/problem.ts';
import type { KeyRights } from '../../../ports/catalog.ts';
import type { DecisionOutcome, FollowedLink } from '../../../ports/session.ts';
import type { StoredApprovalLink } from './approval-links.ts';
import { decisionIn } from '../object/open-session.ts';
import { toApprovalView, verdictStates, type Approval } from './wait.ts';
import type { OpenSession } from '../object/open-session.ts';

export type DecisionAuditContext = { openSession: OpenSession; session: string; now(): number; log: Logger };

export type DecisionContext = DecisionAuditContext & {
  /** True once the session was deleted. */
  isDeleted(): boolean;
  /** Stores rules for the workspace. */
  addRule(...rules: PolicyRule[]): Promise<void>;
  /** Makes hosts known to the workspace. */
  knowHosts(hosts: readonly string[]): Promise<void>;
  /** Applies the redaction rules of the workspace to the reason of a decision on a call with this toolset. */
  redact(reason: string, toolset: string | undefined): Promise<string>;
  /** Asks the Catalog what a credential may do now. */
  originRights(origin: Origin): Promise<KeyRights | null>;
};

export function showApproval({ openSession, session }: DecisionContext, callId: string): ApprovalView {
  return toApprovalView(session, find(openSession, callId), openSession.waits.argumentsOf(callId));
}

/** Returns all pending approvals, oldest first. */
export function showPending({ openSession, session }: DecisionContext): ApprovalView[] {
  return openSession.waits
    .pendingApprovals()
    .map((approval) => toApprovalView(session, approval, openSession.waits.argumentsOf(approval.callId)));
}

/**
 * `by`: id of the key that decides, or `link`. `reason`: in the words of the person who decides. `remember`: as in `SessionPort.decide`.
 * `mayWaive`: the key may change the policy, so the hosts that it approves are known to the workspace, unless `remember` is given. `round`: the
 * question that is decided; null means the first.
 */
type DecideOptions = {
  by: string;
  reason?: string | undefined;
  remember?: boolean | 'session' | undefined;
  mayWaive?: boolean;
  round?: number | null;
};

/**
 * Applies a decision. Approving a later question requires its round: otherwise a repeated request, or a second person, could approve a
 * question that they were not shown.
 */
export async function decide(
  context: DecisionContext,
  callId: string,
  decision: Decision,
  { by, reason, remember, mayWaive = false, round = null }: DecideOptions,
): Promise<DecisionOutcome> {
  const { openSession } = context;
  const isKept = remember === true || remember === 'session';
  if (isKept && decision !== 'approve') {
    const message = 'only an approval can be remembered: send "decision": "approve", or omit "remember"';
    throw invalidRequest([{ path: 'remember', message }], message);
  }
  const approval = find(openSession, callId);
  const wanted = { decision, isKept, round };
  const hosts = mayWaive && decision === 'approve' && remember === undefined ? newHosts(approval.question) : [];
  if (refuse(context, approval, wanted) === 'same' && !isKept && hosts.length === 0) return answer(context, callId, decision);
  const rules = isKept ? toRules(approval) : [];
  const ofSession =
    remember === 'session'
      ? rules.map((rule) => ({ ...rule, key: approval.keyId ?? openSession.meta.keyId, note: derivedNotes.session }))
      : [];
  openSession.remembered.requireRoom(ofSession);
  const argumentsHash = await hashOfArguments(openSession, callId);
  const why = reason === undefined ? {} : { reason: await context.redact(reason, toolsetOf(openSession, approval)) };
  if (context.isDeleted()) throw new Problem('not_found', 'There is no such session.');
  // Another decision may have been made in the meantime, and the call may have asked again.
  if (refuse(context, find(openSession, callId), { ...wanted, round: approval.round }) === 'new')
    settle(context, approval, { decision, by, ...why, argumentsHash, ...(ofSession.length > 0 && { remember: 'session' }) });
  // Only after the decision is stored: a decision that came too late must not create a rule.
  openSession.remembered.add(ofSession);
  if (remember === true) await storeRules(context, rules);
  const known = hosts.length === 0 ? {} : await makeKnown(context, hosts);
  if (context.isDeleted()) return { callId, decision, turn: approval.turn, status: null, ...known };
  return { ...answer(context, callId, decision), ...known };
}

async function storeRules({ addRule }: DecisionContext, rules: readonly PolicyRule[]): Promise<void> {
  try {
    await addRule(...rules);
  } catch (error) {
    const [code, why] = error instanceof Problem ? [error.code, ` ${error.detail}`] : ['internal' as const, ''];
    const detail = `The call is approved, but the rule was not stored.${why} Repeat the request with \`remember\` to store it.`;
    throw new Problem(code, detail, error instanceof Problem ? error.extra : {}, { cause: error });
  }
}

/** The approval was not for this, so it stands when the hosts cannot be stored. */
async function makeKnown({ knowHosts, log, session }: DecisionContext, hosts: string[]): Promise<Partial<DecisionOutcome>> {
  try {
    await knowHosts(hosts);
    return { knownHosts: hosts };
  } catch (error) {
    log.error('the hosts of an approval could not be made known to the workspace', { session, hosts, cause: String(error) });
    return { warning: `The call is approved, but these hosts could not be made known to the workspace: ${hosts.join(', ')}.` };
  }
}

/** Denies an approval that has expired. */
export async function expireApproval(context: DecisionAuditContext, approval: Approval): Promise<void> {
  const { waits } = context.openSession;
  const argumentsHash = await hashOfArguments(context.openSession, approval.callId);
  // The turn may have been cancelled in the meantime.
  if (waits.get('approval', approval.callId)?.state === 'pending')
    settle(context, approval, { decision: 'expire', by: 'clock', argumentsHash });
}

/** Creates a nonce that allows one decision, as long as the credential that created it may decide. */
export async function mintLink(context: DecisionContext, callId: string, keyId: string): Promise<{ nonce: string; expiresAt: number }> {
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const hash = await sha256Hex(nonce);
  const approval = find(context.openSession, callId);
  if (approval.state !== 'pending' || approval.expiresAt <= context.now())
    throw new Problem('conflict', `This approval is ${stateNow(context, approval)} and cannot be decided.`);
  const expiresAt = Math.min(approval.expiresAt, context.now() + limits.approvalLinkTtlMs);
  context.openSession.approvalLinks.add(hash, { callId, keyId, expiresAt, round: approval.round });
  return { nonce, expiresAt };
}

export async function showLinked(context: DecisionContext, { nonce, origin }: FollowedLink): Promise<ApprovalView> {
  const { callId } = await linkedCall(context, await sha256Hex(nonce), origin);
  return showApproval(context, callId);
}

export async function decideByLink(
  context: DecisionContext,
  { nonce, origin }: FollowedLink,
  decision: Decision,
  options: Pick<DecideOptions, 'reason'> & { remember?: 'session' | undefined } = {},
): Promise<DecisionOutcome> {
  const hash = await sha256Hex(nonce);
  const { callId, round } = await linkedCall(context, hash, origin);
  const decided = await decide(context, callId, decision, { by: 'link', ...options, round });
  context.openSession.approvalLinks.markUsed(hash);
  return decided;
}

/** A link grants no more than the credential that created it. */
async function linkedCall(context: DecisionContext, nonceHash: string, origin: Origin): Promise<StoredApprovalLink> {
  const { keyId } = findLink(context.openSession, nonceHash);
  if (keyId !== origin.keyId || !(await isDecisionAllowed(context, origin)))
    throw new Problem(
      'not_found',
      'This link is no longer valid: the key that created it was revoked, changed or replaced, or has expired. Request a new link.',
    );
  // The link may have been used while the Catalog was asked.
  return findLink(context.openSession, nonceHash);
}

function findLink({ approvalLinks: links, waits }: OpenSession, nonceHash: string): StoredApprovalLink {
  const link = links.find(nonceHash);
  const asked = link === null ? null : waits.get('approval', link.callId);
  if (link !== null && asked !== null && asked.round !== link.round)
    throw new Problem('not_found', 'The call has changed since this link was created and requires a new approval. Request a new link.');
  if (link === null) throw new Problem('not_found', 'This link was used or has expired. Request a new link.');
  return link;
}

/** Throws `internal` when the Catalog does not respond, so that nothing is shown or decided. */
async function isDecisionAllowed({ openSession, originRights }: DecisionContext, origin: Origin): Promise<boolean> {
  try {
    const rights = await originRights(origin);
    const acts = [{ act: 'use-scope', scopes: ['approve'] }, decisionIn(openSession, origin.keyId)] as const;
    return rights !== null && acts.every((act) => isAllowed(rights, act));
  } catch (error) {
    const detail = 'The key of this link cannot be checked at the moment, so nothing was decided. Try again later.';
    throw new Problem('internal', detail, {}, { cause: error });
  }
}

function find(openSession: OpenSession, callId: string): Approval {
  const approval = openSession.waits.get('approval', callId);
  if (approval === null) throw new Problem('not_found', 'This session has no approval with this call id.');
  return approval;
}

/** `isKept`: the decision is to be remembered. */
type Wanted = { decision: Decision; isKept: boolean; round: number | null };

/**
 * Throws `conflict` when the decision is late, differs from an earlier one, or is about another question. Returns `same` when the
 * decision was made before. A used approval can still be remembered.
 */
function refuse(context: DecisionContext, approval: Approval, { decision, isKept, round }: Wanted): 'new' | 'same' {
  const state = stateNow(context, approval);
  const isForAnother = round === null ? state === 'pending' && decision === 'approve' && approval.round > 1 : round !== approval.round;
  if (isForAnother) throw otherQuestion(approval, state);
  if (state === 'pending') return 'new';
  if (state === 'used' && isKept) return 'same';
  if (state === (decision === 'approve' ? 'approved' : 'denied')) return 'same';
  const why =
    state === 'used'
      ? 'was approved and used'
      : state === 'expired'
        ? 'is no longer open: it has expired or its turn has ended'
        : `was already ${state}`;
  throw new Problem('conflict', `This approval ${why}. This request had no effect.`);
}

function otherQuestion({ round, reason }: Approval, state: Approval['state']): Problem {
  if (state !== 'pending') return new Problem('conflict', `The last question about this call has round ${round}. Nothing was decided.`);
  const detail = `This call would now do something other than what was approved, so it requires a new approval: ${reason}. Nothing was decided. To decide this question, send "round": ${round}.`;
  return new Problem('conflict', detail, { round });
}

/** An approval may have expired before the alarm has marked it. */
function stateNow({ now }: DecisionContext, { state, expiresAt }: Approval): Approval['state'] {
  return state === 'pending' && expiresAt <= now() ? 'expired' : state;
}

type DecisionRecord = { decision: ApprovalVerdict; by: string; reason?: string; argumentsHash: string; remember?: 'session' };

function settle(context: DecisionAuditContext, approval: Approval, record: DecisionRecord): void {
  const { openSession } = context;
  const { callId, turn } = approval;
  const { argumentsHash: _hash, ...decided } = record;
  const parent = outerRootId(callId);
  const event = { type: 'approval-decided' as const, callId, ...(parent && { parent }), ...decided };
  // For turns the table follows the log.
  if (turn === null) openSession.waits.recordDecision(callId, decided);
  else if (!openSession.runner.applyExternal(turn, ({ step }) => [{ ...event, turn, step }]))
    throw new Problem('internal', 'The decision could not be passed to the turn. Try again.');
  auditDecision(context, approval, record);
  openSession.runner.setExpiryTimer();
}

function toolsetOf({ turns }: OpenSession, { turn, toolset }: Approval): string | undefined {
  return (turn === null ? toolset : turns.get(turn)?.plan.edition?.toolset) ?? undefined;
}

/** Returns the hash of the arguments that the call would run with, as in the audit row of the call. Asynchronous: call it before the decision is stored. */
async function hashOfArguments({ waits }: OpenSession, callId: string): Promise<string> {
  return await sha256Hex(canonicalJson(waits.argumentsOf(callId)));
}

/**
 * Writes the audit row and the log line of a decision, in the transaction that stores the decision. `by`: id of the key that decided,
 * `link`, or `clock`. Calls have their own rows.
 */
function auditDecision(
  { openSession, session, now, log }: DecisionAuditContext,
  { callId, turn, canonical, entry, toolset }: Approval,
  { decision, by, reason, argumentsHash }: DecisionRecord,
): void {
  const plan = turn === null ? undefined : openSession.turns.get(turn)?.plan;
  const edition = plan?.edition ?? null;
  const line: Omit<AuditRow, 'sequence' | 'at'> = {
    keyId: by,
    session,
    turn,
    agent: plan?.agent ?? null,
    callId,
    parent: parentCallId(callId),
    requested: entry,
    canonical,
    via: null,
    toolset: edition?.toolset ?? toolset,
    edition: edition === null ? null : `${edition.toolset}@${edition.version}.${edition.revision}`,
    argumentsHash,
    verdict: verdictStates[decision],
    code: null,
    durationMs: 0,
    ...(reason !== undefined && { reason }),
  };
  log.info('approval decided', line);
  openSession.audit.add({ at: new Date(now()).toISOString(), ...line });
}

function answer({ openSession }: DecisionContext, callId: string, decision: Decision): DecisionOutcome {
  const { turn } = find(openSession, callId);
  const row = turn === null ? null : openSession.turns.get(turn);
  return { callId, decision, turn, status: row === null ? null : (row.status ?? row.state) };
}

function toRules({ ask: kind, canonical, target, question: { effects, effectCount, several } }: Approval): PolicyRule[] {
  const found = rulesToRemember(canonical, { kind, target, effects, effectCount, several });
  if ('rules' in found) return found.rules.map((rule) => parseInput(PolicyRule, rule));
  throw invalidRequest([{ path: 'remember', message: found.why }], found.why);
}
