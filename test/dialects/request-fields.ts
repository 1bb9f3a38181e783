/**
 * An example of each field of the three dialects' requests, for the test that follows each to each provider's wire. A field of the table
 * that has no example here must be in the body of its dialect.
 */
import { messagesFields, messagesTools } from '../../src/dialects/anthropic/fields.ts';
import type { Fields } from '../../src/dialects/fields.ts';
import { chatFields, chatTools } from '../../src/dialects/openai-chat/fields.ts';
import { responsesFields, responsesTools } from '../../src/dialects/openai-responses/fields.ts';
import { type ApiDialectName, toConversationId } from '../../src/core/text/reference.ts';
import type { ProviderWire } from '../../src/core/model/wire-settings.ts';

import { At, kindExamples } from './request-kinds.ts';

type Json = Record<string, unknown>;
export type DialectExamples = {
  title: string;
  own: ProviderWire;
  fields: Fields;
  body: Json;
  /** By path in the table: a value, at a concrete path if it is not in the first item. */
  examples: Readonly<Record<string, unknown>>;
};

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const pdf = 'data:application/pdf;base64,JVBERi0xLjQK';
const image = 'data:image/png;base64,aGk=';
/** Not the lifetime of the marks that the service sets. */
const hour = { type: 'ephemeral', ttl: '1h' };
const breakpoint = { mode: 'explicit', ttl: '12h' };

export const dialectExamples: Readonly<Record<ApiDialectName, DialectExamples>> = {
  'openai-chat': {
    title: 'Chat Completions',
    own: 'openai-chat',
    fields: { ...chatFields, ...chatTools },
    body: {
      model: 'a/b',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'I look.' }], tool_calls: [call()] },
        { role: 'tool', tool_call_id: 'call_1', content: 'fine' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: 'Again' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', description: 'Of a city.', parameters: schema } }],
    },
    examples: {
      tool_choice: 'required',
      stream: false,
      'stream_options.include_usage': true,
      'stream_options.include_obfuscation': true,
      temperature: 0.5,
      top_p: 0.5,
      top_k: 5,
      max_tokens: 99,
      max_completion_tokens: 99,
      stop: ['END'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      parallel_tool_calls: false,
      user: 'ann',
      safety_identifier: 'ann',
      service_tier: 'auto',
      verbosity: 'low',
      prompt_cache_key: 'key',
      n: 1,
      toolset: null,
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 5: 1 },
      'modalities[]': new At('modalities', ['audio']),
      audio: { voice: 'x', format: 'wav' },
      web_search_options: {},
      metadata: { a: 'b' },
      moderation: { model: 'm' },
      prediction: { type: 'content', content: 'x' },
      store: true,
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      'messages[].content[].text': new At('messages[1].content[0].text', 'Hello'),
      'messages[].content[].refusal': new At('messages[2].content[0]', { type: 'refusal', refusal: 'Never.' }),
      'messages[].content[].image_url.url': new At('messages[1].content[1].image_url.url', 'data:image/png;base64,aGk2'),
      'messages[].content[].file': new At('messages[1].content[1]', { type: 'file', file: { filename: 'a.pdf', file_data: pdf } }),
      'messages[].content[].input_audio': new At('messages[1].content[1]', {
        type: 'input_audio',
        input_audio: { data: 'UklGRg==', format: 'wav' },
      }),
      'messages[].content[].video_url': new At('messages[1].content[1]', {
        type: 'video_url',
        video_url: { url: 'https://x.example/a.mp4' },
      }),
      'messages[].content[].audio_url': new At('messages[1].content[1]', {
        type: 'audio_url',
        audio_url: { url: 'https://x.example/a.wav' },
      }),
      'messages[].content[].image_url.detail': new At('messages[1].content[1].image_url.detail', 'high'),
      'messages[].refusal': new At('messages[4].refusal', 'Not at all.'),
      'messages[].tool_calls[].index': new At('messages[2].tool_calls[0].index', 0),
      'messages[].function_call': new At('messages[2].function_call', { name: 'f', arguments: '{}' }),
      'messages[].reasoning_content': new At('messages[2].reasoning_content', 'Hm.'),
      'messages[].reasoning': new At('messages[2].reasoning', 'Hm.'),
      'messages[].reasoning_text': new At('messages[2].reasoning_text', 'Hm.'),
      'messages[].content[].thinking': new At('messages[2].content[0]', { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }),
      'messages[].thinking_blocks': new At('messages[2].thinking_blocks', [{ type: 'thinking', thinking: 'Hm.', signature: 's' }]),
      'messages[].reasoning_details': new At('messages[2].reasoning_details', [{ type: 'reasoning.encrypted', data: 'x', index: 0 }]),
      'messages[].reasoning_opaque': new At('messages[2].reasoning_opaque', 'x'),
      'messages[].extra_content': new At('messages[2].extra_content', { google: { thought_signature: 'x' } }),
      'messages[].provider_specific_fields': new At('messages[2].provider_specific_fields', { thought_signatures: ['x'] }),
      'messages[].tool_calls[].extra_content': new At('messages[2].tool_calls[0].extra_content', { google: { thought_signature: 'x' } }),
      'messages[].tool_calls[].provider_specific_fields': new At('messages[2].tool_calls[0].provider_specific_fields', {
        thought_signature: 'x',
      }),
      'messages[].name': new At('messages[1].name', 'ann'),
      'messages[].audio': new At('messages[2].audio', { id: 'a' }),
      'messages[].annotations': new At('messages[2].annotations', [{ type: 'url_citation' }]),
      cache_control: hour,
      'messages[].cache_control': hour,
      'messages[].content[].cache_control': new At('messages[1].content[0].cache_control', hour),
      'messages[].content[].prompt_cache_breakpoint': new At('messages[1].content[0].prompt_cache_breakpoint', breakpoint),
      'messages[].tool_calls[].cache_control': new At('messages[2].tool_calls[0].cache_control', hour),
      'tools[].cache_control': hour,
      'tools[].function.cache_control': hour,
      'tools[].function.description': 'Of a town.',
      'tools[].function.strict': true,
      unheard_of: 1,
      ...kindExamples['openai-chat'],
    },
  },
  'openai-responses': {
    title: 'Responses',
    own: 'openai-responses',
    fields: { ...responsesFields, ...responsesTools },
    body: {
      model: 'a/b',
      instructions: 'Be brief.',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hi' },
            { type: 'input_image', image_url: image },
          ],
        },
        { type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'fine' }] },
        { type: 'message', role: 'user', content: 'Again' },
      ],
      tools: [{ type: 'function', name: 'weather', description: 'Of a city.', parameters: schema }],
    },
    examples: {
      tool_choice: 'required',
      stream: false,
      store: false,
      previous_response_id: null,
      toolset: null,
      'include[]': new At('include', ['web_search_call.results']),
      'stream_options.include_obfuscation': true,
      temperature: 0.5,
      top_p: 0.5,
      max_output_tokens: 99,
      'reasoning.effort': 'high',
      'reasoning.summary': 'detailed',
      'reasoning.generate_summary': 'detailed',
      'reasoning.context': 'all_turns',
      'reasoning.mode': 'pro',
      'text.format': { type: 'json_schema', name: 'answer', schema, strict: true },
      'text.verbosity': 'low',
      parallel_tool_calls: false,
      user: 'ann',
      safety_identifier: 'ann',
      service_tier: 'auto',
      metadata: { a: 'b' },
      prompt_cache_key: 'key',
      background: true,
      conversation: toConversationId('ab'.repeat(32)),
      presence_penalty: 0.5,
      frequency_penalty: 0.5,
      prompt: { id: 'p' },
      top_logprobs: 2,
      access_programs: { cyber: 'standard' },
      context_management: [{ type: 'compaction' }],
      image: { context_compression: 'auto' },
      max_tool_calls: 3,
      moderation: { model: 'm' },
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      truncation: 'auto',
      'input[].namespace': new At('input[1].namespace', 'functions'),
      'input[].input': new At('input[1]', { type: 'custom_tool_call', call_id: 'call_1', name: 'weather', input: 'x' }),
      'input[].approval_request_id': kindExamples['openai-responses']['input[].type=mcp_approval_response'],
      'input[].approve': kindExamples['openai-responses']['input[].type=mcp_approval_response'],
      'input[].server_label': kindExamples['openai-responses']['input[].type=mcp_approval_request'],
      'input[].reason': new At('input[0].reason', 'Not now'),
      'input[].summary': kindExamples['openai-responses']['input[].type=reasoning'],
      'input[].encrypted_content': new At('input[3]', { type: 'reasoning', summary: [], encrypted_content: 'x' }),
      'input[].content[].text': 'Hello',
      'input[].content[].refusal': new At('input[3]', { type: 'message', role: 'user', content: [{ type: 'refusal', refusal: 'x' }] }),
      'input[].output[].refusal': kindExamples['openai-responses']['input[].output[].type=refusal'],
      'input[].content[].image_url': new At('input[0].content[1].image_url', 'data:image/png;base64,aGk2'),
      'input[].output[].text': new At('input[2].output[0].text', 'good'),
      'input[].output[].image_url': new At('input[2].output', [{ type: 'input_image', image_url: image }]),
      'input[].content[].filename': new At('input[0].content[1]', { type: 'input_file', filename: 'a.pdf', file_data: pdf }),
      'input[].content[].file_data': new At('input[0].content[1]', { type: 'input_file', file_data: pdf }),
      'input[].content[].file_url': new At('input[0].content[1]', { type: 'input_file', file_url: 'https://x.example/a.pdf' }),
      'input[].content[].input_audio': new At('input[0].content[1]', {
        type: 'input_audio',
        input_audio: { data: 'UklGRg==', format: 'wav' },
      }),
      'input[].output[].filename': new At('input[2].output[0]', { type: 'input_file', filename: 'a.pdf', file_data: pdf }),
      'input[].output[].file_data': new At('input[2].output[0]', { type: 'input_file', file_data: pdf }),
      'input[].output[].file_url': new At('input[2].output[0]', { type: 'input_file', file_url: 'https://x.example/a.pdf' }),
      'input[].output[].input_audio': new At('input[2].output[0]', {
        type: 'input_audio',
        input_audio: { data: 'UklGRg==', format: 'wav' },
      }),
      'input[].content[].detail': new At('input[0].content[1].detail', 'high'),
      'input[].output[].detail': new At('input[2].output', [{ type: 'input_image', image_url: image, detail: 'high' }]),
      'input[].action': new At('input[1]', {
        ...{ type: 'local_shell_call', id: 'lsh_1', call_id: 'call_1', status: 'completed' },
        action: { type: 'exec', command: ['ls'], env: {} },
      }),
      'input[].operation': new At('input[1]', {
        ...{ type: 'apply_patch_call', id: 'apc_1', call_id: 'call_1', status: 'completed' },
        operation: { type: 'delete_file', path: 'a.txt' },
      }),
      'input[].execution': new At('input[1]', {
        type: 'tool_search_call',
        execution: 'client',
        call_id: 'call_1',
        arguments: { query: 'x' },
      }),
      'input[].tools': new At('input[3]', {
        ...{ type: 'additional_tools', role: 'developer' },
        tools: [{ type: 'function', name: 'more', parameters: schema }],
      }),
      'input[].output[].stdout': new At('input[2]', shellOutput({ stdout: 'a.txt' })),
      'input[].output[].stderr': new At('input[2]', shellOutput({ stderr: 'no' })),
      'input[].output[].outcome': new At('input[2]', shellOutput({ outcome: { type: 'exit', exit_code: 1 } })),
      'input[].environment.type': new At('input[1]', {
        ...{ type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] }, environment: { type: 'container_reference' } },
      }),
      'input[].max_output_length': new At('input[2].max_output_length', 9),
      'tools[].execution': new At('tools[1]', { type: 'tool_search', execution: 'client', description: 'Finds.', parameters: schema }),
      'tools[].environment': new At('tools[1]', { type: 'shell', environment: { type: 'local' } }),
      'input[].phase': 'commentary',
      'input[].caller': new At('input[1].caller', { type: 'direct' }),
      'input[].content[].annotations': [{ type: 'url_citation' }],
      'input[].content[].logprobs': [{}],
      'input[].content[].prompt_cache_breakpoint': breakpoint,
      'input[].output[].prompt_cache_breakpoint': new At('input[2].output[0].prompt_cache_breakpoint', breakpoint),
      cache_control: hour,
      'input[].content[].cache_control': hour,
      'input[].output[].cache_control': new At('input[2].output[0].cache_control', hour),
      'tools[].cache_control': hour,
      'tools[].description': 'Of a town.',
      'tools[].format': new At('tools[0]', {
        type: 'custom',
        name: 'weather',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      }),
      'tools[].tools': new At('tools[0]', {
        type: 'namespace',
        name: 'n',
        tools: [{ type: 'function', name: 'weather', parameters: schema }],
      }),
      'tools[].strict': true,
      'tools[].async': true,
      'tools[].allowed_callers': ['direct'],
      'tools[].output_schema': schema,
      'tools[].defer_loading': true,
      unheard_of: 1,
      ...kindExamples['openai-responses'],
    },
  },
  'anthropic-messages': {
    title: 'Messages',
    own: 'anthropic',
    fields: { ...messagesFields, ...messagesTools },
    body: {
      model: 'a/b',
      max_tokens: 2000,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'fine' }] }] },
      ],
      tools: [{ name: 'weather', description: 'Of a city.', input_schema: schema }],
    },
    examples: {
      max_tokens: 999,
      tool_choice: { type: 'any' },
      'tool_choice.type': new At('tool_choice', { type: 'any' }),
      'tool_choice.name': new At('tool_choice', { type: 'tool', name: 'weather' }),
      'tool_choice.disable_parallel_tool_use': new At('tool_choice', { type: 'auto', disable_parallel_tool_use: true }),
      stream: false,
      toolset: null,
      temperature: 0.5,
      top_p: 0.5,
      top_k: 5,
      stop_sequences: ['END'],
      'thinking.type': new At('thinking', { type: 'adaptive' }),
      'thinking.budget_tokens': new At('thinking', { type: 'enabled', budget_tokens: 1024 }),
      'thinking.display': new At('thinking', { type: 'adaptive', display: 'omitted' }),
      'output_config.effort': 'high',
      'output_config.format': { type: 'json_schema', schema },
      output_format: { type: 'json_schema', schema },
      'metadata.user_id': 'ann',
      service_tier: 'auto',
      mcp_servers: [{ type: 'url', name: 'x', url: 'https://x.example' }],
      inference_geo: 'us',
      container: 'c',
      context_management: { edits: [] },
      diagnostics: { x: 1 },
      compaction: { x: 1 },
      thread: { x: 1 },
      'output_config.task_budget': { type: 'tokens', total: 1 },
      fallbacks: [{ model: 'x' }],
      fallback_credit_token: 'x',
      billing_policy: { x: 1 },
      user_profile_id: 'x',
      workspace_id: 'x',
      betas: ['x'],
      speed: 'fast',
      cache_control: hour,
      'system[].cache_control': hour,
      'tools[].cache_control': hour,
      'messages[].content[].cache_control': hour,
      'messages[].content[].content[].cache_control': new At('messages[2].content[0].content[0].cache_control', hour),
      'system[].text': 'Be long.',
      'system[].citations': [{ type: 'x' }],
      'messages[].content[].text': 'Hello',
      'messages[].content[].source': new At('messages[0].content[1].source', { type: 'base64', media_type: 'image/png', data: 'aGk2' }),
      'messages[].content[].title': new At('messages[0].content[1]', { type: 'document', title: 'T', source: { type: 'text', data: 'x' } }),
      'messages[].content[].context': new At('messages[0].content[1]', {
        type: 'document',
        context: 'C',
        source: { type: 'text', data: 'x' },
      }),
      'messages[].content[].is_error': new At('messages[2].content[0].is_error', true),
      'messages[].content[].thinking': new At('messages[1].content[0]', { type: 'thinking', thinking: 'Hm.', signature: 'x' }),
      'messages[].content[].signature': new At('messages[1].content[0]', { type: 'thinking', thinking: 'Hm.', signature: 'x' }),
      'messages[].content[].data': new At(
        'messages[1].content[0]',
        { type: 'redacted_thinking', data: 'x' },
        { name: 'messages[].content[].redacted_thinking' },
      ),
      'messages[].content[].content[].text': new At('messages[2].content[0].content[0].text', 'good'),
      'messages[].content[].content[].source': new At('messages[2].content[0].content[0]', {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'aGk=' },
      }),
      'messages[].content[].content[].title': new At('messages[2].content[0].content[0]', search()),
      'messages[].content[].content[].context': new At('messages[2].content[0].content[0]', search()),
      'messages[].content[].content[].content': new At('messages[2].content[0].content[0]', search()),
      'messages[].content[].content[].tool_name': new At('messages[2].content[0].content[0]', {
        type: 'tool_reference',
        tool_name: 'weather',
      }),
      'messages[].content[].citations.enabled': new At('messages[0].content[1]', {
        type: 'document',
        citations: { enabled: true },
        source: { type: 'text', data: 'x' },
      }),
      'messages[].content[].content[].citations.enabled': new At('messages[2].content[0].content[0]', {
        type: 'document',
        citations: { enabled: true },
        source: { type: 'text', data: 'x' },
      }),
      'messages[].content[].citations': [{ type: 'x' }],
      'messages[].content[].transformations': new At('messages[0].content[1].transformations', { x: 1 }),
      'messages[].content[].toolset_name': new At('messages[1].content[1].toolset_name', 'x'),
      'messages[].content[].content[].citations': new At('messages[2].content[0].content[0].citations', [{ type: 'x' }]),
      'messages[].content[].content[].transformations': new At('messages[2].content[0].content[0].transformations', { x: 1 }),
      'messages[].content[].caller': new At('messages[1].content[1].caller', { type: 'direct' }),
      'tools[].type': 'custom',
      'tools[].description': 'Of a town.',
      'tools[].strict': true,
      'tools[].allowed_callers': ['direct'],
      'tools[].input_examples': [{ city: 'Bern' }],
      'tools[].eager_input_streaming': true,
      'tools[].defer_loading': true,
      unheard_of: 1,
      ...kindExamples['anthropic-messages'],
    },
  },
};

function shellOutput(fields: Json): Json {
  return { type: 'shell_call_output', call_id: 'call_1', output: [{ stdout: '', stderr: '', ...fields }] };
}

function call(): Json {
  return { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
}

function search(): Json {
  return { type: 'search_result', source: 'x', title: 'T', content: [{ type: 'text', text: 'x' }] };
}

/** Whether the values of these fields are the same to a model, or cannot stand in a request that is translated. */
export const unseen: ReadonlySet<string> = new Set([
  ...['messages[].tool_calls[].index', 'input[].namespace', 'tools[].type'],
  // A model that does not take the file gets a note in its place, which is named.
  ...['file', 'input_audio', 'video_url', 'audio_url'].map((name) => `messages[].content[].${name}`),
  ...['filename', 'file_data', 'file_url', 'input_audio'].flatMap((name) => [`input[].content[].${name}`, `input[].output[].${name}`]),
]);
