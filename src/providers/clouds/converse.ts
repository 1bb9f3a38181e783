/**
 * Renames the members of a request for the Messages API to those of Bedrock's `Converse`, and those of its replies back. The blocks of the two
 * are the same, but for cache marks, which are separate blocks here. Source: API reference "Converse", "ConverseStream",
 * "ContentBlock", "ReasoningContentBlock".
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { invalidRequest } from '../../core/problem.ts';

/** Throws `invalid_request` for media by URL. Blocks that the API does not have are left out: `reportUnsent` has named them. */
export function toConverse(body: Json, model: string): Json {
  const { system, messages, tools, tool_choice: choice, max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stop } = body;
  const isWithoutTools = recordOf(choice).type === 'none';
  const inferenceConfig = without({ maxTokens, temperature, topP, stopSequences: stop });
  const extra = modelFields(body, model);
  return without({
    system: listOf(system).flatMap((block) => withCachePoint(recordOf(block), { text: recordOf(block).text })),
    messages: listOf(messages).map((message) => toMessage(recordOf(message), isWithoutTools)),
    toolConfig: isWithoutTools ? undefined : toToolConfig(listOf(tools), recordOf(choice)),
    outputConfig: toOutputConfig(body),
    inferenceConfig: Object.keys(inferenceConfig).length === 0 ? undefined : inferenceConfig,
    additionalModelRequestFields: Object.keys(extra).length === 0 ? undefined : extra,
  });
}

function without(members: Json): Json {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
}

/** Settings that only some models have (guides of the models): the effort of gpt-oss and of Nova 2, and Claude's thinking. */
function modelFields({ output_config: output, thinking }: Json, model: string): Json {
  const { effort } = recordOf(output);
  if (!/amazon\.nova/i.test(model)) return without({ reasoning_effort: effort, thinking });
  if (recordOf(thinking).type === 'disabled') return { reasoningConfig: { type: 'disabled' } };
  return effort === undefined ? {} : { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } };
}

/** Takes the schema as text. */
function toOutputConfig({ output_config: output }: Json): Json | undefined {
  const { schema } = recordOf(recordOf(output).format);
  if (schema === undefined) return undefined;
  return { textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(schema) } } } };
}

function withCachePoint({ cache_control: mark }: Json, block: Json): Json[] {
  if (!isRecord(mark)) return [block];
  return [block, { cachePoint: without({ type: 'default', ttl: mark.ttl }) }];
}

function toToolConfig(tools: readonly unknown[], { type, name }: Json): Json | undefined {
  if (tools.length === 0) return undefined;
  const specs = tools.filter(isRecord).flatMap((tool) => {
    const { name: toolName, description, input_schema: json } = tool;
    return withCachePoint(tool, { toolSpec: without({ name: toolName, description, inputSchema: { json } }) });
  });
  const toolChoice = type === 'any' ? { any: {} } : type === 'tool' ? { tool: { name } } : undefined;
  return without({ tools: specs, toolChoice });
}

// ---- Blocks of requests ----

/** `isWithoutTools`: no tools are declared, so calls in the history are not accepted: they are sent as text. */
function toMessage({ role, content }: Json, isWithoutTools: boolean): Json {
  const blocks = listOf(content).filter(isRecord);
  const converted = blocks.flatMap((block, index) => {
    const own = isWithoutTools && isCallBlock(block) ? { text: callText(block) } : toBlock(block, index);
    return own === null ? [] : withCachePoint(block, own);
  });
  // "a text field is required with a document" (API reference, DocumentBlock).
  const lacksText = blocks.some(({ type }) => type === 'document') && !blocks.some(({ type }) => type === 'text');
  return { role, content: lacksText ? [...converted, { text: 'See the document.' }] : converted };
}

function isCallBlock({ type }: Json): boolean {
  return type === 'tool_use' || type === 'tool_result';
}

function callText({ type, name, input, content }: Json): string {
  if (type === 'tool_use') return `[Call of ${stringOf(name)}] ${JSON.stringify(input)}`;
  const texts = listOf(content).map((block) => stringOf(recordOf(block).text) || `[${stringOf(recordOf(block).type)}]`);
  return `[Result] ${texts.join('\n')}`;
}

/** null: the API does not have the block. */
function toBlock(block: Json, index: number): Json | null {
  const { type, source, content } = block;
  switch (type) {
    case 'text':
      return { text: block.text };
    case 'image':
      return { image: { format: stringOf(recordOf(source).media_type).replace('image/', ''), source: toBytes(source) } };
    case 'document': {
      const isText = recordOf(source).type === 'text';
      const name = documentName(stringOf(block.title), index);
      return { document: { format: isText ? 'txt' : 'pdf', name, source: isText ? { text: recordOf(source).data } : toBytes(source) } };
    }
    case 'thinking':
      return { reasoningContent: { reasoningText: without({ text: block.thinking, signature: block.signature }) } };
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } };
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
    case 'tool_result': {
      const inner = listOf(content).filter(isRecord).map(toBlock).filter(isRecord);
      return {
        toolResult: {
          toolUseId: block.tool_use_id,
          content: inner.length > 0 ? inner : [{ text: '(no output)' }],
          status: block.is_error === true ? 'error' : 'success',
        },
      };
    }
    default:
      return null;
  }
}

function toBytes(source: unknown): Json {
  const { data } = recordOf(source);
  if (typeof data !== 'string')
    throw invalidRequest([{ path: 'messages', message: 'has an image or a document by URL, which Converse does not have' }]);
  return { bytes: data };
}

/** "alphanumeric, single white space, hyphens, parentheses and square brackets" (API reference, DocumentBlock). */
function documentName(title: string, index: number): string {
  const name = title
    .replace(/[^a-zA-Z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, 150);
  return `${name === '' ? 'document' : name} ${index + 1}`;
}

// ---- Replies ----

/** Returns a message of the Messages API, or its error. A body that is no reply is returned unchanged, for the reader to report. */
export function fromConverse(body: unknown): unknown {
  const { output, stopReason, usage } = recordOf(body);
  const { message } = recordOf(output);
  if (!isRecord(message)) return body;
  if (isMalformed(stopReason)) return malformed(stopReason);
  const content = listOf(message.content).filter(isRecord).map(fromBlock);
  return { type: 'message', role: 'assistant', content, stop_reason: stopReason, usage: fromUsage(usage) };
}

function fromBlock(block: Json): Json {
  const { text, toolUse, reasoningContent } = block;
  if (typeof text === 'string') return { type: 'text', text };
  if (isRecord(toolUse)) return { type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
  const { reasoningText, redactedContent } = recordOf(reasoningContent);
  if (isRecord(reasoningText)) return { type: 'thinking', thinking: reasoningText.text, signature: reasoningText.signature };
  if (redactedContent !== undefined) return { type: 'redacted_thinking', data: redactedContent };
  return { type: 'text', text: `[${Object.keys(block)[0] ?? 'block'}]` };
}

/** Both count the tokens of the cache beside the input. */
function fromUsage(usage: unknown): Json {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = recordOf(usage);
  return without({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadInputTokens,
    cache_creation_input_tokens: cacheWriteInputTokens,
  });
}

/** `malformed_model_output`, `malformed_tool_use`: the reply cannot be used. */
function isMalformed(reason: unknown): boolean {
  return stringOf(reason).startsWith('malformed_');
}

function malformed(reason: unknown): Json {
  return { type: 'error', error: { type: 'api_error', message: `The model ended with ${stringOf(reason)}.` } };
}

/** Returns the events of the Messages API for one of `ConverseStream`. The usage comes after the stop reason, and ends the reply. */
export function converseEvents(name: string, event: Json): Json[] {
  const { contentBlockIndex: index } = event;
  switch (name) {
    case 'messageStart':
      return [{ type: 'message_start', message: { type: 'message', role: 'assistant', content: [] } }];
    case 'contentBlockStart': {
      const { toolUse } = recordOf(event.start);
      if (!isRecord(toolUse)) return [];
      return [
        { type: 'content_block_start', index, content_block: { type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: {} } },
      ];
    }
    case 'contentBlockDelta':
      return deltaEvents(index, recordOf(event.delta));
    case 'contentBlockStop':
      return [{ type: 'content_block_stop', index }];
    case 'messageStop':
      if (isMalformed(event.stopReason)) return [malformed(event.stopReason)];
      return [{ type: 'message_delta', delta: { stop_reason: event.stopReason } }];
    case 'metadata':
      return [{ type: 'message_delta', delta: {}, usage: fromUsage(event.usage) }, { type: 'message_stop' }];
    default:
      // Future events.
      return [];
  }
}

function deltaEvents(index: unknown, { text, toolUse, reasoningContent }: Json): Json[] {
  const delta = (fields: Json): Json[] => [{ type: 'content_block_delta', index, delta: fields }];
  if (typeof text === 'string') return delta({ type: 'text_delta', text });
  if (isRecord(toolUse)) return delta({ type: 'input_json_delta', partial_json: toolUse.input });
  const { text: thinking, signature, redactedContent } = recordOf(reasoningContent);
  if (typeof thinking === 'string') return delta({ type: 'thinking_delta', thinking });
  if (typeof signature === 'string') return delta({ type: 'signature_delta', signature });
  if (typeof redactedContent === 'string')
    return [{ type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data: redactedContent } }];
  return [];
}
