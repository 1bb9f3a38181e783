/**
 * Replies with tool calls as each API streams them, one event per segment: the input of the assembly benchmark, on Node and in workerd.
 * Pure. Calls of one reply are interleaved where their API allows it.
 */

export type Wire = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'cohere';
export type Shape = { wire: Wire; calls: number; bytes: number };

/** At scale 8: calls of 50 kB or one of 1 MB, in deltas of eight characters (Gemini sends calls whole). */
export const cases: Readonly<Record<string, (scale: number) => Shape>> = {
  par8: (scale) => ({ wire: 'openai', calls: 8, bytes: (50_000 * scale) / 8 }),
  par64: (scale) => ({ wire: 'openai', calls: 64, bytes: (6_250 * scale) / 8 }),
  one: (scale) => ({ wire: 'openai', calls: 1, bytes: (1_000_000 * scale) / 8 }),
  responses8: (scale) => ({ wire: 'openai-responses', calls: 8, bytes: (50_000 * scale) / 8 }),
  responses1: (scale) => ({ wire: 'openai-responses', calls: 1, bytes: (1_000_000 * scale) / 8 }),
  anth8: (scale) => ({ wire: 'anthropic', calls: 8, bytes: (50_000 * scale) / 8 }),
  anth1: (scale) => ({ wire: 'anthropic', calls: 1, bytes: (1_000_000 * scale) / 8 }),
  cohere8: (scale) => ({ wire: 'cohere', calls: 8, bytes: (50_000 * scale) / 8 }),
  cohere1: (scale) => ({ wire: 'cohere', calls: 1, bytes: (1_000_000 * scale) / 8 }),
  gemini8: (scale) => ({ wire: 'gemini', calls: 8, bytes: (50_000 * scale) / 8 }),
  gemini1: (scale) => ({ wire: 'gemini', calls: 1, bytes: (1_000_000 * scale) / 8 }),
};

/** JSON of about this many bytes, with escapes and text beyond ASCII. */
export function argumentsJson(bytes: number, seed: number): string {
  const rows: unknown[] = [];
  for (let size = 0, row = 0; size < bytes - 60; row++) {
    rows.push({ id: seed * 1e6 + row, path: `src/module_${row % 97}/file.ts`, note: `line ${row}: "quoted" \n tab\t é` });
    size += JSON.stringify(rows.at(-1)).length + 1;
  }
  return JSON.stringify({ city: 'Paris', rows });
}

export function segmentsOf(shape: Shape): Uint8Array[] {
  const encoder = new TextEncoder();
  return events[shape.wire](shape).map((event) => encoder.encode(event));
}

type Piece = { call: number; text: string };

function texts({ calls, bytes }: Shape): string[] {
  return Array.from({ length: calls }, (_, index) => argumentsJson(bytes, index));
}

/** The calls' texts in pieces of eight characters, one of each call in turn. */
function* pieces(all: readonly string[]): Generator<Piece> {
  for (let at = 0; all.some((text) => at < text.length); at += 8)
    for (const [call, text] of all.entries()) if (at < text.length) yield { call, text: text.slice(at, at + 8) };
}

function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

const events: Readonly<Record<Wire, (shape: Shape) => string[]>> = {
  openai(shape) {
    const base = {
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'bench',
      service_tier: 'default',
      system_fingerprint: 'fp_bench',
    };
    const chunk = (delta: unknown, finish_reason: string | null = null) =>
      sse({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    const all = texts(shape);
    return [
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...all.map((_, index) =>
        chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: `tool_${index}`, arguments: '' } }] }),
      ),
      ...[...pieces(all)].map(({ call, text }) => chunk({ tool_calls: [{ index: call, function: { arguments: text } }] })),
      chunk({}, 'tool_calls'),
      sse({ ...base, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
      sse('[DONE]'),
    ];
  },
  'openai-responses'(shape) {
    const all = texts(shape);
    let number = 0;
    const event = (type: string, rest: object) => sse({ type, sequence_number: number++, ...rest }, type);
    const item = (index: number, status: string, text: string) => ({
      id: `fc_${index}`,
      type: 'function_call',
      status,
      arguments: text,
      call_id: `call_${index}`,
      name: `tool_${index}`,
    });
    const response = { id: 'resp_bench', object: 'response', created_at: 1_760_000_000, status: 'in_progress', model: 'bench', output: [] };
    const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    return [
      event('response.created', { response }),
      ...all.map((_, index) => event('response.output_item.added', { output_index: index, item: item(index, 'in_progress', '') })),
      ...[...pieces(all)].map(({ call, text }) =>
        event('response.function_call_arguments.delta', { item_id: `fc_${call}`, output_index: call, delta: text }),
      ),
      ...all.flatMap((text, index) => [
        event('response.function_call_arguments.done', { item_id: `fc_${index}`, output_index: index, arguments: text }),
        event('response.output_item.done', { output_index: index, item: item(index, 'completed', text) }),
      ]),
      event('response.completed', {
        response: { ...response, status: 'completed', usage, output: all.map((text, index) => item(index, 'completed', text)) },
      }),
    ];
  },
  anthropic(shape) {
    const event = (data: { type: string; [field: string]: unknown }) => sse(data, data.type);
    const message = {
      id: 'msg_bench',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    const blocks = texts(shape).flatMap((text, index) => [
      event({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name: `tool_${index}`, input: {} },
      }),
      ...[...pieces([text])].map((piece) =>
        event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece.text } }),
      ),
      event({ type: 'content_block_stop', index }),
    ]);
    return [
      event({ type: 'message_start', message: { ...message, usage: { input_tokens: 100, output_tokens: 1 } } }),
      ...blocks,
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 20 } }),
      event({ type: 'message_stop' }),
    ];
  },
  cohere(shape) {
    const all = texts(shape);
    const event = (type: string, rest: object) => sse({ type, ...rest }, type);
    return [
      event('message-start', {
        id: 'bench',
        delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
      }),
      ...all.map((_, index) =>
        event('tool-call-start', {
          index,
          delta: {
            message: { tool_calls: { id: `tool_${index}_x`, type: 'function', function: { name: `tool_${index}`, arguments: '' } } },
          },
        }),
      ),
      ...[...pieces(all)].map(({ call, text }) =>
        event('tool-call-delta', { index: call, delta: { message: { tool_calls: { function: { arguments: text } } } } }),
      ),
      ...all.map((_, index) => event('tool-call-end', { index })),
      event('message-end', { delta: { finish_reason: 'TOOL_CALL', usage: { tokens: { input_tokens: 100, output_tokens: 20 } } } }),
    ];
  },
  gemini(shape) {
    const event = (parts: unknown[], finishReason?: string) =>
      sse({
        candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
        modelVersion: 'bench',
        responseId: 'bench',
      });
    return [
      ...texts(shape).map((text, index) => event([{ functionCall: { name: `tool_${index}`, args: JSON.parse(text) } }])),
      event([{ text: '' }], 'STOP'),
    ];
  },
};
