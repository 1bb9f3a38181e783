/**
 * What a server says while a request of ours is open: notices and changes go to the hooks, its questions (2025 eras) to whoever can answer
 * them. Roots are those of its document; a person is asked only what `core/elicitation.ts` lets through; everything else is refused.
 */
import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import type { InputAnswer } from '../../core/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { recordOf } from '../../core/wire-value.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import type { Patience } from './patience.ts';
import { screenQuestion } from './questions.ts';

export type Inbound = { patience: Patience; isAsked: () => boolean };

export function handleServerMessages(client: Client, server: ServerAccess, hooks: UpstreamHooks, { patience, isAsked }: Inbound): void {
  let questions = 0;
  client.fallbackRequestHandler = async ({ method, params }, context) => {
    const screened = screenQuestion(server, { method, params: recordOf(params) }, hooks.askable ?? {});
    if (screened.kind === 'answer') return screened.answer;
    if (screened.kind === 'refused') throw new ProtocolError(ProtocolErrorCode.MethodNotFound, screened.reason);
    questions += 1;
    if (hooks.ask === undefined || !isAsked()) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Nobody is there to be asked.');
    if (questions > limits.maxInputRequests) {
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `A call may ask ${limits.maxInputRequests} times, and no more.`);
    }
    const answer: InputAnswer = await patience.during(hooks.ask(screened.request, String(context.mcpReq.id)));
    return answer;
  };
  client.fallbackNotificationHandler = async ({ method, params }) => tell(hooks, method, recordOf(params));
}

function tell(hooks: UpstreamHooks, method: string, params: Record<string, unknown>): void {
  switch (method) {
    case 'notifications/message': {
      const { level, logger, data } = params;
      if (typeof level === 'string') hooks.notice?.({ level, ...(typeof logger === 'string' && { logger }), data });
      return;
    }
    case 'notifications/tools/list_changed':
      hooks.changed?.('tools');
      return;
    case 'notifications/prompts/list_changed':
      hooks.changed?.('prompts');
      return;
    case 'notifications/resources/list_changed':
      hooks.changed?.('resources');
      return;
    case 'notifications/resources/updated':
      if (typeof params.uri === 'string') hooks.updated?.(params.uri);
  }
}
