/**
 * Requests in the format of coding agents, each the second step of a loop: a conversation with two calls and their results. Written from
 * the observed format of those clients (anthropics/claude-code and its gateways' issues, openai/codex `codex-rs/tools/src/tool_spec.rs`
 * and `codex-api/src/common.rs`, vercel/ai, cline/cline, langchain-ai/langchainjs); nothing is recorded. Used by
 * `real-clients.all.e2e.test.ts`.
 */
export type AgentRequest = {
  path: string;
  headers?: Record<string, string>;
  body: Record<string, unknown>;
  /** The tools to be offered to the model, in order. */
  tools: readonly string[];
};

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ephemeral = { cache_control: { type: 'ephemeral' } };

/** Schemas as tool servers are known to send them. */
const oddSchemas: Record<string, object> = {
  mcp__git__log: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {}, additionalProperties: false },
  mcp__db__query: { type: 'object', properties: { limit: { type: ['integer', 'null'], default: null } }, required: [] },
  mcp__figma__pick: {
    type: 'object',
    $defs: { node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
    properties: { root: { $ref: '#/$defs/node' }, mode: { const: 'one' } },
  },
  mcp__jira__find: {
    type: 'object',
    anyOf: [{ required: ['key'] }, { required: ['text'] }],
    properties: { key: {}, text: { type: 'string' } },
  },
  'mcp__a-b__c-d': {
    type: 'object',
    properties: { at: { type: 'string', format: 'date-time', pattern: '^\\d+' }, tags: { type: 'array' } },
  },
};
const plain = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const ownNames = ['Read', 'Bash', ...Array.from({ length: 18 }, (_, index) => `Task${index}`)];

export function claudeCode(model: string, mark: string): AgentRequest {
  const tools = [
    ...ownNames.map((name) => ({ name, description: `Does ${name}.`, input_schema: plain })),
    ...Object.entries(oddSchemas).map(([name, schema]) => ({ name, description: '', input_schema: schema })),
  ];
  return {
    path: '/v1/messages?beta=true',
    headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'interleaved-thinking-2025-05-14,context-management-2025-06-27' },
    tools: tools.map(({ name }) => name),
    body: {
      model,
      max_tokens: 32_000,
      stream: true,
      metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;' },
        { type: 'text', text: 'You are an agent.', ...ephemeral },
        { type: 'text', text: 'Be careful.', ...ephemeral },
      ],
      tools: [...tools, { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>\n' },
            { type: 'text', text: `What is wrong here? ${mark}`, ...ephemeral },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_01Aa', name: 'Read', input: { path: 'a.png' } },
            { type: 'tool_use', id: 'toolu_01Bb', name: 'Bash', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_01Aa',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }],
            },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_01Bb',
              is_error: true,
              content: '<tool_use_error>InputValidationError: path</tool_use_error>',
            },
            { type: 'text', text: '[Request interrupted by user]', ...ephemeral },
          ],
        },
      ],
    },
  };
}

export function codex(model: string, mark: string): AgentRequest {
  const shell = { type: 'function', name: 'exec_command', description: 'Runs it.', strict: false, parameters: plain };
  return {
    path: '/v1/responses',
    headers: { originator: 'codex_cli_rs', session_id: '0199-a', 'openai-beta': 'responses=experimental' },
    tools: ['exec_command', 'apply_patch', 'mcp__git__log'],
    body: {
      model,
      instructions: 'You are an agent.',
      stream: true,
      store: false,
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '0199-a',
      text: { verbosity: 'low' },
      client_metadata: { 'x-codex-installation-id': 'i' },
      tools: [
        shell,
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Edits.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
        },
        { type: 'web_search', external_web_access: false },
        { type: 'namespace', name: 'mcp__git', description: 'Git.', tools: [{ ...shell, name: 'log' }] },
      ],
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions instructions>' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: `Fix it. ${mark}` }] },
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: '**Looking**' }],
          content: null,
          encrypted_content: 'gAAAA-of-another',
        },
        { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
        { type: 'function_call', name: 'exec_command', arguments: '{"path":"."}', call_id: 'call_a' },
        { type: 'custom_tool_call', status: 'completed', call_id: 'call_b', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'function_call_output', call_id: 'call_a', output: 'Exit code: 0' },
        {
          type: 'custom_tool_call_output',
          call_id: 'call_b',
          output: [
            { type: 'input_text', text: 'Success.' },
            { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
          ],
        },
      ],
    },
  };
}

/** The format of opencode, Cline, Cursor and LangChain, which differ in details. */
export function chatAgent(model: string, mark: string): AgentRequest {
  const tool = (name: string, parameters: object) => ({ type: 'function', function: { name, description: '', parameters, strict: null } });
  return {
    path: '/v1/chat/completions',
    headers: { 'http-referer': 'https://cline.example', 'x-title': 'Cline' },
    tools: ['read_file', ...Object.keys(oddSchemas)],
    body: {
      model,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 4096,
      temperature: 1,
      n: 1,
      stop: null,
      logprobs: false,
      top_logprobs: null,
      parallel_tool_calls: null,
      tool_choice: 'auto',
      user: 'u',
      store: false,
      prediction: { type: 'content', content: 'x' },
      response_format: { type: 'text' },
      tools: [tool('read_file', plain), ...Object.entries(oddSchemas).map(([name, schema]) => tool(name, schema))],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'You are an agent.', ...ephemeral }] },
        { role: 'developer', content: 'Be careful.' },
        { role: 'user', name: 'ann', content: 'Hello.' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: `What is wrong here? ${mark}` },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'auto' } },
          ],
        },
        {
          role: 'assistant',
          content: '',
          refusal: null,
          reasoning_content: 'Both.',
          tool_calls: [
            { index: 0, id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            { index: 1, id: 'toolu_bdrk_01', type: 'function', function: { name: 'mcp__git__log', arguments: '' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'call_a',
          name: 'read_file',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_bdrk_01', content: '' },
      ],
    },
  };
}
