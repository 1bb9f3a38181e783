/** The fields of a Responses request (types of openai 7.57, `ResponseCreateParamsBase`), and what becomes of each. */
import { carried, createKindReader, dropped, each, type Fields, optional, read, refusedField, served } from '../fields.ts';

const ofService = 'only a provider of this API has it';
const ofItem = 'items have no place for it in other APIs';
export const ofProvider = 'a provider’s own work: the answer has its result';
const noUrl = 'results have no files by URL: the model is told the URL';
const byId = 'stored files are only for their own provider: send the file itself or its URL';
const item = 'input[].';
const itemKind = `${item}type=`;
const tool = 'tools[].';
const ofTool = 'tools have no place for it in other APIs';

export const responsesFields: Fields = {
  ...each('model input instructions tools', read),
  ...each('stream store previous_response_id toolset background conversation', served),
  'include[]': dropped('only a provider of this API has it', 'reasoning.encrypted_content', 'web_search_call.action.sources'),
  'stream_options.include_obfuscation': dropped('events are not padded', false),

  temperature: carried('temperature'),
  top_p: carried('topP'),
  max_output_tokens: carried('maxOutputTokens'),
  presence_penalty: carried('presencePenalty'),
  frequency_penalty: carried('frequencyPenalty'),
  'reasoning.effort': carried('reasoningEffort'),
  ...each('reasoning.summary reasoning.generate_summary', dropped('what the model shows of its reasoning is returned as it comes', 'auto')),
  ...each('reasoning.context reasoning.mode', dropped(ofService)),
  ...each('text.format text.format.type=json_schema', carried('responseFormat')),
  'text.format.type=json_object': carried('jsonMode'),
  'text.format.type=text': served,
  'text.format.type=*': carried('anyFormat'),
  'text.verbosity': carried('verbosity'),
  parallel_tool_calls: carried('parallelToolCalls'),
  ...each('user safety_identifier', carried('user')),
  service_tier: carried('serviceTier'),
  metadata: carried('metadata'),
  prompt_cache_key: carried('promptCacheKey'),
  prompt_cache_retention: carried('promptCacheRetention'),
  prompt_cache_options: carried('promptCacheOptions'),

  prompt: refusedField('prompt templates are not supported: send instructions and input'),
  top_logprobs: dropped(ofService),
  ...each('access_programs context_management image max_tool_calls moderation', dropped(ofService)),
  truncation: dropped('a conversation that is too long is refused', 'disabled'),

  // Of OpenRouter and LiteLLM.
  cache_control: carried('cache'),
  'tools[].cache_control': carried('toolCache'),
  ...each('type role content id status call_id name namespace arguments input output action operation execution tools', read, item),
  ...each('approval_request_id approve server_label', read, item),
  ...each('reason', served, item),
  ...each('summary type=reasoning content[].type=reasoning_text content[].type=summary_text', carried('reasoning'), item),
  ...each('encrypted_content', carried('token'), item),
  ...each('output[].stdout output[].stderr output[].outcome', read, item),
  ...each('environment.type', dropped(ofItem, 'local'), item),
  ...each('max_output_length phase caller', dropped(ofItem), item),
  ...each('content[].annotations content[].logprobs', dropped('answers are sent back as their text'), item),
  ...partFields(`${item}content[].`),
  ...partFields(`${item}output[].`),
  ...each('output[].type=input_image~by~URL output[].type=input_file~by~URL', dropped(noUrl), item),
  ...each('message additional_tools', read, itemKind),
  ...each('function_call custom_tool_call local_shell_call shell_call apply_patch_call', read, itemKind),
  ...each('function_call_output custom_tool_call_output local_shell_call_output shell_call_output', read, itemKind),
  ...each('apply_patch_call_output tool_search_call tool_search_output', read, itemKind),
  ...each('tool_search_call~by~the~provider tool_search_output~by~the~provider', dropped(ofProvider), itemKind),
  ...each('web_search_call file_search_call code_interpreter_call mcp_call mcp_list_tools', dropped(ofProvider), itemKind),
  ...each('compaction mcp_approval_request mcp_approval_response', served, itemKind),
  ...each('image_generation_call', dropped('models are not sent their images again: send one as an image of a message'), itemKind),
  ...each(
    'item_reference',
    refusedField(
      'items are not stored here: send the item itself (some clients do so with store: false), or refer to its answer by previous_response_id',
    ),
    itemKind,
  ),
  ...each('*', refusedField('items are not supported: only the provider that created them understands them, so remove them'), itemKind),

  ...each('type name description parameters format tools execution environment', read, tool),
  ...each('strict', carried('strict'), tool),
  // Of a web search.
  ...each('filters', carried('allowedDomains'), tool),
  ...each('external_web_access', carried('offline'), tool),
  ...each('user_location', carried('location'), tool),
  ...each('search_context_size', carried('contextSize'), tool),
  ...each('async allowed_callers output_schema', dropped(ofTool), tool),
  ...each('defer_loading', dropped('all tools are loaded', false), tool),
  ...each('tool_choice', carried('toolChoice')),
  ...each('function custom local_shell shell apply_patch tool_search', carried('toolChoice'), 'tool_choice.type='),
  'tool_choice.type=allowed_tools': served,
  'tool_choice.type=*': refusedField('tools are not supported here: name a function, a custom tool or allowed_tools'),
};

/** Of the content of a message, and of the output of a call. */
function partFields(place: string): Fields {
  return {
    ...each('type text refusal image_url filename file_data file_url input_audio', read, place),
    ...each('detail', dropped('images have no detail in other APIs', 'auto'), place),
    ...each('prompt_cache_breakpoint cache_control', carried('cache'), place),
    ...each('input_text output_text text refusal input_file~of~text', read, `${place}type=`),
    ...each('input_image', carried('image'), `${place}type=`),
    ...each('input_image~by~URL', carried('imageUrl'), `${place}type=`),
    ...each('input_file', carried('pdf'), `${place}type=`),
    ...each('input_file~by~URL', carried('pdfUrl'), `${place}type=`),
    ...each('input_file~of~another~type', dropped('the model is told its type and name'), `${place}type=`),
    ...each('input_image~by~id input_file~by~id', refusedField(byId), `${place}type=`),
    ...each('input_audio', carried('audio'), `${place}type=`),
    ...each('*', refusedField('parts are not supported: send input_text, input_image, input_file or input_audio'), `${place}type=`),
  };
}

const byProvider = 'tools are not supported here: send "function", "custom" or a tool that you run';
const unneeded = 'the provider has no such tool';

/** Images of the provider: agents send them to all providers. All tools are loaded here, so that none is searched for. */
export const responsesTools: Fields = {
  ...each('function custom namespace local_shell shell apply_patch tool_search', read, 'tools[].type='),
  'tools[].type=web_search*': carried('webSearch'),
  ...each('tool_search~by~the~provider image_generation*', optional(unneeded, byProvider), 'tools[].type='),
  ...each('shell~by~the~provider *', refusedField(byProvider), 'tools[].type='),
};
export const responsesTool = createKindReader(responsesTools);
