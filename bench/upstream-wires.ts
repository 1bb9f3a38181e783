/** The responses of the fake upstream on each API's path: a stream of text events, or the same text in one plain body. Prebuilt strings only. */

export type Wire = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'cohere';

/** The API that a path belongs to. */
export function wireOf(path: string): Wire {
  if (path.endsWith('/responses')) return 'openai-responses';
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.includes(':streamGenerateContent') || path.includes(':generateContent')) return 'gemini';
  return path.endsWith('/chat/completions') ? 'openai' : 'cohere';
}

const words = ['The', ' quick', ' brown', ' fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.'];

export function streamEvents(wire: Wire, model: string, count: number): string[] {
  return streams[wire](
    model,
    Array.from({ length: count }, (_, index) => words[index % words.length] ?? ''),
  );
}

export function wholeBody(wire: Wire, model: string, text: string): string {
  return JSON.stringify(bodies[wire](model, text));
}

function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

const responseHead = { object: 'response', created_at: 1_760_000_000, error: null, incomplete_details: null };
const messageHead = { id: 'msg_bench', type: 'message', role: 'assistant', stop_sequence: null };

const streams: Readonly<Record<Wire, (model: string, texts: string[]) => string[]>> = {
  openai(model, texts) {
    const base = {
      id: 'chatcmpl-Bench',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model,
      service_tier: 'default',
      system_fingerprint: 'fp_bench',
    };
    const chunk = (delta: unknown, finish: string | null): string =>
      sse({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    const usage = { prompt_tokens: 100, completion_tokens: texts.length, total_tokens: 100 + texts.length };
    return [
      chunk({ role: 'assistant', content: '', refusal: null }, null),
      ...texts.map((content) => chunk({ content }, null)),
      chunk({}, 'stop'),
      sse({ ...base, choices: [], usage }),
      sse('[DONE]'),
    ];
  },
  'openai-responses'(model, texts) {
    let number = 0;
    const event = (type: string, rest: object): string => sse({ type, sequence_number: number++, ...rest }, type);
    const at = { item_id: 'msg_bench', output_index: 0, content_index: 0 };
    const text = texts.join('');
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    const item = { id: 'msg_bench', type: 'message', status: 'completed', role: 'assistant', content: [part] };
    const usage = { input_tokens: 100, output_tokens: texts.length, total_tokens: 100 + texts.length };
    const response = { id: 'resp_bench', ...responseHead, model, status: 'in_progress', output: [] };
    return [
      event('response.created', { response }),
      event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }),
      event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
      ...texts.map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [], obfuscation: 'x'.repeat(8) })),
      event('response.output_text.done', { ...at, text, logprobs: [] }),
      event('response.content_part.done', { ...at, part }),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: { ...response, status: 'completed', output: [item], usage } }),
    ];
  },
  anthropic(model, texts) {
    const event = (data: { type: string; [field: string]: unknown }): string => sse(data, data.type);
    return [
      event({
        type: 'message_start',
        message: { ...messageHead, model, content: [], stop_reason: null, usage: { input_tokens: 100, output_tokens: 1 } },
      }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...texts.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: texts.length } }),
      event({ type: 'message_stop' }),
    ];
  },
  gemini(model, texts) {
    const event = (text: string, count: number, finishReason?: string): string =>
      sse({
        candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: count, totalTokenCount: 100 + count },
        modelVersion: model,
        responseId: 'bench',
      });
    return [...texts.map((text, index) => event(text, index + 1)), event('', texts.length, 'STOP')];
  },
  cohere(_model, texts) {
    const event = (type: string, rest: object): string => sse({ type, ...rest }, type);
    const usage = { billed_units: { input_tokens: 100, output_tokens: 20 }, tokens: { input_tokens: 100, output_tokens: texts.length } };
    return [
      event('message-start', {
        id: 'bench',
        delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
      }),
      event('content-start', { index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
      ...texts.map((text) => event('content-delta', { index: 0, delta: { message: { content: { text } } } })),
      event('content-end', { index: 0 }),
      event('message-end', { delta: { finish_reason: 'COMPLETE', usage } }),
    ];
  },
};

const bodies: Readonly<Record<Wire, (model: string, text: string) => unknown>> = {
  openai: (model, content) => ({
    id: 'chatcmpl-Bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 },
  }),
  'openai-responses': (model, text) => ({
    id: 'resp_bench',
    ...responseHead,
    model,
    status: 'completed',
    output: [
      {
        id: 'msg_bench',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 100, output_tokens: 60, total_tokens: 160 },
  }),
  anthropic: (model, text) => ({
    ...messageHead,
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 100, output_tokens: 60 },
  }),
  gemini: (model, text) => ({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 60, totalTokenCount: 160 },
    modelVersion: model,
  }),
  cohere: (_model, text) => ({
    id: 'bench',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    finish_reason: 'COMPLETE',
    usage: { tokens: { input_tokens: 100, output_tokens: 60 } },
  }),
};
