/**
 * Coding agents as clients: what each sends first, and after it has run the calls of a reply. In the format of openai/codex
 * (`codex-rs/core/src/client.rs`, `codex-rs/protocol/src/models.rs`), anthropics/claude-code, anomalyco/opencode (AI SDK), QwenLM/qwen-code,
 * github/copilot-cli, continuedev/continue and cline/cline; nothing is recorded.
 */
import { listOf, recordOf, stringOf } from '../../src/core/json/wire-value.ts';
import { SseParser } from '../../src/net/sse.ts';

type Json = Record<string, unknown>;
/** A call as its agent received it, by the name of the agent's own. */
export type AgentCall = { id: string; name: string; arguments: unknown; item: Json };
export type AgentReply = { text: string; calls: AgentCall[]; message: unknown };
export type CodingAgent = {
  name: string;
  dialect: 'openai-chat' | 'openai-responses' | 'anthropic-messages';
  path: string;
  headers: Record<string, string>;
  /** The names under which the model is offered the tools, in order. */
  tools: readonly string[];
  body(model: string): Json;
  read(text: string): AgentReply;
  /** Returns the request with the reply and the results of its calls; `next`: what the user says then. */
  more(body: Json, reply: AgentReply, results: readonly string[], next?: string): Json;
};

export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const dataUrl = `data:image/png;base64,${pixel}`;
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };
const ephemeral = { cache_control: { type: 'ephemeral' } };

function eventsOf(text: string): Json[] {
  const parser = new SseParser();
  const messages = [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
  return messages.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Json]));
}

// ---- Responses: Codex ----

const lark = { type: 'grammar', syntax: 'lark', definition: 'start: begin_patch hunk+ end_patch' };
const execCommand = { type: 'function', name: 'exec_command', description: 'Runs a command.', strict: false, parameters };

function codex(name: string, own: { tools?: Json[]; input?: Json[] }, tools: readonly string[]): CodingAgent {
  const said = (role: string, text: string): Json => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
  return {
    ...{ name, dialect: 'openai-responses', path: '/v1/responses', tools },
    headers: { originator: 'codex_cli_rs', session_id: '0199-a', 'user-agent': 'codex_cli_rs/0.153.4' },
    body: (model) => ({
      ...{ model, instructions: 'You are Codex.', stream: true, store: false, tool_choice: 'auto', parallel_tool_calls: true },
      ...{ reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'], text: { verbosity: 'low' } },
      ...{ prompt_cache_key: '0199-a', client_metadata: { 'x-codex-installation-id': 'i' } },
      ...(own.tools !== undefined && { tools: own.tools }),
      input: [
        ...(own.input ?? []),
        said('developer', '<permissions instructions>'),
        said('user', '<environment_context>'),
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: dataUrl },
          ],
        },
      ],
    }),
    read(text) {
      const items = eventsOf(text).flatMap(({ type, item }) => (type === 'response.output_item.done' ? [recordOf(item)] : []));
      const calls = items.filter(({ type }) => /_call$/.test(String(type)));
      const texts = items.flatMap(({ type, content }) =>
        type === 'message' ? listOf(content).map((part) => stringOf(recordOf(part).text)) : [],
      );
      return { text: texts.join(''), message: items, calls: calls.map(toCodexCall) };
    },
    more(body, { message, calls }, results, next) {
      // Codex sends items without their ids.
      const items = listOf(message).map((item) => {
        const { id: _id, ...rest } = recordOf(item);
        return rest;
      });
      const outputs = calls.map((call, index) => codexOutput(call, results[index] ?? ''));
      return { ...body, input: [...listOf(body.input), ...items, ...outputs, ...(next === undefined ? [] : [said('user', next)])] };
    },
  };
}

function toCodexCall(item: Json): AgentCall {
  const { type, name, namespace, arguments: args, input, action, operation } = item;
  const own = name ?? String(type).replace(/_call$/, '');
  const given = type === 'function_call' ? JSON.parse(stringOf(args)) : (args ?? input ?? action ?? operation);
  return { id: stringOf(item.call_id), name: namespace === undefined ? String(own) : `${namespace}/${own}`, arguments: given, item };
}

function codexOutput({ id, item }: AgentCall, result: string): Json {
  switch (item.type) {
    case 'tool_search_call':
      return {
        ...{ type: 'tool_search_output', call_id: id, status: 'completed', execution: 'client' },
        tools: [
          { type: 'namespace', name: 'mcp__jira', description: 'Jira.', tools: [{ ...execCommand, name: 'find', defer_loading: true }] },
        ],
      };
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', call_id: id, output: result };
    case 'shell_call': {
      const output = [{ stdout: result, stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
      return { type: 'shell_call_output', call_id: id, output, max_output_length: 100 };
    }
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', call_id: id, status: 'completed', output: result };
    default:
      // The result of its local shell, too.
      return { type: 'function_call_output', call_id: id, output: [{ type: 'input_text', text: result }] };
  }
}

const codexTools = [
  execCommand,
  { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: lark },
  {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters: { ...parameters, properties: { query: { type: 'string' } }, required: ['query'] },
  },
  { type: 'web_search', external_web_access: false },
  { type: 'image_generation', output_format: 'png' },
  { type: 'namespace', name: 'mcp__git', description: 'Git.', tools: [{ ...execCommand, name: 'log' }] },
];

// ---- Messages: Claude Code ----

const claudeCode: CodingAgent = {
  ...{ name: 'Claude Code', dialect: 'anthropic-messages', path: '/v1/messages?beta=true', tools: ['Read', 'Bash', 'mcp__git__log'] },
  headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'interleaved-thinking-2025-05-14', 'x-app': 'cli' },
  body: (model) => ({
    ...{ model, max_tokens: 32_000, stream: true, metadata: { user_id: '{"device_id":"d"}' } },
    ...{ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
    system: [{ type: 'text', text: 'You are Claude Code.', ...ephemeral }],
    tools: [
      ...['Read', 'Bash', 'mcp__git__log'].map((name) => ({ name, description: `Does ${name}.`, input_schema: parameters })),
      { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          { type: 'text', text: 'Look.', ...ephemeral },
        ],
      },
    ],
  }),
  read(text) {
    const blocks: Json[] = [];
    const inputs: string[] = [];
    for (const { type, index, content_block: block, delta } of eventsOf(text)) {
      const at = Number(index);
      const { type: of, text: said = '', thinking = '', signature, partial_json: json } = recordOf(delta);
      if (type === 'content_block_start') blocks[at] = { ...recordOf(block) };
      const open = blocks[at];
      if (type !== 'content_block_delta' || open === undefined) continue;
      if (of === 'text_delta') open.text = `${open.text}${said}`;
      if (of === 'thinking_delta') open.thinking = `${open.thinking}${thinking}`;
      if (of === 'signature_delta') open.signature = signature;
      if (of === 'input_json_delta') inputs[at] = `${inputs[at] ?? ''}${json}`;
    }
    for (const [at, block] of blocks.entries()) if (block.type === 'tool_use') block.input = JSON.parse(inputs[at] || '{}');
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    return {
      text: blocks.map((block) => (block.type === 'text' ? stringOf(block.text) : '')).join(''),
      message: blocks,
      calls: calls.map((item) => ({ id: stringOf(item.id), name: stringOf(item.name), arguments: item.input, item })),
    };
  },
  more(body, { message, calls }, results, next) {
    const content = calls.map(({ id }, index) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'text', text: results[index] }],
    }));
    const said = next === undefined ? [] : [{ type: 'text', text: next }];
    const added = [
      { role: 'assistant', content: message },
      { role: 'user', content: [...content, ...said] },
    ];
    return { ...body, messages: [...listOf(body.messages), ...added] };
  },
};

// ---- Chat Completions ----

const chatTools = ['read_file', 'mcp__git__log'].map((name) => ({
  type: 'function',
  function: { name, description: `Does ${name}.`, parameters },
}));

/** `fields`: in which the agent's requests differ from others. `assistant`: the same of its messages with calls. */
function chatAgent(name: string, headers: Record<string, string>, fields: Json, assistant: Json = {}): CodingAgent {
  return {
    ...{ name, dialect: 'openai-chat', path: '/v1/chat/completions', headers, tools: ['read_file', 'mcp__git__log'] },
    body: (model) => ({
      ...{ model, stream: true, tools: chatTools },
      messages: [
        { role: 'system', content: `You are ${name}.` },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: dataUrl } },
          ],
        },
      ],
      ...fields,
    }),
    read(text) {
      const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
      let said = '';
      for (const event of eventsOf(text)) {
        const { content, tool_calls: pieces } = recordOf(recordOf(listOf(event.choices)[0]).delta);
        said += stringOf(content);
        for (const piece of listOf(pieces).map(recordOf)) {
          const { name: called = '', arguments: more = '' } = recordOf(piece.function);
          const at = Number(piece.index);
          calls[at] ??= { id: stringOf(piece.id), type: 'function', function: { name: String(called), arguments: '' } };
          calls[at].function.arguments += String(more);
        }
      }
      return {
        text: said,
        message: { role: 'assistant', content: said, ...(calls.length > 0 && { tool_calls: calls }), ...assistant },
        calls: calls.map((item) => ({ id: item.id, name: item.function.name, arguments: JSON.parse(item.function.arguments), item })),
      };
    },
    more(body, { message, calls }, results, next) {
      const answers = calls.map(({ id, name: called }, index) => ({
        role: 'tool',
        tool_call_id: id,
        name: called,
        content: results[index],
      }));
      const user = next === undefined ? [] : [{ role: 'user', content: next }];
      return { ...body, messages: [...listOf(body.messages), message, ...answers, ...user] };
    },
  };
}

const usage = { stream_options: { include_usage: true } };

export const codingAgents: readonly CodingAgent[] = [
  codex('Codex', { tools: codexTools }, ['exec_command', 'apply_patch', 'tool_search', 'mcp__git__log']),
  codex(
    'Codex with its tools among the items',
    {
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [
            { type: 'namespace', name: 'functions', description: '', tools: codexTools.slice(0, 2) },
            codexTools[2],
            codexTools[5],
          ] as Json[],
        },
      ],
    },
    ['exec_command', 'apply_patch', 'tool_search', 'mcp__git__log'],
  ),
  codex(
    'an agent with the shells and patches of the API',
    { tools: [{ type: 'local_shell' }, { type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }] },
    ['local_shell', 'shell', 'apply_patch'],
  ),
  claudeCode,
  chatAgent('opencode', { 'user-agent': 'opencode/1.0 ai-sdk/provider-utils' }, { ...usage, tool_choice: 'auto', max_tokens: 32_000 }),
  chatAgent(
    'qwen-code',
    { 'user-agent': 'QwenCode/0.20.0 (linux; x64)' },
    { ...usage, temperature: 0, top_p: 1, metadata: { sessionId: 's', promptId: 'p' } },
  ),
  chatAgent(
    'Copilot CLI',
    { 'copilot-integration-id': 'copilot-developer-cli' },
    { ...usage, parallel_tool_calls: true },
    { content: null },
  ),
  chatAgent('Continue', { 'x-title': 'Continue' }, { max_tokens: 4096, parallel_tool_calls: false }),
  chatAgent('Cline', { 'http-referer': 'https://cline.bot', 'x-title': 'Cline' }, { ...usage, temperature: 0 }, { reasoning_details: [] }),
];
