/**
 * The MCP client of one request as the engine's `CallerChannel`: progress and log messages on the request's stream, input requests while
 * the call is open (2025 eras in a session), the client's capabilities, and the input of requests that are repeated with it.
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import { type LoggingLevel, type ServerContext, CLIENT_CAPABILITIES_META_KEY, inputRequired } from '@modelcontextprotocol/server';
import { type AskableInput, type InputAnswer, passedMeta } from '../../core/tools/mcp-input.ts';
import { limits } from '../../core/limits/limits.ts';
import { isRecord } from '../../core/json/wire-value.ts';

/** `modern`: 2026-07-28. `session`: with `initialize` and a session. `stateless`: requests of the 2025 eras without a session. */
export type ServedEra = 'modern' | 'session' | 'stateless';

/** `gone`: called with the error of a message that could not be sent, which stops nothing. */
export function clientChannelOf(context: ServerContext, era: ServedEra, gone: (error: unknown) => void): CallerChannel {
  const { _meta: meta, log, notify, send, signal } = context.mcpReq;
  const progressToken = meta?.progressToken;
  const passed = passedMeta(meta);
  return {
    ...(passed !== undefined && { meta: passed }),
    ...(progressToken !== undefined && {
      progress: ({ progress, total, message }) => {
        const params = { progressToken, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
        notify({ method: 'notifications/progress', params }).catch(gone);
      },
    }),
    notice: ({ level, logger, data }) => {
      if (isLevel(level)) log(level, data, logger).catch(gone);
    },
    ...(era === 'session' && {
      elicitationComplete: (elicitationId) => {
        notify({ method: 'notifications/elicitation/complete', params: { elicitationId } }).catch(gone);
      },
      ask: async (request): Promise<InputAnswer> => {
        // The method and its parameters are already checked; the SDK knows the methods and validates the response.
        const asked = request as { method: 'elicitation/create'; params: Record<string, unknown> };
        return { ...(await send(asked, { timeout: limits.mcpQuestionTimeoutMs, resetTimeoutOnProgress: true, signal })) };
      },
    }),
  };
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] satisfies LoggingLevel[];

function isLevel(level: string): level is LoggingLevel {
  return levels.some((known) => known === level);
}

/** Sent with each request (2026-07-28), or once for a session. For requests without either, nothing is known. */
export function askableBy(context: ServerContext, era: ServedEra, initialized: unknown): AskableInput {
  if (era === 'stateless') return {};
  return era === 'modern' ? askableIn(context.mcpReq.envelope) : readAskable(initialized);
}

/** `meta`: of a request of 2026-07-28. */
export function askableIn(meta: unknown): AskableInput {
  return isRecord(meta) ? readAskable(meta[CLIENT_CAPABILITIES_META_KEY]) : {};
}

function readAskable(said: unknown): AskableInput {
  if (!isRecord(said)) return {};
  const { elicitation, sampling, roots } = said;
  return {
    ...(isRecord(elicitation) && {
      elicitation: { ...(isRecord(elicitation.form) && { form: {} }), ...(isRecord(elicitation.url) && { url: {} }) },
    }),
    ...(isRecord(sampling) && { sampling: {} }),
    ...(isRecord(roots) && { roots: {} }),
  };
}

/** Returns the input of a repeated request (2026-07-28, and the SDK's own rounds in a session). */
export function givenOf({ inputResponses, requestState }: { inputResponses?: Record<string, unknown>; requestState(): unknown }) {
  const state = requestState();
  return { ...(inputResponses && { responses: inputResponses }), ...(typeof state === 'string' && { state }) };
}

export function toInputRequired({ requests, state }: { requests: Record<string, object>; state: string }) {
  // Each is already checked or our own: one of the three that MCP defines.
  return inputRequired({ inputRequests: requests as never, requestState: state });
}
