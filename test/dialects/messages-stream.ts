/** Reads our stream with the stock Anthropic client: its own parser and accumulator. */
import Anthropic from '@anthropic-ai/sdk';

export async function accumulate(stream: string): Promise<Anthropic.Message> {
  const client = new Anthropic({
    apiKey: 'unused',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  });
  return await client.messages.stream({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }).finalMessage();
}

export type StreamEvent = { type: string; index?: number; [field: string]: unknown };

/** Data of the frames of an event stream, in order; each `event:` must be the `type` of its data. */
export function eventsOf(stream: string): StreamEvent[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, name, data] = /^(?:id: \S+\n)?event: (\w+)\ndata: (.*)$/s.exec(frame) ?? [];
      const event = JSON.parse(data ?? 'null') as StreamEvent;
      if (event?.type !== name) throw new Error(`the event ${name} says that it is ${event?.type}`);
      return event;
    });
}

/** Throws if blocks overlap, are not numbered from 0, or contain deltas of another kind. */
export function checkOrder(events: readonly StreamEvent[]): void {
  let open: { index: number; type: string } | null = null;
  let next = 0;
  const fail = (event: StreamEvent): never => {
    throw new Error(`out of order: ${JSON.stringify(event)}`);
  };
  for (const event of events) {
    switch (event.type) {
      case 'content_block_start':
        if (open !== null || event.index !== next) fail(event);
        open = { index: next, type: (event.content_block as { type: string }).type };
        next += 1;
        break;
      case 'content_block_delta': {
        const kinds = {
          text: ['text_delta', 'citations_delta'],
          thinking: ['thinking_delta', 'signature_delta'],
          tool_use: ['input_json_delta'],
        };
        const allowed: readonly string[] = kinds[(open?.type ?? '') as keyof typeof kinds] ?? [];
        if (open?.index !== event.index || !allowed.includes((event.delta as { type: string }).type)) fail(event);
        break;
      }
      case 'content_block_stop':
        if (open?.index !== event.index) fail(event);
        open = null;
        break;
      case 'message_delta':
      case 'message_stop':
        if (open !== null) fail(event);
        break;
      default:
        break;
    }
  }
}
