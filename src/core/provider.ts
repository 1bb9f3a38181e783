/** A model provider as its administrator writes it (DESIGN §6, §9). Adapters live in `src/providers/`. */
import { z } from 'zod';

export const ProviderKind = z.enum(['openai', 'openai-compatible']).meta({ id: 'ProviderKind' });
export type ProviderKind = z.infer<typeof ProviderKind>;

const SecretRef = z.strictObject({ secret: z.string().min(1).max(128) });

/** Quirks as data; every field overrides the built-in row for the model (`providers/profiles.ts`). */
export const ProviderProfile = z
  .strictObject({
    /** Send every stream and reply through the assembler, so that clients get canonical frames. */
    normalize: z.boolean().optional(),
    /** `max_tokens` or `max_completion_tokens`. */
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    /** Ask for usage in streams through `stream_options`. */
    streamUsage: z.boolean().optional(),
    /** The provider refuses `content: null` on assistant messages. */
    contentNeverNull: z.boolean().optional(),
    /** The provider refuses `parallel_tool_calls`. */
    parallelToolCalls: z.boolean().optional(),
    /** Tool call ids must be exactly this many alphanumeric characters (Mistral: 9). */
    callIdLength: z.int().min(4).max(64).optional(),
  })
  .meta({ id: 'ProviderProfile' });
export type ProviderProfile = z.infer<typeof ProviderProfile>;

export const Provider = z
  .strictObject({
    kind: ProviderKind,
    baseUrl: z.url({ protocol: /^https?$/ }).optional().meta({
      description: 'Everything before `/chat/completions`. Required but for kind `openai`.',
      example: 'http://127.0.0.1:11434/v1',
    }),
    apiKey: z.string().min(1).max(8192).optional().meta({ description: 'Write-only. Stored encrypted.' }),
    apiKeySecret: z.string().min(1).max(128).optional().meta({ description: 'Name of a secret that holds the key.' }),
    headers: z.record(z.string(), z.union([z.string().max(8192), SecretRef])).optional(),
    models: z.array(z.string().min(1).max(200)).max(500).optional().meta({ description: 'Listed by `/v1/models`.' }),
    profile: ProviderProfile.optional(),
  })
  .meta({ id: 'Provider' });
export type Provider = z.infer<typeof Provider>;

/** What an adapter needs to make a request: secrets resolved, headers final. Never stored, logged or sent out. */
export type ProviderAccess = {
  name: string;
  kind: ProviderKind | 'rehearsal';
  baseUrl: string;
  headers: Record<string, string>;
  models: readonly string[];
  profile: ProviderProfile;
};
