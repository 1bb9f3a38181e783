/**
 * Published list prices of well-known models, in USD per million tokens, for providers without `prices` of their own. Taken from the price
 * pages of the providers and compared with the collections pydantic/genai-prices and models.dev (anomalyco/models.dev). A row is valid only
 * for the service of its host: the same model may have another price elsewhere. Prices that depend on the length of the prompt or on the
 * time of day are the lowest ones for the prompt, and the highest ones for the time. As of July 2026, of models that came later (GPT-5.6,
 * GPT-6, Claude Opus 5, Claude 5.5, Gemini 3.8) as of October 2026. Limits and abilities of the same models are in `model-table.ts`.
 */
type ListPrice = { input: number; output: number; cachedInput?: number; cacheWrite?: number; cacheWriteHour?: number; isListed: true };

/** Input, output, input read from the cache, input written to the cache. */
type Row = readonly [input: number, output: number, cachedInput?: number, cacheWrite?: number];

/** By host, then by the beginning of the model's name: the longest one that matches is used. */
const table: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'api.openai.com': {
    'gpt-3.5-turbo': [0.5, 1.5],
    'gpt-4-turbo': [10, 30],
    'gpt-4.1': [2, 8, 0.5],
    'gpt-4.1-mini': [0.4, 1.6, 0.1],
    'gpt-4.1-nano': [0.1, 0.4, 0.025],
    'gpt-4o': [2.5, 10, 1.25],
    'gpt-4o-mini': [0.15, 0.6, 0.075],
    'gpt-5': [1.25, 10, 0.125],
    'gpt-5-mini': [0.25, 2, 0.025],
    'gpt-5-nano': [0.05, 0.4, 0.005],
    'gpt-5-pro': [15, 120],
    'gpt-5.1': [1.25, 10, 0.125],
    'gpt-5.1-codex-mini': [0.25, 2, 0.025],
    o1: [15, 60, 7.5],
    'o1-mini': [1.1, 4.4, 0.55],
    'o1-pro': [150, 600],
    o3: [2, 8, 0.5],
    'o3-mini': [1.1, 4.4, 0.55],
    'o3-pro': [20, 80],
    'o4-mini': [1.1, 4.4, 0.275],
    'text-embedding-3-large': [0.13, 0],
    'text-embedding-3-small': [0.02, 0],
    'text-embedding-ada-002': [0.1, 0],
    'omni-moderation': [0, 0],
    'text-moderation': [0, 0],
    'text-moderation-stable': [0, 0],
    'gpt-5.2': [1.75, 14, 0.175],
    'gpt-5.2-pro': [21, 168],
    'gpt-5.3': [1.75, 14, 0.175],
    'gpt-5.4': [2.5, 15, 0.25],
    'gpt-5.4-mini': [0.75, 4.5, 0.075],
    'gpt-5.4-nano': [0.2, 1.25, 0.02],
    'gpt-5.4-pro': [30, 180],
    'gpt-5.5': [5, 30, 0.5],
    'gpt-5.5-pro': [30, 180],
    'gpt-5.6': [2, 10, 0.2, 2.5],
    'gpt-5.6-sol': [2, 10, 0.2, 2.5],
    'gpt-6-astra': [10, 50, 1, 12.5],
  },
  'api.anthropic.com': {
    'claude-3-haiku': [0.25, 1.25, 0.03, 0.3],
    'claude-3-5-haiku': [0.8, 4, 0.08, 1],
    'claude-3-5-sonnet': [3, 15, 0.3, 3.75],
    'claude-3-7-sonnet': [3, 15, 0.3, 3.75],
    'claude-3-opus': [15, 75, 1.5, 18.75],
    'claude-haiku-4-5': [1, 5, 0.1, 1.25],
    'claude-opus-4-0': [15, 75, 1.5, 18.75],
    'claude-opus-4-1': [15, 75, 1.5, 18.75],
    'claude-opus-4-2025': [15, 75, 1.5, 18.75],
    'claude-sonnet-4-0': [3, 15, 0.3, 3.75],
    'claude-sonnet-4-2025': [3, 15, 0.3, 3.75],
    'claude-sonnet-4-5': [3, 15, 0.3, 3.75],
    'claude-fable-5': [10, 50, 1, 12.5],
    'claude-opus-4-5': [5, 25, 0.5, 6.25],
    'claude-opus-4-6': [5, 25, 0.5, 6.25],
    'claude-opus-4-7': [5, 25, 0.5, 6.25],
    'claude-opus-4-8': [5, 25, 0.5, 6.25],
    'claude-opus-5': [5, 25, 0.5, 6.25],
    'claude-opus-5-5': [4, 20, 0.2, 5],
    'claude-sonnet-4-6': [3, 15, 0.3, 3.75],
    'claude-sonnet-5': [2, 10, 0.2, 2.5],
    'claude-sonnet-5-5': [2, 10, 0.1, 2.5],
  },
  'generativelanguage.googleapis.com': {
    'gemini-2.0-flash': [0.1, 0.4, 0.025],
    'gemini-2.0-flash-lite': [0.075, 0.3],
    'gemini-2.5-flash': [0.3, 2.5, 0.03],
    'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
    'gemini-2.5-pro': [1.25, 10, 0.125],
    'gemini-3-flash-preview': [0.5, 3, 0.05],
    'gemini-3-pro-preview': [2, 12, 0.2],
    'gemini-3.1-flash-lite': [0.25, 1.5, 0.025],
    'gemini-3.1-pro-preview': [2, 12, 0.2],
    'gemini-3.5-flash': [1.5, 9, 0.15],
    'gemini-3.8-flash': [0.75, 3.75, 0.075],
  },
  'api.mistral.ai': {
    'magistral-medium': [2, 5],
    'ministral-3b': [0.04, 0.04],
    'ministral-8b': [0.1, 0.1],
    'mistral-large-2512': [0.5, 1.5],
    'mistral-large-latest': [0.5, 1.5],
    'mistral-medium-2508': [0.4, 2],
    'mistral-medium-2604': [1.5, 7.5],
    'mistral-small-2603': [0.15, 0.6],
    'mistral-small-latest': [0.15, 0.6],
    'mistral-embed': [0.1, 0],
  },
  'api.groq.com': {
    'llama-3.1-8b-instant': [0.05, 0.08],
    'llama-3.3-70b-versatile': [0.59, 0.79],
    'openai/gpt-oss-120b': [0.15, 0.6, 0.075],
    'openai/gpt-oss-20b': [0.075, 0.3, 0.0375],
    'qwen/qwen3-32b': [0.29, 0.59],
  },
  'api.x.ai': {
    'grok-4.20-0309-non-reasoning': [1.25, 2.5, 0.2],
    'grok-4.20-0309-reasoning': [1.25, 2.5, 0.2],
    'grok-4.3': [1.25, 2.5, 0.2],
    'grok-4.5': [2, 6, 0.5],
    'grok-build-0.1': [1, 2, 0.2],
  },
  'api.cohere.com': {
    'command-a-03-2025': [2.5, 10],
    'command-a-plus-05-2026': [2.5, 10],
    'command-r-08-2024': [0.15, 0.6],
    'command-r-plus-08-2024': [2.5, 10],
    'command-r7b-12-2024': [0.0375, 0.15],
  },
  'dashscope-intl.aliyuncs.com': {
    'qwen-flash': [0.05, 0.4],
    'qwen-plus': [0.4, 1.2],
    'qwen3-coder-plus': [1, 5],
    'qwen3-max': [1.2, 6],
    'qwen3.6-plus': [0.5, 3, 0.05, 0.625],
    'qwen3.7-max': [2.5, 7.5, 0.5, 3.125],
    'qwen3.7-plus': [0.5, 3, 0.05, 0.625],
  },
  'api.deepseek.com': {
    'deepseek-v4-flash': [0.14, 0.28, 0.0028],
    'deepseek-v4-pro': [0.435, 0.87, 0.003625],
    'deepseek-chat': [0.14, 0.28, 0.0028],
    'deepseek-reasoner': [0.14, 0.28, 0.0028],
  },
};

/** `baseUrl`: of the provider; `model`: in any case. Returns null if the price is not known. */
export function listPrice(baseUrl: string, model: string): ListPrice | null {
  const row = tableRow(table, baseUrl, model);
  if (row === null) return null;
  const [input, output, cachedInput, cacheWrite] = row;
  // For an hour twice the input: Anthropic's page "Pricing". OpenAI bills writing too, at one price.
  const hour = model.toLowerCase().startsWith('claude-') ? 2 * input : cacheWrite;
  const writing = cacheWrite === undefined ? {} : { cacheWrite, cacheWriteHour: hour };
  return { input, output, ...(cachedInput !== undefined && { cachedInput }), ...writing, isListed: true };
}

/** Returns the row of a host with the longest beginning of the model's name, which is in any case. */
export function tableRow<R>(rows: Readonly<Record<string, Readonly<Record<string, R>>>>, baseUrl: string, model: string): R | null {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  const name = model.toLowerCase().replace(/^models\//, '');
  const [best] = Object.entries((Object.hasOwn(rows, host) ? rows[host] : undefined) ?? {})
    .filter(([start]) => isVersionOf(name, start))
    .sort(([a], [b]) => b.length - a.length);
  return best?.[1] ?? null;
}

/** The model itself, or a dated or `latest` version of it. Other suffixes are other models, whose prices may differ. */
function isVersionOf(model: string, start: string): boolean {
  if (!model.startsWith(start)) return false;
  return /^(|\d{4}|-latest|-chat-latest|-codex|-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{3,4})$/.test(model.slice(start.length));
}
