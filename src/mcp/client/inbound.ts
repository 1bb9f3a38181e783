/**
 * Handles messages that a server sends while a request is open: notifications go to the hooks, and input requests (2025 eras) to the client
 * that can answer them. Roots come from the server's document, which may name the client's; elicitations must pass `core/servers/elicitation.ts`; everything else is rejected.
 */
import { limits } from '../../core/limits/limits.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import type { IdleTimeout } from '../../engine/timeout.ts';
import { errorText, resultText, type RpcId, type RpcNotification, type RpcRequest } from '../server/messages.ts';
import { RpcFault, rpcCodes } from '../server/rpc-fault.ts';
import { screenQuestion } from './input-rounds.ts';
import { HttpFault } from './upstream-fault.ts';

/**
 * `isAsked`: whether the work still waits. `rootsRead`: called when the server was given the client's roots. `send`: sends a response.
 * `unsent`: it could not be sent, so that the call would wait in vain.
 */
export type InboundParts = {
  idleTimeout: IdleTimeout;
  isAsked(): boolean;
  rootsRead(): void;
  send(text: string): Promise<void>;
  unsent(): void;
};

export function createInbound(server: ServerAccess, hooks: UpstreamHooks, { idleTimeout, isAsked, rootsRead, send, unsent }: InboundParts) {
  let questions = 0;
  const unanswered = new Set<RpcId>();
  const resultOf = async ({ id, method, params }: RpcRequest): Promise<Record<string, unknown>> => {
    if (method === 'ping') return {};
    const screened = screenQuestion(server, { method, params }, hooks.askable ?? {});
    if (screened.kind === 'answer') return screened.answer;
    if (screened.kind === 'refused') throw new RpcFault(rpcCodes.methodNotFound, screened.reason);
    questions += 1;
    if (hooks.ask === undefined || !isAsked()) throw new RpcFault(rpcCodes.methodNotFound, 'No user is available to answer.');
    if (questions > limits.maxInputRequests)
      throw new RpcFault(rpcCodes.invalidRequest, `A call may request input at most ${limits.maxInputRequests} times.`);
    const answer = await idleTimeout.pauseDuring(hooks.ask(screened.request, String(id)));
    if (method === 'roots/list') rootsRead();
    return answer;
  };
  return {
    notify({ method, params }: Pick<RpcNotification, 'method' | 'params'>) {
      if (method === 'notifications/cancelled') unanswered.delete(params.requestId as RpcId);
      if (method === 'notifications/message') {
        idleTimeout.extend();
        hooks.alive?.();
      }
      dispatchNotification(hooks, method, params);
    },
    /** Answers a request, or refuses it, unless the server withdraws it first. Never throws. */
    async answer(request: RpcRequest): Promise<void> {
      const { id } = request;
      unanswered.add(id);
      const text = await resultOf(request).then(
        (result) => resultText(id, JSON.stringify(result)),
        (error: Error) => errorText(id, error instanceof RpcFault ? error : new RpcFault(rpcCodes.internal, error.message)),
      );
      if (!unanswered.delete(id)) return;
      // A connection that was kept open may end just then. The server takes the first answer to its request, and ignores another.
      await send(text)
        .catch((error: unknown) => (error instanceof HttpFault ? Promise.reject(error) : send(text)))
        .catch((error: unknown) => {
          // A server that refuses the answer knows of it, and ends the call that waits, or needs it no more.
          if (!(error instanceof HttpFault)) unsent();
        });
    },
  };
}

export type Inbound = ReturnType<typeof createInbound>;

function dispatchNotification(hooks: UpstreamHooks, method: string, params: RpcNotification['params']): void {
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
