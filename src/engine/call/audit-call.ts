/**
 * The audit of calls: an intent row before anything that may have an effect (where the scope stores intents), then one row and one log line
 * with the outcome. For calls without a session, also the trail that waits until their rows are written.
 */
import type { AuditRow } from '../../core/records/audit.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { AuditScope, CallDeps } from './call-scope.ts';
import type { PreparedCall } from './prepare-call.ts';
import type { ToolCallAnswer, ToolCallRequest } from './tool-call.ts';

type AuditDeps = Pick<CallDeps, 'clock' | 'log'>;
type AuditedRequest = Pick<ToolCallRequest, 'callId' | 'requested' | 'arguments' | 'parent'>;
type Named = Pick<ToolCallAnswer, 'canonical' | 'via' | 'guard'>;
type Outcome = Pick<AuditRow, 'verdict' | 'code' | 'durationMs' | 'cost' | 'served'>;

/**
 * Writes the audit row and the log line of a finished call. A call that shared the result of an identical call gets its own row.
 * `request.arguments`: the tool's own arguments where they are known, with secrets as names.
 */
export async function auditCall(deps: AuditDeps, scope: AuditScope, request: AuditedRequest, answer: ToolCallAnswer): Promise<void> {
  const { ran, result, durationMs, cost } = answer;
  const { served } = result;
  const outcome = {
    verdict: ran ? 'ran' : 'refused',
    ...{ code: result.code ?? null, durationMs },
    ...(cost !== undefined && { cost }),
    ...(served && { served }),
  } as const;
  const row = await rowOf(deps, scope, request, { ...answer, canonical: served?.tool ?? answer.canonical }, outcome);
  const { at: _at, ...line } = row;
  deps.log.info('tool call', line);
  await scope.audit(row);
}

/** The audit of one call between its intent and its outcome. */
export type CallIntent = ReturnType<typeof createIntent>;

/** Returns the request with the arguments that the audit has: the tool's own where the call may run. */
export function auditedRequest({ request, refusal, own }: PreparedCall): ToolCallRequest {
  return refusal === null ? { ...request, arguments: own } : request;
}

export function createIntent(deps: AuditDeps, scope: AuditScope, prepared: PreparedCall) {
  const named = { ...prepared, canonical: prepared.tool?.canonical ?? prepared.canonical };
  const request = auditedRequest(named);
  let isStored = false;
  const unlessStored = (error: unknown): void => {
    if (!isStored) throw error;
    deps.log.error('the outcome of a call could not be written to the audit', {
      callId: request.callId,
      canonical: named.canonical,
      cause: String(error),
    });
  };
  return {
    /** Stores that the call starts, and what it costs. Returns false if it cannot be stored; then the call must not run. */
    async store(price: number | null): Promise<boolean> {
      if (scope.begin === undefined) return true;
      const unknown = {
        verdict: 'outcome_unknown',
        code: 'outcome_unknown',
        durationMs: 0,
        ...(price !== null && { cost: price }),
      } as const;
      const row = await rowOf(deps, scope, request, named, unknown);
      try {
        await scope.begin(row);
        isStored = true;
      } catch (error) {
        deps.log.error('a call was not run: its audit row cannot be written', {
          callId: row.callId,
          canonical: row.canonical,
          cause: String(error),
        });
      }
      return isStored;
    },
    /** Stores that the call waits for an external answer before it can continue. Does nothing for a call without a stored intent. */
    async markWaiting(): Promise<void> {
      if (!isStored) return;
      const row = await rowOf(deps, scope, request, named, { verdict: 'waiting', code: null, durationMs: 0 });
      try {
        await scope.audit(row);
      } catch (error) {
        unlessStored(error);
      }
    },
    /** Stores the outcome. Throws on failure, unless an intent was stored: then that row says that the outcome is unknown. */
    async settle(answer: ToolCallAnswer): Promise<void> {
      await auditCall(deps, scope, request, answer).catch(unlessStored);
    },
  };
}

async function rowOf(
  deps: AuditDeps,
  scope: AuditScope,
  request: AuditedRequest,
  { canonical, via, guard }: Named,
  outcome: Outcome,
): Promise<Omit<AuditRow, 'sequence'>> {
  const { edition } = scope;
  return {
    at: new Date(deps.clock.now()).toISOString(),
    keyId: scope.keyId,
    session: scope.session,
    turn: scope.turn,
    agent: scope.agent ?? null,
    callId: request.callId,
    parent: request.parent ?? null,
    requested: request.requested,
    canonical,
    via,
    toolset: edition?.toolset ?? null,
    edition: edition === null ? null : `${edition.toolset}@${edition.version}.${edition.revision}`,
    argumentsHash: await sha256Hex(canonicalJson(request.arguments)),
    ...outcome,
    ...(guard !== undefined && { guard }),
  };
}

/**
 * The audit rows of a call without a session and of all its nested calls. Intents are durable before `begin` resolves. Outcomes are written
 * in the background while the call continues; all are written before the response to the outermost call, which saves each nested call
 * one round trip.
 */
export function createAuditTrail(write: (rows: AuditRow[]) => Promise<void>, log: Logger) {
  const writing: Promise<void>[] = [];
  let hasBegun = false;
  let refusal: unknown;
  return {
    async begin(row: Omit<AuditRow, 'sequence'>): Promise<void> {
      try {
        await write([{ ...row, sequence: null }]);
        hasBegun = true;
      } catch (error) {
        refusal = error;
        throw error;
      }
    },
    audit(row: Omit<AuditRow, 'sequence'>): void {
      const rows = [{ ...row, sequence: null }];
      // The audit stores one row per call id, so writing a row twice is safe.
      const written = write(rows).catch(() => write(rows));
      // `written()` reports the failure.
      written.catch(() => undefined);
      writing.push(written);
    },
    /**
     * Resolves when all rows are written. Throws `unavailable` when a row is missing and no call had started. Once a call has started, its
     * caller gets the result, and the audit retains `outcome_unknown`.
     */
    async written(): Promise<void> {
      const failures = (await Promise.allSettled(writing)).flatMap((row) => (row.status === 'rejected' ? [row.reason as unknown] : []));
      const cause = refusal ?? failures[0];
      if (cause === undefined) return;
      if (!hasBegun) throw notAudited(cause);
      if (failures.length > 0)
        log.error('outcomes of calls could not be written to the audit', { rows: failures.length, cause: String(cause) });
    },
  };
}

function notAudited(cause: unknown): Problem {
  const detail = 'The audit cannot be written at the moment, so the call had no effect. Retry it later.';
  return new Problem('unavailable', detail, { retryAfterMs: limits.defaultRetryAfterMs }, { cause });
}
