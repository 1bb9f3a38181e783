/**
 * The context of the handlers of one MCP server: the caller, the served toolset, and the engine's services; and the wrapper of every handler,
 * which finds the caller and the current view, and converts errors to MCP errors.
 */
import { type ServerContext, ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/people/principal.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { ServeCallDeps, ServedCaller } from '../../engine/mcp/serve-call.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { WatchDeps } from '../../engine/mcp/serve-watch.ts';
import { type ServedEra, askableBy, clientChannelOf } from './client-channel.ts';
import { Problem } from '../../core/problem.ts';
import { ServerRpcError, toRpcError } from '../../engine/mcp/rpc-error.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { LinkStore } from '../../ports/link-store.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import type { Logger } from '../../ports/runtime.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { readTraceContext } from '../../core/telemetry/trace-context.ts';
import type { Telemetry, WithTelemetry } from '../../ports/telemetry.ts';

export type ServeDeps = ServeCallDeps &
  WatchDeps &
  WithTelemetry & {
    /** Continues work in the background after the client has disconnected. It must not fail. */
    background(work: Promise<unknown>): void;
  };

/** A request to serve. `view`: read for it. */
export type ServedRequest = { principal: Principal; target: ServeTarget; view: ServedView; request: Request };

export type ServeContext = {
  deps: ServeDeps;
  era: ServedEra;
  target: ServeTarget;
  conversation: string;
  /** Called for each request: in a session the key's rights may have changed since it started. */
  principalOf(context: ServerContext): Principal;
  /** Read for each request. */
  viewOf(principal: Principal): Promise<ServedView>;
  /** Set if a call may stay open. */
  hold?: InFlightCallSlot;
  /** In a session: its marks for the taint rule. */
  marks?: MarkStore;
  /** In a session: the rules that it remembers. */
  remembered?: RememberedRules;
  /** In a session: its files. */
  files?: FileSystem;
  /** In a session: the resources that its results linked to. */
  links?: LinkStore;
  /** In a session: for a call that is resumed because the process ended during it; undefined for others. */
  interruptedOf?(context: ServerContext): { callId: string } | undefined;
  /** In a session: stored durably before the effect. */
  started?(context: ServerContext, callId: string): void;
  /** In a session: its resource subscriptions. */
  subscriptions?: { add(subscription: ResourceSubscription): void; remove(uri: string): void };
};

/**
 * Converts problems to JSON-RPC errors with the problem's code and members as `data`. Any other error is an internal error: it is logged,
 * and its details are not sent.
 */
export function toProtocolError(error: unknown, log: Logger): ProtocolError {
  if (ProtocolError.isInstance(error)) return error;
  if (!(error instanceof Problem)) {
    log.error('an MCP request failed', { cause: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error. Try again later.', { code: 'internal' });
  }
  if (error.cause instanceof ServerRpcError) return new ProtocolError(error.cause.rpc.code, error.cause.rpc.message, error.cause.rpc.data);
  if (error.status >= 500) log.error('an MCP request failed', { code: error.code, detail: error.detail });
  const { code, message, data } = toRpcError(error);
  return new ProtocolError(code, message, data);
}

/** Returns the name of the files that the caller wants to use, if it gives one. */
export function spaceOf(headers: Headers | undefined): { space?: string } {
  const space = headers?.get('x-moniker-session') ?? null;
  return space === null ? {} : { space };
}

/** Runs a handler for the caller, and converts its errors to MCP errors. */
export type WithCaller = <Request, Result>(
  answer: (request: Request, caller: ServedCaller, context: ServerContext) => Promise<Result>,
) => (request: Request, context: ServerContext) => Promise<Result>;

export function createWithCaller(serving: ServeContext, server: Server): WithCaller {
  const { deps, era, target, conversation } = serving;
  const gone = (error: unknown): void => deps.log.debug('could not send a message to an MCP client', { cause: String(error) });
  return (answer) => async (request, context) => {
    const { method, _meta: meta } = context.mcpReq;
    const asked = { method, meta, params: recordOf(request).params, headers: context.http?.req?.headers };
    return await inRequestSpan(deps, asked, () => runHandler(answer, request, context));
  };

  async function runHandler<Request, Result>(
    answer: (request: Request, caller: ServedCaller, context: ServerContext) => Promise<Result>,
    request: Request,
    context: ServerContext,
  ): Promise<Result> {
    try {
      const principal = serving.principalOf(context);
      const interrupted = serving.interruptedOf?.(context);
      const caller: ServedCaller = {
        principal,
        target,
        view: await serving.viewOf(principal),
        conversation,
        started: (callId) => serving.started?.(context, callId),
        ...(serving.hold && { openCall: serving.hold }),
        ...(serving.marks && { marks: serving.marks }),
        ...(serving.remembered && { remembered: serving.remembered }),
        ...(serving.files && { files: serving.files }),
        ...(serving.links && { links: serving.links }),
        ...spaceOf(context.http?.req?.headers),
        // The client has disconnected meanwhile, and reads the result after it reconnects.
        ...(interrupted === undefined
          ? { channel: clientChannelOf(context, era, gone), askable: askableBy(context, era, server.getClientCapabilities()) }
          : { channel: {}, askable: {}, interrupted }),
      };
      return await answer(request, caller, context);
    } catch (error) {
      throw toProtocolError(error, deps.log);
    }
  }
}

type SpannedRequest = { method: string; meta: unknown; params: unknown; headers: Headers | undefined };

/**
 * Serves a request in its span. The parent is the client's span in `_meta`, else the HTTP request; in a Durable Object the header has that
 * one.
 */
export async function inRequestSpan<Result>({ telemetry }: WithTelemetry, asked: SpannedRequest, serve: () => Promise<Result>) {
  if (telemetry == null) return await serve();
  const { method, params } = asked;
  const { name } = recordOf(params);
  const tool = method === 'tools/call' && typeof name === 'string' ? { 'gen_ai.tool.name': name } : {};
  const attributes = { 'mcp.method.name': method, ...tool };
  return await telemetry.during({ name: method, kind: 'server', attributes, parent: parentOf(telemetry, asked) }, serve);
}

function parentOf(telemetry: Telemetry, { meta, headers }: SpannedRequest) {
  const { traceparent, tracestate } = recordOf(meta);
  const fromHeader = () => readTraceContext(headers?.get('traceparent') ?? null, headers?.get('tracestate') ?? null);
  return readTraceContext(traceparent, tracestate) ?? (telemetry.carrier() === null ? fromHeader() : null);
}
