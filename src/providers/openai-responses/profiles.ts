/** The profile rows of OpenAI's Responses API. */
import type { ProfileRow } from '../adapter.ts';
import { openAiCaching } from '../compatible-rows.ts';
import { openAiModelRows } from '../openai-chat/profiles.ts';

export const responsesRows: readonly ProfileRow[] = [
  ...openAiModelRows,
  {
    kind: 'openai-responses',
    host: 'api.openai.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true, webSearch: true },
  },
  {
    kind: 'openai-responses',
    because: 'ids of calls have 64 characters at most; the same limits of tools as Chat Completions',
    profile: {
      ...{ schemas: 'openai', strictTools: true, maxTools: 128, maxCallIdLength: 64, imagesInResults: true },
      extraSettings: ['user', 'serviceTier', ...openAiCaching],
      files: ['pdf', 'url'],
    },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(gpt-3\.5|gpt-4|chatgpt|gpt-5-chat)/i,
    because: 'does not reason, and says so: "Encrypted content is not supported with this model" (pydantic/pydantic-ai#2865, #3326)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(o[1-9]|codex|gpt-[5-9](?!-chat))/i,
    because: 'reasons, and refuses temperature and top_p; has a verbosity (guide "Using GPT-5")',
    profile: { noSampling: true, extraSettings: ['user', 'serviceTier', 'verbosity', ...openAiCaching] },
  },
];
