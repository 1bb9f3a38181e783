/** What stands around every handler: who asks and what they are served now, and faults told as MCP has them. */
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { ServedCaller } from '../../engine/serve/serve-call.ts';
import { askableBy, channelOf } from './client-channel.ts';
import { toProtocolError } from './protocol-error.ts';
import type { Serving } from './serving.ts';

/** Runs a handler for whoever asks, and tells its faults as MCP has them. */
export type Answering = <Request, Result>(
  answer: (request: Request, caller: ServedCaller, context: ServerContext) => Promise<Result>,
) => (request: Request, context: ServerContext) => Promise<Result>;

export function answerer(serving: Serving, server: Server): Answering {
  const { deps, era, target, conversation } = serving;
  const gone = (error: unknown): void => deps.log.debug('an MCP client could not be told', { cause: String(error) });
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
        ...(serving.hold && { hold: serving.hold }),
        ...(serving.marks && { marks: serving.marks }),
        // Whoever called has gone meanwhile, and reads the answer when it is back.
        ...(interrupted === undefined
          ? { channel: channelOf(context, era, gone), askable: askableBy(context, era, server.getClientCapabilities()) }
          : { channel: {}, askable: {}, interrupted }),
      };
      return await answer(request, caller, context);
    } catch (error) {
      throw toProtocolError(error, deps.log);
    }
  };
}
