/** Requests to the client of a session, such as questions of servers, until it answers them. They are lost with the object. */
import { limits } from '../../core/limits/limits.ts';
import type { InputAnswer, InputRequest } from '../../core/tools/mcp-input.ts';
import { UnansweredFault } from '../../mcp/server/answers.ts';
import { notificationText, type RpcResponse } from '../../mcp/server/messages.ts';
import { rpcCodes } from '../../mcp/server/rpc-fault.ts';
import type { Clock } from '../../ports/runtime.ts';

type Open = { resolve(answer: InputAnswer): void; fail(why: string): void; restart(): void };

export class ClientRequests {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #open = new Map<string, Open>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** `send`: on the stream of the request that asks. `signal`: aborts when that request ends. Throws if there is no answer. */
  async ask({ method, params }: InputRequest, send: (message: string) => void, signal: AbortSignal): Promise<InputAnswer> {
    if (signal.aborted)
      throw new UnansweredFault(rpcCodes.internal, `The client was not asked (${method}): the request that asks has ended.`);
    // Not a number: after a restart, an answer to an earlier question would be taken for the answer to a later one.
    const id = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<InputAnswer>();
    const fail = (why: string): void => reject(new UnansweredFault(rpcCodes.internal, `The client did not answer ${method}: ${why}`));
    const giveUp = (why: string): void => {
      send(notificationText('notifications/cancelled', { requestId: id, reason: why }));
      fail(why);
    };
    const expire = (): void => giveUp(`nothing came within ${limits.mcpQuestionTimeoutMs / 60_000} minutes.`);
    const end = (): void => giveUp('the request that asked has ended.');
    let disarm = this.#clock.after(limits.mcpQuestionTimeoutMs, expire);
    const restart = (): void => {
      disarm();
      disarm = this.#clock.after(limits.mcpQuestionTimeoutMs, expire);
    };
    this.#open.set(id, { resolve, fail, restart });
    signal.addEventListener('abort', end, { once: true });
    try {
      send(JSON.stringify({ method, ...(Object.keys(params).length > 0 && { params }), jsonrpc: '2.0', id }));
      return await promise;
    } finally {
      disarm();
      signal.removeEventListener('abort', end);
      this.#open.delete(id);
    }
  }

  /** Ignores responses to other requests. */
  take(response: RpcResponse): void {
    const open = this.#open.get(String(response.id));
    if (open === undefined) return;
    if ('result' in response) {
      open.resolve(response.result);
      return;
    }
    const { code, message } = response.error;
    open.fail(`${typeof message === 'string' ? message : 'its error has no message'} (${String(code)})`);
  }

  /** `params`: of a progress notification. The client is still at work. */
  progress({ progressToken }: Readonly<Record<string, unknown>>): void {
    this.#open.get(String(progressToken))?.restart();
  }
}
