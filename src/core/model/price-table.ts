/**
 * Published list prices of well-known models, in USD per million tokens, for providers without `prices` of their own. Taken from the price
 * pages of the providers and compared with the collection pydantic/genai-prices. A row is valid only for the service of its host: the same
 * model may have another price elsewhere. Prices that depend on the length of the prompt or on the time of day are the lowest ones for the
 * prompt, and the highest ones for the time. As of: OpenAI November 2025, Anthropic October 2025, Google June 2025, DeepSeek June 2026.
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
  },
  'generativelanguage.googleapis.com': {
    'gemini-2.0-flash': [0.1, 0.4],
    'gemini-2.0-flash-lite': [0.075, 0.3],
    'gemini-2.5-flash': [0.3, 2.5, 0.075],
    'gemini-2.5-flash-lite': [0.1, 0.4, 0.025],
    'gemini-2.5-pro': [1.25, 10, 0.31],
  },
  'api.deepseek.com': {
    'deepseek-v4-flash': [0.14, 0.28, 0.0028],
    'deepseek-v4-pro': [0.435, 0.87, 0.003625],
  },
};

/** `baseUrl`: of the provider; `model`: in any case. Returns null if the price is not known. */
export function listPrice(baseUrl: string, model: string): ListPrice | null {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  const rows = Object.hasOwn(table, host) ? table[host] : undefined;
  const name = model.toLowerCase().replace(/^models\//, '');
  const [best] = Object.entries(rows ?? {})
    .filter(([start]) => isVersionOf(name, start))
    .sort(([a], [b]) => b.length - a.length);
  if (best === undefined) return null;
  const [input, output, cachedInput, cacheWrite] = best[1];
  // For an hour twice the input: Anthropic's page "Pricing", the only provider of these hosts that bills writing.
  const writing = cacheWrite === undefined ? {} : { cacheWrite, cacheWriteHour: 2 * input };
  return { input, output, ...(cachedInput !== undefined && { cachedInput }), ...writing, isListed: true };
}

/** The model itself, or a dated or `latest` version of it. Other suffixes are other models, whose prices may differ. */
function isVersionOf(model: string, start: string): boolean {
  if (!model.startsWith(start)) return false;
  return /^(|\d{4}|-latest|-chat-latest|-codex|-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{3,4})$/.test(model.slice(start.length));
}
