/**
 * Ollama's own chat API: the adapter, and its reply, streamed or unstreamed, as events. A stream is one JSON object per line; the last one has
 * `done`, the reason and the counts, and an unstreamed reply is that object with the whole message. Calls arrive complete, their arguments as
 * objects. `request.ts` builds the request. Source: ollama/ollama, `docs/api.md`, `docs/api/errors.mdx`, `api/types.go` (`ChatResponse`) and
 * `server/routes.go` (`streamResponse`), revision fb307609.
 */
import { argumentsOf, isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import type { Adapter } from '../adapter.ts';
import { WireReply } from '../wire-reply.ts';
import { toUsage } from '../wire-usage.ts';
import { ollamaRows, toOllamaBody } from './request.ts';

export const ollama: Adapter = {
  framing: 'json',
  path: () => '/api/chat',
  profileRows: ollamaRows,
  toBody: toOllamaBody,
  createReply: (access) => new OllamaReply(access),
  modelsUrl: (baseUrl) => `${baseUrl}/api/tags`,
  outputLimits: ({ options }) => [recordOf(options).num_predict],
};

class OllamaReply extends WireReply {
  protected override isReply({ message, done }: Json): boolean {
    return isRecord(message) || typeof done === 'boolean';
  }

  protected override read(value: Json): void {
    this.created ??= Math.floor(Date.parse(stringOf(value.created_at)) / 1000) || null;
    const { thinking, content, tool_calls: calls } = recordOf(value.message);
    this.emitText('reasoning', stringOf(thinking));
    this.emitText('text', stringOf(content));
    for (const call of listOf(calls)) this.#readCall(recordOf(call));
    if (value.done === true) this.#readEnd(value);
  }

  protected override readWhole(body: Json): void {
    this.readEvent(body, '');
    if (!this.isOver()) this.endStream();
  }

  /** Many models' calls all have index 0, and older servers send no ids. */
  #readCall({ id, function: named }: Json): void {
    const { name, arguments: given } = recordOf(named);
    const call = { id: stringOf(id), index: this.started };
    this.pushCall({ ...call, name: stringOf(name), arguments: argumentsOf(given) ?? {} });
    this.endCall(call);
  }

  #readEnd({ done_reason: reason, prompt_eval_count: input, eval_count: output }: Json): void {
    // A prompt that was cached whole is not counted.
    this.usage = toUsage({ input: input ?? (output === undefined ? undefined : 0), output });
    this.finishReason = stringOf(reason) || null;
    if (reason === 'load' || reason === 'unload')
      this.fault(`${reason}ed the model instead of replying, since the request has no messages`);
    else this.finish();
  }

  protected override finish(): void {
    this.endCalls(true);
    this.complete({ length: this.isCut(), filtered: false });
  }

  protected override isCut(): boolean {
    return this.finishReason === 'length';
  }
}
