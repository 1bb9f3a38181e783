/**
 * Handles messages that a server sends while a request is open: notifications go to the hooks, and input requests (2025 eras) to the client
 * that can answer them. Roots come from the server's document, which may name the client's; elicitations must pass `core/servers/elicitation.ts`; everything else is rejected.
 */
import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import type { InputAnswer } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import type { IdleTimeout } from '../../engine/timeout.ts';
import { screenQuestion } from './input-rounds.ts';

/** `rootsRead`: called when the server was given the client's roots. */
export type Inbound = { idleTimeout: IdleTimeout; isAsked: () => boolean; rootsRead: () => void };

export function handleServerMessages(
  client: Client,
  server: ServerAccess,
  hooks: UpstreamHooks,
  { idleTimeout, isAsked, rootsRead }: Inbound,
): void {
  let questions = 0;
  client.fallbackRequestHandler = async ({ method, params }, context) => {
    const screened = screenQuestion(server, { method, params: recordOf(params) }, hooks.askable ?? {});
    if (screened.kind === 'answer') return screened.answer;
    if (screened.kind === 'refused') throw new ProtocolError(ProtocolErrorCode.MethodNotFound, screened.reason);
    questions += 1;
    if (hooks.ask === undefined || !isAsked()) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'No user is available to answer.');
    if (questions > limits.maxInputRequests) {
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `A call may request input at most ${limits.maxInputRequests} times.`);
    }
    const answer: InputAnswer = await idleTimeout.pauseDuring(hooks.ask(screened.request, String(context.mcpReq.id)));
    if (method === 'roots/list') rootsRead();
    return answer;
  };
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/message') {
      idleTimeout.extend();
      hooks.alive?.();
    }
    dispatchNotification(hooks, method, recordOf(params));
  };
}

function dispatchNotification(hooks: UpstreamHooks, method: string, params: Record<string, unknown>): void {
  switch (method) {
    case 'notifications/message': {
      const { level, logger, data } = params;
      if (typeof level === 'string') hooks.notice?.({ level, ...(typeof logger === 'string' && { logger }), data });
      return;
    }
    case 'notifications/tools/list_changed':
      hooks.onListChanged?.('tools');
      return;
    case 'notifications/prompts/list_changed':
      hooks.onListChanged?.('prompts');
      return;
    case 'notifications/resources/list_changed':
      hooks.onListChanged?.('resources');
      return;
    case 'notifications/elicitation/complete':
      if (typeof params.elicitationId === 'string') hooks.elicitationComplete?.(params.elicitationId);
      return;
    case 'notifications/resources/updated':
      if (typeof params.uri === 'string') hooks.onResourceUpdated?.(params.uri);
  }
}
