/** Readers of streamed replies for `bench/assemble.ts --peers`: libraries that are installed here only. Each returns the arguments as text, in call order. */
import { ChatOpenAI } from '@langchain/openai';
import { chat, toolDefinition } from '@tanstack/ai';
import { createOpenaiChatCompletions } from '@tanstack/ai-openai';

const connection = { baseURL: 'http://bench.invalid/v1', maxRetries: 0 };
const schema = { type: 'object', properties: { city: { type: 'string' }, rows: { type: 'array', items: {} } } };
const names = Array.from({ length: 64 }, (_, index) => `tool_${index}`);

/** `fetchOf` makes a `fetch` that responds with the segments of a stream. */
export function peerReaders(fetchOf) {
  return {
    '@langchain/openai': {
      wires: ['openai'],
      async read(segments) {
        const model = new ChatOpenAI({
          model: 'gpt-4o',
          apiKey: 'k',
          maxRetries: 0,
          configuration: { ...connection, fetch: fetchOf(segments) },
        });
        const tools = names.map((name) => ({ type: 'function', function: { name, description: 't', parameters: schema } }));
        let whole;
        for await (const chunk of await model.bindTools(tools).stream('hi')) whole = whole === undefined ? chunk : whole.concat(chunk);
        return whole.tool_calls.map(({ args }) => JSON.stringify(args));
      },
    },
    '@tanstack/ai': {
      wires: ['openai'],
      async read(segments) {
        const adapter = createOpenaiChatCompletions('gpt-4o', 'k', { ...connection, fetch: fetchOf(segments) });
        const tools = names.map((name) => toolDefinition({ name, description: 't', inputSchema: schema }));
        const calls = new Map();
        for await (const chunk of chat({ adapter, messages: [{ role: 'user', content: 'hi' }], tools, debug: false })) {
          if (chunk.type === 'TOOL_CALL_ARGS') calls.set(chunk.toolCallId, (calls.get(chunk.toolCallId) ?? '') + chunk.delta);
          else if (chunk.type === 'RUN_ERROR') throw new Error(chunk.message ?? chunk.error?.message);
        }
        return [...calls.values()];
      },
    },
  };
}
