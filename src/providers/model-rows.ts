/** Profile rows of models on any server: mostly open weights, whose chat templates and abilities go with them. */
import type { ProfileRow } from './adapter.ts';

/** Models, on any server. */
export const modelRows: readonly ProfileRow[] = [
  {
    model: /(^|\/)(open-)?(mistral|ministral|magistral|devstral|codestral|mixtral|pixtral)/i,
    because:
      "the chat template checks that ids have nine letters or digits (anomalyco/opencode#1680); \"Unexpected role 'user' after role 'tool'\" (NousResearch/hermes-agent#20154, aliou/pi-neuralwatt#12)",
    profile: { callIdLength: 9, assistantAfterToolResult: true },
  },
  {
    model: /deepseek-(reasoner|v3\.[2-9]|v[4-9]|flash|pro)/i,
    because:
      'the reasoning_content of turns with tool calls "must be fully passed back to the API in all subsequent requests" (guide "Thinking Mode"; NousResearch/hermes-agent#15228)',
    profile: { echoReasoning: true },
  },
  {
    model: /deepseek-(reasoner|v[4-9]|flash|pro)/i,
    because: '"Thinking mode does not support this tool_choice" (deepseek-ai/DeepSeek-V3#1376; behind gateways can1357/oh-my-pi#7315)',
    profile: { toolChoice: 'auto' },
  },
  {
    model: /kimi-k2.*thinking|kimi-k2\.[5-9]|kimi-k[3-9]|kimi-for-coding/i,
    because: '"thinking is enabled but reasoning_content is missing in assistant tool call message" (anomalyco/opencode#10996)',
    profile: { echoReasoning: true },
  },
  {
    model:
      /deepseek-(r1|reasoner)|r1-1776|qwq|qwen-?(3|[4-9])(?!.*(instruct|coder))|glm-(z1|4\.[5-9]|[5-9])|minimax-m\d|sonar-reasoning|magistral|kimi-k2.*thinking/i,
    because:
      'servers without a parser leave the reasoning in the text (guides "Reasoning Outputs" of vLLM, "Reasoning" of Fireworks), and MiniMax’s own does so ("OpenAI API")',
    profile: { thinkTags: 'begin' },
  },
  {
    model:
      /exaone-deep|phi-4.*reasoning|smollm3|nemotron|hunyuan|cogito|deephermes|openthinker|skywork-or1|ernie.*thinking|seed-oss|mimo-/i,
    because: 'reasons in `<think>` (model cards)',
    profile: { thinkTags: 'begin' },
  },
  {
    model: /kimi-k2/i,
    because:
      'calls go wrong unless ids keep the form functions.<name>:<index> (MoonshotAI/kimi-code#2503; recorded: kimi-k2.5-ids-functions-add-0)',
    profile: { keepCallIds: true },
  },
  {
    model: /kimi-k2\.[5-9]|kimi-k[3-9]/i,
    because:
      'sees images of the user, not of tools (vllm-project/vllm#43203); Moonshot’s own client lays them behind (MoonshotAI/kimi-code#626)',
    profile: { imagesInResults: true },
  },
  {
    kind: 'openai-compatible',
    model: /(^|\/)(gpt-4o|gpt-4\.1|gpt-[5-9]|o[134]($|-(?!mini|preview))|o4|chatgpt-4o|claude-|gemini-[2-9])/i,
    because: 'sees images and reads PDF on any server (models overviews of OpenAI, Anthropic and Google)',
    profile: { imagesInResults: true, files: ['pdf'] },
  },
  {
    kind: 'openai-compatible',
    model: /(^|\/)gemini-[2-9]/i,
    because: 'hears, too (models overview of Google)',
    profile: { files: ['pdf', 'audio'] },
  },
  ...[
    /qwen[\w.-]*-(vl|omni)|qvq|qwen-?(3\.[5-9]|[4-9])|pixtral|mistral-(small|medium|large)-(latest|3|25\d\d|26)|ministral-(3|[\w-]*2512)/i,
    /llama-?4|llama-?3\.2-(11b|90b)|llama[\w.-]*vision|llava|grok-(vision|2-vision|[4-9])|glm-[\d.]+v|gemma-?3(?!n?[-:](1b|270m))|gemma-?4/i,
    /internvl|minicpm-[vo]|cogvlm|kimi-vl|deepseek-(vl|ocr)|phi-[\w.-]*(vision|multimodal)|molmo|idefics|smolvlm|moondream|ui-tars/i,
    /aya-vision|command-a-vision|granite-[\w.-]*vision|nova-(lite|pro|premier)|step-(1v|1o|3)|ernie-[\w.-]*vl|seed-?[12]\.|nemotron[\w.-]*vl/i,
    /[-_.](vision|vl|multimodal)([-_.:]|$)/i,
  ].map(
    (model): ProfileRow => ({
      kind: 'openai-compatible',
      model,
      because: 'sees images (model cards; lists of models with image input at OpenRouter and Hugging Face)',
      profile: { imagesInResults: true },
    }),
  ),
  {
    kind: 'openai-compatible',
    model:
      /deepseek-(chat|reasoner|coder|r1|v[23])|gpt-oss|qwen[\w.-]*coder|qwq|glm-(4\.[567]|5)(?![\w.]*v)|kimi-k2(?!\.[5-9])|minimax-m[12]|llama-?3\.[13]-|mixtral|codestral|grok-code/i,
    because: 'text only (model cards): an image is a 400 on each later request of its conversation',
    profile: { images: false },
  },
  {
    model: /qwen-?(3\.[5-9]|[4-9])/i,
    because: 'its chat template raises "System message must be at the beginning." (QwenLM/Qwen3.8#244, vllm-project/vllm#41114)',
    profile: { systemPlace: 'first' },
  },
  {
    kind: 'openai-compatible',
    model: /(^|\/)(gpt-(?!oss|neo|j-)|chatgpt-|o\d($|-))/i,
    because:
      'OpenAI’s models accept the same schemas behind OpenRouter, Vercel, GitHub Models and other gateways (guide "Function calling")',
    profile: { schemas: 'openai', strictTools: true },
  },
  {
    kind: 'openai-compatible',
    model: /(^|[/.])claude-/i,
    because: 'Claude refuses alternatives at the top of a tool’s schema behind any gateway (anthropics/claude-code#5878)',
    profile: { schemas: 'anthropic' },
  },
  {
    kind: 'openai-compatible',
    model: /(^|[^a-z])claude-/i,
    because:
      'caches only what cache_control marks; gateways take it in content parts and tools (guides "Prompt caching" of OpenRouter, LiteLLM, Portkey, Envoy AI Gateway and TrueFoundry)',
    profile: { cacheMarks: 'automatic' },
  },
  {
    kind: 'openai-compatible',
    model: /(^|\/)gemma-?2?-(2b|7b|9b|27b)/i,
    because: 'no tool format, and "System role not supported" in its chat template (model cards of Gemma 1 and 2)',
    profile: { protocol: 'text', systemInUser: true },
  },
  {
    kind: 'openai-compatible',
    model: /(^|\/)(meta-)?(codellama-|llama-?2-|llama-?3-(8b|70b)(?!.*tool))/i,
    because: 'tools came with Llama 3.1 (model cards; "llama3 does not support tools", ollama/ollama#5793)',
    profile: { protocol: 'text' },
  },
  {
    model: /^@cf\//,
    because: 'Workers AI models refuse content null behind any gateway (changelog of cloudflare/ai)',
    profile: { contentNeverNull: true },
  },
];
