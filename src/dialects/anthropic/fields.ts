/** The fields of a Messages request (types of @anthropic-ai/sdk 1.12, stable and beta `MessageCreateParamsBase`), and what becomes of each. */
import { carried, createKindReader, dropped, each, type Fields, optional, read, refusedField, served } from '../fields.ts';

const ofService = 'only a provider of this API has it';
const ofBlock = 'content has no place for it in other APIs';
const ofTool = 'tools have no place for it in other APIs';
const noUrl = 'results have no files by URL: the model is told the URL';
const byId = 'stored files are only for their own provider';
const block = 'messages[].content[].';
const tool = 'tools[].';

export const messagesFields: Fields = {
  ...each('model messages system tools', read),
  ...each('stream toolset', served),

  max_tokens: carried('maxOutputTokens'),
  temperature: carried('temperature'),
  top_p: carried('topP'),
  top_k: carried('topK'),
  stop_sequences: carried('stop'),
  ...each('thinking.type output_config.effort', carried('reasoningEffort')),
  'thinking.budget_tokens': carried('reasoningBudget'),
  ...each('thinking.type=enabled thinking.type=adaptive thinking.type=disabled', carried('reasoningEffort')),
  'thinking.type=*': dropped('only a provider of this API has it'),
  'thinking.display': dropped('what the model shows of its thinking is returned as it comes', 'summarized'),
  ...each('output_config.format output_format', carried('responseFormat')),
  ...each('output_config.format.type=json_schema output_format.type=json_schema', carried('responseFormat')),
  ...each('output_config.format.type=* output_format.type=*', dropped('only a provider of this API has it')),
  ...each('tool_choice tool_choice.type tool_choice.name', carried('toolChoice')),
  'tool_choice.disable_parallel_tool_use': carried('parallelToolCalls', false),
  'metadata.user_id': carried('user'),
  service_tier: carried('serviceTier'),

  mcp_servers: refusedField('must be empty: only a provider of this API supports them, without server tools and session'),
  inference_geo: refusedField('is a promise that only a provider of this API can keep: remove it'),
  ...each('container context_management diagnostics compaction thread output_config.task_budget', dropped(ofService)),
  ...each('fallbacks fallback_credit_token billing_policy user_profile_id workspace_id betas', dropped(ofService)),
  speed: dropped(ofService, 'standard'),
  ...each('cache_control system[].cache_control', carried('cache')),
  'tools[].cache_control': carried('toolCache'),

  ...each('system[].type system[].text messages[].role messages[].content', read),
  'system[].citations': dropped(ofBlock),
  ...each('id name input tool_use_id content is_error type=tool_use type=tool_result', read, block),
  ...each('thinking type=thinking', carried('signedReasoning'), block),
  ...each('signature data', carried('signature'), block),
  ...each('toolset_name caller', dropped(ofBlock), block),
  ...blockFields(block),
  ...blockFields(`${block}content[].`),
  ...each('content[].content content[].tool_name content[].type=tool_reference', read, block),
  ...each('citations.enabled', carried('citations'), block),
  ...each('content[].citations.enabled', dropped('files of results are not cited', false), block),
  ...each('content[].type=image~by~URL content[].type=document~by~URL', dropped(noUrl), block),
  ...each('redacted_thinking', carried('signature'), `${block}type=`),
  ...each('compaction server_tool_use mcp_tool_use', carried('anthropicBlocks'), `${block}type=`),
  ...each(
    'mcp web_search web_fetch tool_search code_execution bash_code_execution text_editor_code_execution'.replaceAll(
      /\b( |$)/g,
      '_tool_result$1',
    ),
    carried('anthropicBlocks'),
    `${block}type=`,
  ),
  ...each('container_upload', refusedField(`blocks are not supported: ${byId}`), `${block}type=`),
  ...each('*', refusedField('blocks are not supported: send text, image, document or tool_result'), `${block}type=`),

  ...each('name type description input_schema', read, tool),
  ...each('strict', carried('strict', false), tool),
  // Of a web search.
  ...each('max_uses', carried('maxUses'), tool),
  ...each('allowed_domains', carried('allowedDomains'), tool),
  ...each('blocked_domains', carried('blockedDomains'), tool),
  ...each('user_location', carried('location'), tool),
  ...each('allowed_callers input_examples', dropped(ofTool), tool),
  ...each('eager_input_streaming', dropped(ofTool, false), tool),
  ...each('defer_loading', dropped('all tools are loaded', false), tool),
};

/** What a user and a tool say. */
function blockFields(place: string): Fields {
  return {
    ...each('type text source title context', read, place),
    ...each('cache_control', carried('cache'), place),
    // Of a text: what an answer quoted. Those of a document have paths of their own.
    ...each('citations transformations', dropped(ofBlock), place),
    ...each('text document~of~text document~of~blocks search_result', read, `${place}type=`),
    ...each('image', carried('image'), `${place}type=`),
    ...each('image~by~URL', carried('imageUrl'), `${place}type=`),
    ...each('document', carried('pdf'), `${place}type=`),
    ...each('document~by~URL', carried('pdfUrl'), `${place}type=`),
    ...each('image~by~id document~by~id', refusedField(byId), `${place}type=`),
  };
}

const ofProvider = 'tools are only for a provider of this API, without server tools and session: send tools without a type';
const unneeded = 'the provider has no such search';

/** Searches of the provider: agents send them to all providers. All tools are loaded here, so that none is searched for. */
export const messagesTools: Fields = {
  ...each('custom', read, 'tools[].type='),
  'tools[].type=web_search_*': carried('webSearch'),
  ...each('web_fetch_* tool_search_tool_*', optional(unneeded, ofProvider), 'tools[].type='),
  ...each('*', refusedField(ofProvider), 'tools[].type='),
};
export const messagesTool = createKindReader(messagesTools);
