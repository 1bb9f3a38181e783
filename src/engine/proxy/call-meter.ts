/**
 * Meters one request to a provider outside of turns: collects what its reply reports, and reports it once, when the reply has ended, failed
 * or was cancelled. Nothing waits for it.
 */
import { splitModelRef } from '../../core/turn/agent.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import type { Dropped } from '../../core/model/dropped.ts';
import { priceOf } from '../../core/model/price.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import { droppedNames, toModelUse, type RequestEntry } from '../../core/records/usage.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';
import type { ServiceHost } from '../host.ts';
import type { UsageRecorder } from '../../ports/usage.ts';

export type CallMeter = {
  /** The first byte of the reply has arrived. */
  begun(): void;
  /** Events of the reply, as they arrive. */
  take(events: readonly ChatEvent[]): void;
  usage(usage: Usage): void;
  /** What the provider is not sent; read when the reply has ended. */
  dropped(collector: Dropped): void;
  /**
   * The reply has ended. `code`: of its error; `hasOutput`: before the error, so that it may be billed. Only the first call of `end`, `cut` or
   * `fail` counts.
   */
  end(code?: string, hasOutput?: boolean): void;
  /** The client disconnected, or the reply was dropped. */
  cut(): void;
  /** The request failed without a reply. */
  fail(error: unknown): void;
};

/** Whether a request that failed without a reply cost nothing: a provider that is too slow may bill what it has generated. */
export function isUnbilled(error: unknown): boolean {
  return error instanceof Problem && error.code !== 'upstream_timeout';
}

export type MeteredRequest = {
  principal: Principal;
  /** The model that is called. */
  ref: string;
  agent?: string | undefined;
  requestId: string | undefined;
  dialect: string | null;
  /** false: it calls no model, so it is only in the log. */
  isModel?: boolean;
};

/** `host`: a stop of the service waits for the reply. */
export type MeterDeps = { clock: Clock; ids: Ids; usage?: Pick<UsageRecorder, 'gather'> | undefined; host?: Pick<ServiceHost, 'hold'> };

/** Meters nothing: for tests, and for parts that are used without a recorder. */
export const noMeter: CallMeter = {
  begun: () => undefined,
  take: () => undefined,
  usage: () => undefined,
  dropped: () => undefined,
  end: () => undefined,
  cut: () => undefined,
  fail: () => undefined,
};

export function startMeter({ clock, ids, usage: recorder, host }: MeterDeps, request: MeteredRequest, access: ProviderAccess): CallMeter {
  if (recorder === undefined) return noMeter;
  const { principal, ref, agent = null, requestId = null, dialect, isModel = true } = request;
  const at = clock.now();
  let firstByteAt: number | null = null;
  let toolCalls: number | null = null;
  let used: Usage | null = null;
  let hasOutput = false;
  let isOver = false;
  let left: Dropped | null = null;
  const release = host?.hold();

  const report = (status: RequestEntry['status'], code: string | null, wasBilled: boolean, wasSent = true): void => {
    if (isOver) return;
    isOver = true;
    release?.();
    const durationMs = Math.max(0, clock.now() - at);
    const { keyId, workspace } = principal;
    const id = ids.next('req');
    const call = { at, model: ref, durationMs, failed: status === 'failed', usage: used, wasBilled };
    recorder.gather(workspace, {
      ...{ id, part: 1, at, keyId, agent, toolset: null, tools: [] },
      models: wasSent && isModel ? [toModelUse(call, priceOf(access, splitModelRef(ref).model))] : [],
      request: {
        ...{ id, kind: 'request', at: new Date(at).toISOString(), requestId, keyId, agent, session: null, turn: null, dialect },
        ...{ toolset: null, model: ref, status, code, durationMs, toolCalls, ...droppedNames(left?.items() ?? []) },
        firstTokenMs: firstByteAt === null ? null : Math.max(0, firstByteAt - at),
      },
    });
  };
  return {
    begun() {
      firstByteAt ??= clock.now();
    },
    take(events) {
      if (events.length > 0) firstByteAt ??= clock.now();
      for (const event of events) {
        hasOutput ||= event.type !== 'usage' && event.type !== 'error';
        if (event.type === 'call-start') toolCalls = (toolCalls ?? 0) + 1;
        else if (event.type === 'usage') used = event.usage;
        else if (event.type === 'error') report('failed', event.problem.code, hasOutput);
        else if (event.type === 'finish') {
          toolCalls ??= 0;
          report('completed', null, true);
        }
      }
    },
    usage(usage) {
      used = usage;
    },
    dropped(collector) {
      left = collector;
    },
    end: (code, isBilled = code === undefined || firstByteAt !== null) =>
      report(code === undefined ? 'completed' : 'failed', code ?? null, isBilled),
    cut: () => report('cancelled', 'cancelled', true),
    fail(error) {
      const problem = error instanceof Problem ? error : null;
      // A request that is invalid here was not sent; a problem of the provider names it.
      const wasSent = problem === null || problem.extra.provider !== undefined;
      report('failed', problem?.code ?? 'internal', wasSent && !isUnbilled(error), wasSent);
    },
  };
}
