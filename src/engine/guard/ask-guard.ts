/**
 * Asks the guard of a workspace about one call: a POST, signed according to Standard Webhooks, through the guarded outbound client. The guard
 * is external: its answer is bounded in time and size and must match the schema; everything else is a failure with a reason.
 */
import type * as z from 'zod';
import {
  GuardVerdict,
  guardAnswers,
  type AfterAnswer,
  type BeforeAnswer,
  type GuardEndpoint,
  type GuardQuestion,
} from '../../core/policy/guard.ts';
import { isDeeperThan } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem, parsePart } from '../../core/problem.ts';
import { signingKeys } from '../../core/triggers/callbacks/callback.ts';
import { signStandard } from '../../core/triggers/signatures/schemes.ts';
import { type FairPool, isShortage, shortageText } from '../fair-pool.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { WithTelemetry } from '../../ports/telemetry.ts';

type AnswerTo<Event extends GuardQuestion['event']> = Event extends 'before' ? BeforeAnswer : AfterAnswer;
/**
 * `why`: for the caller. `detail`: for the log, if there is more to say: callers do not learn the address of the guard. `isOurs`: the guard was
 * not asked, or not heard, because this service is too busy; that is no failure of the guard, and never allows anything.
 */
export type GuardReply<Event extends GuardQuestion['event']> =
  | { ok: true; answer: AnswerTo<Event> }
  | { ok: false; why: string; detail?: string; isOurs?: true };

/** Never throws for a failure of the guard. */
export type AskGuard = <Event extends GuardQuestion['event']>(
  guard: GuardEndpoint,
  question: Extract<GuardQuestion, { event: Event }>,
  signal: AbortSignal,
) => Promise<GuardReply<Event>>;

type AskGuardDeps = WithTelemetry & {
  outbound: OutboundHttp;
  /** Reads at most `maxBytes` of a body. */
  read(response: Response, maxBytes: number): Promise<{ bytes: Uint8Array; truncated: boolean }>;
  secret(workspace: string, name: string, host: string): Promise<string>;
  now(): number;
  /** Of the questions of this isolate. */
  questions: Pick<FairPool, 'wait'>;
};

export function createAskGuard(deps: AskGuardDeps): AskGuard {
  return async (guard, question, signal) => {
    const place = await deps.questions.wait({ workspace: question.workspace, keyId: question.key }, { signal }).catch(() => null);
    if (place === null) return cancelled;
    if (isShortage(place)) return { ok: false, why: shortageText(place), isOurs: true };
    try {
      return await observed(deps, question, () => ask(deps, guard, question, signal));
    } finally {
      place.release();
    }
  };
}

const cancelled = { ok: false, why: 'the call was cancelled' } as const;

class Redirected extends Error {}

async function observed<Reply extends GuardReply<'before' | 'after'>>(
  { telemetry }: AskGuardDeps,
  { event, canonical, callId }: GuardQuestion,
  run: () => Promise<Reply>,
): Promise<Reply> {
  if (telemetry == null) return await run();
  const attributes = { 'gen_ai.tool.name': canonical, 'gen_ai.tool.call.id': callId, 'moniker.guard.event': event };
  return await telemetry.during({ name: `guard ${event}`, kind: 'client', attributes }, async (span) => {
    const reply = await run();
    span.set('moniker.guard.verdict', reply.ok ? reply.answer.decision : GuardVerdict.enum.failed);
    if (!reply.ok) span.fail('guard_failed');
    return reply;
  });
}

async function ask<Event extends GuardQuestion['event']>(
  deps: AskGuardDeps,
  guard: GuardEndpoint,
  question: Extract<GuardQuestion, { event: Event }>,
  signal: AbortSignal,
): Promise<GuardReply<Event>> {
  const end = new AbortController();
  const stop = (): void => end.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  let sentAt: number | null = null;
  try {
    const request = await signedRequest(deps, guard, question);
    sentAt = deps.now();
    const response = await deps.outbound(request, {
      purpose: 'webhook',
      signal: end.signal,
      timeoutMs: guard.timeoutMs,
      onHop: (to, hop) => {
        if (hop > 0) throw new Redirected(`it redirects to ${to.host}`);
      },
    });
    if (!response.ok) return { ok: false, why: `it responded with status ${response.status}` };
    const { bytes, truncated } = await deps.read(response, limits.maxGuardAnswerBytes);
    if (truncated) return { ok: false, why: `its answer is larger than ${limits.maxGuardAnswerBytes} bytes` };
    return readAnswer(question.event, bytes);
  } catch (error) {
    if (signal.aborted) return cancelled;
    const detail = error instanceof Problem ? error.detail : String(error);
    if (sentAt === null && isInternal(error))
      return { ok: false, why: 'the service could not read the secret of the guard', detail, isOurs: true };
    if (sentAt !== null && deps.now() - sentAt > guard.timeoutMs + maxLatenessMs)
      return { ok: false, why: 'the service was too busy to receive the answer of the guard', detail, isOurs: true };
    if (error instanceof Redirected) return { ok: false, why: 'it redirects, and redirects are not followed', detail };
    const isLate = error instanceof Problem && error.code === 'upstream_timeout';
    return { ok: false, why: isLate ? `it did not respond within ${guard.timeoutMs} ms` : 'it could not be asked', detail };
  } finally {
    signal.removeEventListener('abort', stop);
    // Closes the response and its timer.
    end.abort();
  }
}

/** When a timeout ends later than this after its time, this isolate was busy meanwhile, and may have had the answer all along. */
const maxLatenessMs = 1_000;

/** What storage failed to do, as opposed to a secret that does not exist or is bound to another host. */
function isInternal(error: unknown): boolean {
  return !(error instanceof Problem) || error.code === 'unavailable' || error.code === 'internal' || error.code === 'upstream_timeout';
}

/** The id is the same in every attempt to ask this question, so that the guard can repeat its answer. */
async function signedRequest(deps: AskGuardDeps, { url, secret: name }: GuardEndpoint, question: GuardQuestion): Promise<Request> {
  const { event, callId, workspace } = question;
  const id = `guard_${callId.replaceAll('.', '-')}_${event}`;
  const seconds = Math.floor(deps.now() / 1000);
  const body = JSON.stringify(question);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'Moniker-Guard/1 (Standard Webhooks)',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
  };
  if (name !== undefined) {
    const secret = await deps.secret(workspace, name, new URL(url).host);
    headers['webhook-signature'] = await signStandard(signingKeys(secret), { id, seconds, body });
  }
  return new Request(url, { method: 'POST', headers, body, redirect: 'manual' });
}

function readAnswer<Event extends GuardQuestion['event']>(event: Event, bytes: Uint8Array): GuardReply<Event> {
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return { ok: false, why: 'its answer is not JSON' };
  }
  if (isDeeperThan(given, limits.maxJsonDepth)) return { ok: false, why: 'its answer is nested too deeply' };
  const read = parsePart(guardAnswers[event] as z.ZodType<AnswerTo<Event>>, given);
  if ('data' in read) return { ok: true, answer: read.data };
  const [issue] = read.issues;
  return { ok: false, why: `its answer is not valid: ${issue?.path || '(answer)'} ${issue?.message ?? ''}` };
}
