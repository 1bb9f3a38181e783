/** Wraps every handler: finds the caller and the current view of the toolset, and converts errors to MCP errors. */
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { ServedCaller } from '../../engine/mcp/serve-call.ts';
import { askableBy, clientChannelOf } from './client-channel.ts';
import { toProtocolError } from './protocol-error.ts';
import type { ServeContext } from './serve-context.ts';

/** Runs a handler for the caller, and converts its errors to MCP errors. */
export type WithCaller = <Request, Result>(
  answer: (request: Request, caller: ServedCaller, context: ServerContext) => Promise<Result>,
) => (request: Request, context: ServerContext) => Promise<Result>;

export function createWithCaller(serving: ServeContext, server: Server): WithCaller {
  const { deps, era, target, conversation } = serving;
  const gone = (error: unknown): void => deps.log.debug('could not send a message to an MCP client', { cause: String(error) });
  return (answer) => async (request, context) => {
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
        // The client has disconnected meanwhile, and reads the result after it reconnects.
        ...(interrupted === undefined
          ? { channel: clientChannelOf(context, era, gone), askable: askableBy(context, era, server.getClientCapabilities()) }
          : { channel: {}, askable: {}, interrupted }),
      };
      return await answer(request, caller, context);
    } catch (error) {
      throw toProtocolError(error, deps.log);
    }
  };
}
