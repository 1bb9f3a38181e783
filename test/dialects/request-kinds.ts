/**
 * An example of each kind of part, item and tool of the dialects' requests, for the test that follows each to each provider's wire. An
 * example of a kind that is mapped has a text that the provider must be sent.
 */
import { packCompaction } from '../../src/dialects/openai-responses/issued.ts';
import { toApprovalId, type ApiDialectName } from '../../src/core/text/reference.ts';
import { isRecord } from '../../src/core/json/wire-value.ts';

type Json = Record<string, unknown>;

/** At a path of its own. `name`: what the response header says of it. `mark`: the text of it that the provider is sent. */
export class At {
  readonly path: string;
  readonly value: unknown;
  readonly name: string | undefined;
  readonly mark: string | undefined;
  constructor(path: string, value: unknown, { name, mark }: { name?: string; mark?: string } = {}) {
    this.path = path;
    this.value = value;
    this.name = name;
    this.mark = mark;
  }
}

const base64 = 'TUFSS1MhISEh';
const image = `data:image/png;base64,${base64}`;
const pdf = `data:application/pdf;base64,${base64}`;
/** "Readable" in base64. */
const textFile = 'data:text/plain;base64,UmVhZGFibGU=';
const zip = `data:application/zip;base64,${base64}`;
const link = 'https://x.example/marked';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const jsonSchema = { name: 'answer', schema: { ...parameters, properties: { city: { type: 'string', description: 'Marked' } } } };
const marked = { mark: 'Marked' };

const sent = (mark: string, name?: string) => ({ mark, ...(name !== undefined && { name }) });

// ---- Chat Completions ----

const chatPart = (value: Json, expected?: { name?: string; mark?: string }): At => new At('messages[1].content[1]', value, expected);
const chatTool = { name: 'weather', description: 'Marked', parameters };

const chatKinds: Json = {
  'messages[].content[].type=text': chatPart({ type: 'text', text: 'Marked' }, marked),
  'messages[].content[].type=refusal': new At('messages[2].content[0]', { type: 'refusal', refusal: 'Marked' }, marked),
  'messages[].content[].type=input_text': chatPart({ type: 'input_text', text: 'Marked' }, marked),
  'messages[].content[].type=output_text': new At('messages[2].content[0]', { type: 'output_text', text: 'Marked' }, marked),
  'messages[].content[].type=image_url': chatPart({ type: 'image_url', image_url: { url: image } }, sent(base64, 'image/png')),
  'messages[].content[].type=image_url by URL': chatPart({ type: 'image_url', image_url: { url: link } }, sent(link, 'image URL')),
  'messages[].content[].type=file': chatPart(
    { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    sent(base64, 'application/pdf'),
  ),
  'messages[].content[].type=file by URL': chatPart({ type: 'file', file: { file_data: link } }, sent(link, 'application/pdf')),
  'messages[].content[].type=file of text': chatPart({ type: 'file', file: { file_data: textFile } }, sent('Readable')),
  'messages[].content[].type=file of another type': chatPart({ type: 'file', file: { file_data: zip } }, { name: 'application/zip' }),
  'messages[].content[].type=file by id': chatPart({ type: 'file', file: { file_id: 'file-1' } }),
  'messages[].content[].type=input_audio': chatPart(
    { type: 'input_audio', input_audio: { data: base64, format: 'wav' } },
    sent(base64, 'audio/wav'),
  ),
  'messages[].content[].type=audio_url': chatPart({ type: 'audio_url', audio_url: { url: link } }, sent(link, 'audio/wav')),
  'messages[].content[].type=video_url': chatPart(
    { type: 'video_url', video_url: { url: `data:video/webm;base64,${base64}` } },
    sent(base64, 'video/webm'),
  ),
  'messages[].content[].type=video_url by URL': chatPart({ type: 'video_url', video_url: { url: link } }, sent(link, 'video/mp4')),
  'messages[].content[].type=thinking': new At(
    'messages[2].content[0]',
    { type: 'thinking', thinking: [{ type: 'text', text: 'Marked' }] },
    sent('Marked', 'messages[].content[].thinking'),
  ),
  'messages[].content[].type=reasoning': new At('messages[2].content[0]', { type: 'reasoning', text: 'Hm.' }),
  'messages[].content[].type=*': chatPart({ type: 'unheard_of' }),
  'messages[].tool_calls[].type=function': new At(
    'messages[2].tool_calls[0].function',
    { name: 'weather', arguments: '{"city":"Marked"}' },
    marked,
  ),
  'messages[].tool_calls[].type=*': new At('messages[2].tool_calls[0]', {
    id: 'call_1',
    type: 'custom',
    custom: { name: 'x', input: 'y' },
  }),
  'response_format.type=text': { type: 'text' },
  'response_format.type=json_object': new At('response_format', { type: 'json_object' }),
  'response_format.type=json_schema': new At('response_format', { type: 'json_schema', json_schema: jsonSchema }, marked),
  'response_format.type=*': new At('response_format', { type: 'grammar', grammar: 'Marked' }, sent('Marked', 'response_format')),
  'tool_choice.type=function': new At('tool_choice', { type: 'function', function: { name: 'weather' } }),
  'tool_choice.type=allowed_tools': { type: 'allowed_tools' },
  'tool_choice.type=*': new At('tool_choice', { type: 'custom', custom: { name: 'x' } }),
  'tools[].type=function': new At('tools[0]', { type: 'function', function: chatTool }, marked),
  'tools[].type=*': new At('tools[1]', { type: 'custom', custom: { name: 'x' } }),
};

// ---- Responses ----

const calls = (value: Json, expected = marked): At => new At('input[1]', { call_id: 'call_1', status: 'completed', ...value }, expected);
const results = (value: Json): At => new At('input[2]', { call_id: 'call_1', status: 'completed', ...value }, marked);
const added = (value: Json): At => new At('input[3]', value);
const tool = (value: Json, expected?: { name?: string; mark?: string }): At => new At('tools[1]', value, expected);

/** A web search with one option: without it, the search is left out, or only the option. */
const search = (options: Json, mark: string, type = 'web_search'): At =>
  tool({ type, ...(type !== 'web_search' && { name: 'web_search' }), ...options }, { name: `tools.${type}`, mark });

function responseParts(place: string, path: string): Json {
  const part = (value: Json, expected?: { name?: string; mark?: string }): At => new At(path, value, expected);
  return {
    [`${place}.type=input_text`]: part({ type: 'input_text', text: 'Marked' }, marked),
    [`${place}.type=output_text`]: part({ type: 'output_text', text: 'Marked' }, marked),
    [`${place}.type=text`]: part({ type: 'text', text: 'Marked' }, marked),
    [`${place}.type=refusal`]: part({ type: 'refusal', refusal: 'Marked' }, marked),
    [`${place}.type=input_image`]: part({ type: 'input_image', image_url: image }, sent(base64, 'image/png')),
    [`${place}.type=input_image by URL`]: part({ type: 'input_image', image_url: link }, sent(link, 'image URL')),
    [`${place}.type=input_image by id`]: part({ type: 'input_image', file_id: 'file-1' }),
    [`${place}.type=input_file`]: part({ type: 'input_file', filename: 'a.pdf', file_data: pdf }, sent(base64, 'application/pdf')),
    [`${place}.type=input_file by URL`]: part({ type: 'input_file', file_url: link }, sent(link, 'application/pdf')),
    [`${place}.type=input_file of text`]: part({ type: 'input_file', file_data: textFile }, sent('Readable')),
    [`${place}.type=input_file of another type`]: part({ type: 'input_file', file_data: zip }, { name: 'application/zip' }),
    [`${place}.type=input_file by id`]: part({ type: 'input_file', file_id: 'file-1' }),
    [`${place}.type=input_audio`]: part({ type: 'input_audio', input_audio: { data: base64, format: 'wav' } }, sent(base64, 'audio/wav')),
    [`${place}.type=*`]: part({ type: 'computer_screenshot', image_url: image }),
  };
}

/** Before a call, because a message of reasoning alone is none for most models. */
const thought = (value: Json): At =>
  new At(
    '',
    {
      input: [
        { type: 'message', role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', ...value },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'fine' },
      ],
    },
    sent('Marked', 'input[].summary'),
  );

const approval = toApprovalId({ callId: 'call_1', round: 1, session: 'ab'.repeat(32) });
const asked = { server_label: 'files', name: 'remove', arguments: '{}' };

const responsesKinds: Json = {
  'input[].type=message': new At('input[3]', { type: 'message', role: 'user', content: 'Marked' }, marked),
  'input[].type=function_call': calls({ type: 'function_call', name: 'weather', arguments: '{"city":"Marked"}' }),
  'input[].type=function_call_output': results({ type: 'function_call_output', output: 'Marked' }),
  'input[].type=custom_tool_call': calls({ type: 'custom_tool_call', name: 'weather', input: 'Marked' }),
  'input[].type=custom_tool_call_output': results({ type: 'custom_tool_call_output', output: 'Marked' }),
  'input[].type=local_shell_call': calls({ type: 'local_shell_call', action: { type: 'exec', command: ['Marked'], env: {} } }),
  'input[].type=local_shell_call_output': results({ type: 'local_shell_call_output', output: 'Marked' }),
  'input[].type=shell_call': calls({ type: 'shell_call', action: { commands: ['Marked'] } }),
  'input[].type=shell_call_output': results({ type: 'shell_call_output', output: [{ stdout: 'Marked', stderr: '' }] }),
  'input[].type=apply_patch_call': calls({ type: 'apply_patch_call', operation: { type: 'delete_file', path: 'Marked' } }),
  'input[].type=apply_patch_call_output': results({ type: 'apply_patch_call_output', output: 'Marked' }),
  'input[].type=tool_search_call': calls({ type: 'tool_search_call', execution: 'client', arguments: { query: 'Marked' } }),
  'input[].type=tool_search_output': results({
    ...{ type: 'tool_search_output', execution: 'client' },
    tools: [{ type: 'function', name: 'more', description: 'Marked', parameters }],
  }),
  'input[].type=compaction': new At('input[0]', { type: 'compaction', encrypted_content: packCompaction('Marked') }, marked),
  'input[].type=additional_tools': new At(
    'input[3]',
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'more', description: 'Marked', parameters }] },
    marked,
  ),
  'input[].type=tool_search_call by the provider': new At(
    'input[3]',
    { type: 'tool_search_call', execution: 'server', call_id: null, arguments: {} },
    { name: 'input[].tool_search_call' },
  ),
  'input[].type=tool_search_output by the provider': new At(
    'input[3]',
    { type: 'tool_search_output', execution: 'server', call_id: null, tools: [] },
    { name: 'input[].tool_search_output' },
  ),
  'input[].type=reasoning': thought({ summary: [{ type: 'summary_text', text: 'Marked' }] }),
  'input[].type=web_search_call': added({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }),
  'input[].type=file_search_call': added({ type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] }),
  'input[].type=code_interpreter_call': added({ type: 'code_interpreter_call', id: 'ci_1', code: 'x', outputs: [] }),
  'input[].type=mcp_call': added({ type: 'mcp_call', id: 'mcp_1', name: 'x', arguments: '{}', output: 'x', server_label: 's' }),
  'input[].type=mcp_list_tools': added({ type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] }),
  'input[].type=mcp_approval_request': added({ type: 'mcp_approval_request', id: approval, ...asked }),
  'input[].type=mcp_approval_response': added({ type: 'mcp_approval_response', approval_request_id: approval, approve: true }),
  'input[].type=image_generation_call': added({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'aGk=' }),
  'input[].type=item_reference': added({ type: 'item_reference', id: 'msg_1' }),
  'input[].type=*': added({ type: 'computer_call', id: 'cc_1', call_id: 'call_2', action: {} }),
  'input[].content[].type=reasoning_text': thought({ content: [{ type: 'reasoning_text', text: 'Marked' }] }),
  'input[].content[].type=summary_text': thought({ content: [{ type: 'summary_text', text: 'Marked' }] }),
  ...responseParts('input[].content[]', 'input[0].content[1]'),
  ...responseParts('input[].output[]', 'input[2].output[0]'),
  'text.format.type=text': { type: 'text' },
  'text.format.type=json_object': new At('text.format', { type: 'json_object' }),
  'text.format.type=json_schema': new At('text.format', { type: 'json_schema', ...jsonSchema }, marked),
  'text.format.type=*': new At('text.format', { type: 'grammar', definition: 'Marked' }, sent('Marked', 'text.format')),
  'tool_choice.type=function': new At('tool_choice', { type: 'function', name: 'weather' }),
  'tool_choice.type=custom': new At('tool_choice', { type: 'custom', name: 'weather' }),
  ...Object.fromEntries(
    ['local_shell', 'shell', 'apply_patch', 'tool_search'].map((type) => [
      `tool_choice.type=${type}`,
      new At('', { tools: [{ type, execution: 'client' }], tool_choice: { type } }),
    ]),
  ),
  'tool_choice.type=allowed_tools': { type: 'allowed_tools' },
  'tool_choice.type=*': new At('tool_choice', { type: 'web_search' }),
  'tools[].type=function': tool({ type: 'function', name: 'more', description: 'Marked', parameters }, marked),
  'tools[].type=custom': tool({ type: 'custom', name: 'more', description: 'Marked' }, marked),
  'tools[].type=namespace': tool(
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'more', description: 'Marked', parameters }] },
    marked,
  ),
  'tools[].type=local_shell': tool({ type: 'local_shell' }, sent('local_shell')),
  'tools[].type=shell': tool({ type: 'shell', environment: { type: 'local' } }, sent('"shell"')),
  'tools[].type=apply_patch': tool({ type: 'apply_patch' }, sent('apply_patch')),
  'tools[].type=tool_search': tool({ type: 'tool_search', execution: 'client', description: 'Marked', parameters }, marked),
  'tools[].type=shell by the provider': tool({ type: 'shell', environment: { type: 'container_auto' } }),
  'tools[].type=tool_search by the provider': tool({ type: 'tool_search' }, { name: 'tools.tool_search' }),
  'tools[].type=web_search*': tool({ type: 'web_search_preview' }, { name: 'tools.web_search_preview', mark: 'web_search' }),
  'tools[].filters': search({ filters: { allowed_domains: ['marked.example'] } }, 'marked.example'),
  'tools[].external_web_access': search({ external_web_access: false }, 'external_web_access'),
  'tools[].user_location': search({ user_location: { type: 'approximate', city: 'Marked' } }, 'Marked'),
  'tools[].search_context_size': search({ search_context_size: 'high' }, '"search_context_size":"high"'),
  'tools[].type=image_generation*': tool({ type: 'image_generation' }, { name: 'tools.image_generation' }),
  'tools[].type=*': tool({ type: 'file_search', vector_store_ids: ['vs_1'] }),
};

// ---- Messages ----

const blocks = (types: readonly string[], value: Json): Json =>
  Object.fromEntries(
    types.map((type) => [
      `messages[].content[].type=${type}`,
      new At('messages[1].content[0]', { type, ...value }, { name: `messages[].content[].${type}` }),
    ]),
  );

function messageParts(place: string, path: string): Json {
  const part = (value: Json, expected?: { name?: string; mark?: string }): At => new At(path, value, expected);
  const source = { type: 'base64', media_type: 'image/png', data: base64 };
  const ofPdf = { type: 'base64', media_type: 'application/pdf', data: base64 };
  const ofBlocks = { type: 'content', content: [{ type: 'text', text: 'Marked' }] };
  const about = { title: 'A title', context: 'A context' };
  return {
    [`${place}.type=text`]: part({ type: 'text', text: 'Marked' }, marked),
    [`${place}.type=image`]: part({ type: 'image', source }, sent(base64, 'image/png')),
    [`${place}.type=image by URL`]: part({ type: 'image', source: { type: 'url', url: link } }, sent(link, 'image URL')),
    [`${place}.type=image by id`]: part({ type: 'image', source: { type: 'file', file_id: 'f' } }),
    [`${place}.type=document`]: part({ type: 'document', source: ofPdf, ...about }, sent(base64, 'application/pdf')),
    [`${place}.type=document by URL`]: part({ type: 'document', source: { type: 'url', url: link } }, sent(link, 'application/pdf')),
    [`${place}.type=document of text`]: part({ type: 'document', source: { type: 'text', data: 'Marked' } }, marked),
    [`${place}.type=document of blocks`]: part({ type: 'document', source: ofBlocks }, marked),
    [`${place}.type=document by id`]: part({ type: 'document', source: { type: 'file', file_id: 'f' } }),
    [`${place}.type=search_result`]: part(
      { type: 'search_result', source: 'x', title: 'T', content: [{ type: 'text', text: 'Marked' }] },
      marked,
    ),
  };
}

const codeResults = ['code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'];
const ownResults = ['mcp_tool_result', 'web_search_tool_result', 'web_fetch_tool_result', 'tool_search_tool_result', ...codeResults];

const dated = 'web_search_20260209';

const messagesKinds: Json = {
  'thinking.type=enabled': new At('thinking', { type: 'enabled', budget_tokens: 1024 }),
  'thinking.type=adaptive': new At('thinking', { type: 'adaptive' }),
  'thinking.type=disabled': new At('thinking', { type: 'disabled' }),
  'thinking.type=*': new At('thinking', { type: 'unheard_of' }, { name: 'thinking.unheard_of' }),
  ...Object.fromEntries(
    ['output_config.format', 'output_format'].flatMap((path) => [
      [`${path}.type=json_schema`, new At(path, { type: 'json_schema', schema: jsonSchema.schema }, marked)],
      [`${path}.type=*`, new At(path, { type: 'unheard_of' }, { name: `${path}.unheard_of` })],
    ]),
  ),
  ...messageParts('messages[].content[]', 'messages[0].content[1]'),
  ...messageParts('messages[].content[].content[]', 'messages[2].content[0].content[0]'),
  'messages[].content[].content[].type=tool_reference': new At(
    'messages[2].content[0].content[0]',
    { type: 'tool_reference', tool_name: 'Marked' },
    marked,
  ),
  'messages[].content[].type=tool_use': new At('messages[1].content[1].input', { city: 'Marked' }, marked),
  'messages[].content[].type=tool_result': new At('messages[2].content[0].content', 'Marked', marked),
  'messages[].content[].type=thinking': new At(
    'messages[1].content[0]',
    { type: 'thinking', thinking: 'Marked', signature: 'x' },
    sent('Marked', 'messages[].content[].thinking'),
  ),
  ...blocks(['redacted_thinking'], { data: 'x' }),
  ...blocks(['compaction'], { content: 'x' }),
  ...blocks(['server_tool_use', 'mcp_tool_use'], { id: 'srv_1', name: 'web_search', input: {} }),
  ...blocks(ownResults, { tool_use_id: 'srv_1', content: [] }),
  'messages[].content[].type=container_upload': new At('messages[0].content[1]', { type: 'container_upload', file_id: 'f' }),
  'messages[].content[].type=*': new At('messages[0].content[1]', { type: 'unheard_of' }),
  'tools[].type=custom': new At('tools[1]', { type: 'custom', name: 'more', description: 'Marked', input_schema: parameters }, marked),
  'tools[].type=web_search_*': search({}, 'web_search', dated),
  'tools[].max_uses': search({ max_uses: 3 }, '"max_uses":3', dated),
  'tools[].allowed_domains': search({ allowed_domains: ['marked.example'] }, 'marked.example', dated),
  'tools[].blocked_domains': search({ blocked_domains: ['marked.example'] }, 'marked.example', dated),
  'tools[].user_location': search({ user_location: { type: 'approximate', city: 'Marked' } }, 'Marked', dated),
  ...Object.fromEntries(
    ['web_fetch_', 'tool_search_tool_'].map((type) => [
      `tools[].type=${type}*`,
      new At('tools[1]', { type: `${type}20260101`, name: 'x' }, { name: `tools.${type}20260101` }),
    ]),
  ),
  'tools[].type=*': new At('tools[1]', { type: 'code_execution_20260101', name: 'x' }),
};

export const kindExamples: Readonly<Record<ApiDialectName, Json>> = {
  'openai-chat': chatKinds,
  'openai-responses': responsesKinds,
  'anthropic-messages': messagesKinds,
  // Its parts and tools have members in place of types.
  gemini: {},
};

/** Whether all of a mapped example has reached the provider. */
export function isWhole(example: unknown, sentBody: unknown): boolean {
  if (!(example instanceof At) || example.mark === undefined) return true;
  return JSON.stringify(sentBody).includes(example.mark);
}

/** Returns the request with the example at its path; a record at the path '' is merged into it. */
export function isMerged(example: unknown): example is At & { value: Json } {
  return example instanceof At && example.path === '' && isRecord(example.value);
}
