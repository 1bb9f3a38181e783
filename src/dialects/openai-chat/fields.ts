/** The fields of a Chat Completions request (types of openai 7.57, `ChatCompletionCreateParamsBase`), and what becomes of each. */
import { carried, carriedOrRefused, createKindReader, dropped, each, type Fields, read, refusedField, served } from '../fields.ts';

const onlyHere = 'is supported only by a provider of this API: remove it';
const ofService = 'only a provider of this API has it';
const ofMessage = 'messages have no place for it in other APIs';
const onlyFunctions = 'tools are not supported here: only functions are';
const message = 'messages[].';
const part = `${message}content[].`;
const partKind = `${part}type=`;
const call = `${message}tool_calls[].`;

export const chatFields: Fields = {
  ...each('model messages tools', read),
  ...each('stream stream_options.include_usage toolset n', served),
  'stream_options.include_obfuscation': dropped('chunks are not padded', false),

  temperature: carried('temperature'),
  top_p: carried('topP'),
  top_k: carried('topK'),
  ...each('max_tokens max_completion_tokens', carried('maxOutputTokens')),
  stop: carried('stop'),
  seed: carried('seed'),
  frequency_penalty: carried('frequencyPenalty'),
  presence_penalty: carried('presencePenalty'),
  reasoning_effort: carried('reasoningEffort'),
  ...each('response_format response_format.type=json_schema', carried('responseFormat')),
  'response_format.type=json_object': carried('jsonMode'),
  'response_format.type=text': served,
  'response_format.type=*': carried('anyFormat'),
  parallel_tool_calls: carried('parallelToolCalls'),
  ...each('user safety_identifier', carried('user')),
  service_tier: carried('serviceTier'),
  verbosity: carried('verbosity'),
  prompt_cache_key: carried('promptCacheKey'),
  prompt_cache_retention: carried('promptCacheRetention'),
  prompt_cache_options: carried('promptCacheOptions'),

  functions: refusedField('are deprecated: send tools'),
  function_call: refusedField('is deprecated: send tool_choice', 'none', 'auto'),
  logprobs: refusedField('are supported only by a provider of this API, without server tools and session', false),
  top_logprobs: dropped('belongs to logprobs'),
  logit_bias: refusedField(onlyHere, {}),
  'modalities[]': refusedField('must be ["text"], because only text answers are supported', 'text'),
  audio: dropped('only text answers are supported'),
  web_search_options: carriedOrRefused('webSearch'),
  metadata: carried('metadata'),
  ...each('moderation prediction store', dropped(ofService, false)),

  ...each('role content refusal tool_call_id tool_calls', read, message),
  'messages[].function_call': refusedField('is deprecated: send tool_calls'),
  // Of OpenAI; of OpenRouter and LiteLLM.
  ...each('content[].prompt_cache_breakpoint cache_control content[].cache_control tool_calls[].cache_control', carried('cache'), message),
  cache_control: carried('cache'),
  ...each('tools[].cache_control tools[].function.cache_control', carried('toolCache')),
  ...each('reasoning_content reasoning reasoning_text', carried('reasoning'), message),
  ...each('thinking_blocks', carried('signedReasoning'), message),
  ...each('reasoning_details reasoning_opaque extra_content provider_specific_fields', carried('chatFields'), message),
  ...each('name audio annotations', dropped(ofMessage), message),
  ...each('id type type=function function index', read, call),
  ...each('extra_content provider_specific_fields', carried('callSignature'), call),
  ...each('type=*', refusedField('calls are not supported: only function calls are'), call),
  ...each('thinking type=thinking', carried('reasoning'), part),

  ...each('type text refusal image_url file input_audio video_url audio_url image_url.url', read, part),
  ...each('image_url.detail', dropped('images have no detail in other APIs', 'auto'), part),
  ...each('text refusal input_text output_text file~of~text', read, partKind),
  ...each('image_url', carried('image'), partKind),
  ...each('image_url~by~URL', carried('imageUrl'), partKind),
  ...each('file', carried('pdf'), partKind),
  ...each('file~by~URL', carried('pdfUrl'), partKind),
  ...each('file~of~another~type', dropped('the model is told its type and name'), partKind),
  ...each('reasoning', dropped('answers are sent back as their text'), partKind),
  ...each('file~by~id', refusedField('stored files are only for their own provider'), partKind),
  ...each('input_audio', carried('audio'), partKind),
  ...each('audio_url', carried('audioUrl'), partKind),
  ...each('video_url', carried('video'), partKind),
  ...each('video_url~by~URL', carried('videoUrl'), partKind),
  ...each('*', refusedField('parts are not supported: send text, image_url, file or input_audio'), partKind),

  ...each('type function function.name function.description function.parameters', read, 'tools[].'),
  'tools[].function.strict': carried('strict'),
  'tool_choice.type=*': refusedField(onlyFunctions),
  ...each('tool_choice tool_choice.type=function', carried('toolChoice')),
  'tool_choice.type=allowed_tools': served,
};

export const chatTools: Fields = { 'tools[].type=function': read, 'tools[].type=*': refusedField(onlyFunctions) };
export const chatTool = createKindReader(chatTools);
