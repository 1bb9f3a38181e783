/** One request of an MCP client while it is answered: what is served to whom, and what can be sent before the response. */
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import type { Principal } from '../../core/people/principal.ts';
import { readTraceContext } from '../../core/telemetry/trace-context.ts';
import { type AskableInput, type InputAnswer, type InputRequest, passedExtensions, passedMeta } from '../../core/tools/mcp-input.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { ServeCallDeps, ServedCaller } from '../../engine/mcp/serve-call.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { WatchDeps } from '../../engine/mcp/serve-watch.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { LinkStore } from '../../ports/mcp-sessions.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import type { Telemetry, WithTelemetry } from '../../ports/telemetry.ts';
import type { CallerChannel } from '../../ports/upstream.ts';
import { logLevels, metaNames } from './revisions.ts';
import type { RpcParams } from './messages.ts';

export type ServeDeps = ServeCallDeps &
  WatchDeps &
  WithTelemetry & {
    /** Continues work in the background after the client has disconnected. It must not fail. */
    background(work: Promise<unknown>): void;
  };

/** A request to serve. `view`: read for it. */
export type ServedRequest = { principal: Principal; target: ServeTarget; view: ServedView; request: Request };

/** `modern`: 2026-07-28. `session`: with `initialize` and a session. `stateless`: requests of the 2025 revisions without a session. */
export type ServedEra = 'modern' | 'session' | 'stateless';

/** What the calls of a session share. */
export type SessionParts = {
  /** Its marks for the taint rule. */
  marks: MarkStore;
  /** The rules that it remembers. */
  remembered: RememberedRules;
  files: FileSystem;
  /** The resources that its results linked to. */
  links: LinkStore;
  /** Its resource subscriptions. `add` throws when it has the maximum number. */
  subscriptions: { add(subscription: ResourceSubscription): void; remove(uri: string): void };
};

export type Exchange = {
  deps: ServeDeps;
  era: ServedEra;
  principal: Principal;
  target: ServeTarget;
  /** Current for this request. In a session it is read again at each call. */
  viewOf(): Promise<ServedView>;
  /** The owner of state at a server: the MCP session, or the key. */
  conversation: string;
  headers: Headers;
  /** Aborts when the client cancels the request or, without a session, disconnects. */
  signal: AbortSignal;
  /** The client's declared capabilities; null: unknown. */
  capabilities: Readonly<Record<string, unknown>> | null;
  /** The least severe log messages that the client wants; null: it has set no level, which means none in 2026-07-28, and all before. */
  logLevel: string | null;
  /** In a session: how often the client has reported that its roots have changed. */
  rootsChanges?: number;
  /** Sends a notification on the stream of this request. */
  notify(method: string, params?: object): void;
  /** Sends a request to the client on that stream, and returns its result. */
  ask?(request: InputRequest): Promise<InputAnswer>;
  session?: SessionParts;
  /** Set if a call may stay open between requests. */
  hold?: InFlightCallSlot;
  /** For a call that is resumed because the process ended during it. */
  interrupted?: { callId: string };
  /** Stored durably before the effect of a call. */
  started?(callId: string): void;
};

/** Returns the caller of the request. `params`: those of the request. */
export async function servedCallerOf(exchange: Exchange, params: RpcParams): Promise<ServedCaller> {
  const { principal, target, conversation, session, hold, interrupted, started } = exchange;
  return {
    ...{ principal, target, conversation },
    view: await exchange.viewOf(),
    ...(started && { started }),
    ...(hold && { openCall: hold }),
    ...(session && { marks: session.marks, remembered: session.remembered, files: session.files, links: session.links }),
    ...spaceOf(exchange.headers),
    // The client has disconnected meanwhile, and reads the result after it reconnects.
    ...(interrupted === undefined
      ? { channel: channelOf(exchange, params._meta), askable: askableOf(exchange) }
      : { channel: {}, askable: {}, interrupted }),
  };
}

function channelOf({ era, notify, ask, logLevel, rootsChanges }: Exchange, meta: unknown): CallerChannel {
  const { progressToken } = recordOf(meta);
  const passed = passedMeta(meta);
  const unset = era === 'modern' ? Number.POSITIVE_INFINITY : 0;
  const wanted = logLevel === null ? unset : logLevels.indexOf(logLevel);
  return {
    ...(passed !== undefined && { meta: passed }),
    ...(logLevel !== null && { logLevel }),
    ...(rootsChanges !== undefined && { rootsChanges }),
    ...(progressToken !== undefined && {
      progress: ({ progress, total, message }) => {
        const more = { ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
        notify('notifications/progress', { progressToken, progress, ...more });
      },
    }),
    notice: ({ level, logger, data }) => {
      if (logLevels.indexOf(level) < wanted) return;
      notify('notifications/message', { level, ...(logger !== undefined && { logger }), data });
    },
    ...(era === 'session' && {
      elicitationComplete: (elicitationId: string) => notify('notifications/elicitation/complete', { elicitationId }),
      ...(ask && { ask }),
    }),
  };
}

/** Sent with each request (2026-07-28), or once for a session. For requests without either, nothing is known. */
export function askableOf({ era, capabilities }: Pick<Exchange, 'era' | 'capabilities'>): AskableInput {
  return era === 'stateless' || capabilities === null ? {} : readAskable(capabilities);
}

/** `meta`: of a request of 2026-07-28. */
export function askableIn(meta: unknown): AskableInput {
  const capabilities = recordOf(meta)[metaNames.clientCapabilities];
  return isRecord(capabilities) ? readAskable(capabilities) : {};
}

function readAskable(capabilities: Readonly<Record<string, unknown>>): AskableInput {
  const { elicitation, sampling, roots } = capabilities;
  const extensions = passedExtensions(capabilities);
  return {
    ...(isRecord(elicitation) && {
      elicitation: { ...(isRecord(elicitation.form) && { form: {} }), ...(isRecord(elicitation.url) && { url: {} }) },
    }),
    ...(isRecord(sampling) && {
      sampling: { ...(isRecord(sampling.context) && { context: {} }), ...(isRecord(sampling.tools) && { tools: {} }) },
    }),
    ...(isRecord(roots) && { roots: {} }),
    ...(extensions && { extensions }),
  };
}

/** Returns the name of the files that the caller wants to use, if it gives one. */
function spaceOf(headers: Headers): { space?: string } {
  const space = headers.get('x-moniker-session');
  return space === null ? {} : { space };
}

type SpannedRequest = { method: string; params: RpcParams; headers: Headers };

/**
 * Serves a request in its span. The parent is the client's span in `_meta`, else the HTTP request; in a Durable Object the header has that
 * one.
 */
export async function inRequestSpan<Result>({ telemetry }: WithTelemetry, asked: SpannedRequest, serve: () => Promise<Result>) {
  if (telemetry == null) return await serve();
  const { method, params } = asked;
  const tool = method === 'tools/call' && typeof params.name === 'string' ? { 'gen_ai.tool.name': params.name } : {};
  const attributes = { 'mcp.method.name': method, ...tool };
  return await telemetry.during({ name: method, kind: 'server', attributes, parent: parentOf(telemetry, asked) }, serve);
}

function parentOf(telemetry: Telemetry, { params, headers }: SpannedRequest) {
  const { traceparent, tracestate } = recordOf(params._meta);
  const fromHeader = () => readTraceContext(headers.get('traceparent'), headers.get('tracestate'));
  return readTraceContext(traceparent, tracestate) ?? (telemetry.carrier() === null ? fromHeader() : null);
}
