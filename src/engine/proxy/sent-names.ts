/**
 * Names of a client's tools that some provider would refuse: too long, or with odd characters. They are sent in a form that every provider
 * accepts, and the client only sees its own. Sessions do the same by their alias map.
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import { toWireName } from '../../core/names/names.ts';
import type { ChatRequest } from '../../ports/chat-model.ts';

type Batches = AsyncIterable<readonly ChatEvent[]>;
type Names = ReadonlyMap<string, string>;

/** Returns the request with names to send, and a function that gives the calls of its reply the client's names again. */
export function withSentNames(request: ChatRequest): { request: ChatRequest; shown: (batches: Batches) => Batches } {
  const names = new Map(
    request.tools.map(({ name }) => [name, toWireName(`client.${name}`, name)] as const).filter(([own, sent]) => own !== sent),
  );
  if (names.size === 0) return { request, shown: (batches) => batches };
  const nameOf = (name: string): string => names.get(name) ?? name;
  const { tools, toolChoice, messages } = request;
  const sent: ChatRequest = {
    ...request,
    tools: tools.map((tool) => ({ ...tool, name: nameOf(tool.name) })),
    toolChoice: typeof toolChoice === 'string' ? toolChoice : { tool: nameOf(toolChoice.tool) },
    messages: messages.map((message) => {
      if (message.role === 'assistant')
        return {
          ...message,
          parts: message.parts.map((part) => (part.type === 'tool-call' ? { ...part, requested: nameOf(part.requested) } : part)),
        };
      if (message.role !== 'tool') return message;
      return { ...message, parts: message.parts.map((part) => ({ ...part, requested: nameOf(part.requested) })) };
    }),
  };
  const own = new Map([...names].map(([name, wire]) => [wire as string, name]));
  return { request: sent, shown: (batches) => renameCalls(batches, own) };
}

async function* renameCalls(batches: Batches, names: Names): AsyncGenerator<readonly ChatEvent[]> {
  for await (const batch of batches)
    yield batch.map((event) => (event.type === 'call-start' ? { ...event, name: names.get(event.name) ?? event.name } : event));
}
