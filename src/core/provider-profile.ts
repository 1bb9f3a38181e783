/**
 * What servers and models do differently, as data (DESIGN §6): every flag that an adapter looks at. The rows that are known are
 * `providers/profile-rows.ts`; a provider's own `profile` lies over them, so that a quirk is mended without a deploy.
 */
import { z } from 'zod';

/** Which part of JSON Schema 2020-12 a provider takes for a tool's input (`schema-compiler.ts`). */
export const SchemaDialect = z
  .enum(['full', 'openai', 'openai-strict', 'anthropic', 'gemini', 'gemini-openapi', 'cohere'])
  .meta({ id: 'SchemaDialect' });
export type SchemaDialect = z.infer<typeof SchemaDialect>;

export const ProviderProfile = z
  .strictObject({
    /** Send every stream and reply through the assembler, so that clients get canonical frames. */
    normalize: z.boolean().optional(),
    /** Streams with tool calls are known to be what clients rely on: they are passed on as they come. */
    exact: z.boolean().optional(),
    /** `text`: tools are told in the prompt and calls read out of the model's words. An agent's `protocol` goes before it. */
    protocol: z.enum(['native', 'text']).optional(),
    /** Which part of JSON Schema it takes for tools. */
    schemas: SchemaDialect.optional(),
    /** Longer descriptions of tools are cut to this many characters. */
    maxToolDescription: z.int().min(64).nullable().optional(),
    /** Tools of one request; more are left out, the last ones first, and reported. */
    maxTools: z.int().min(1).nullable().optional(),
    /**
     * `forced`: takes `auto`, `none`, `required` and one tool by name. `required`: no tool by name, so that one is the only tool
     * sent. `auto`: nothing but auto; a forced choice is not sent.
     */
    toolChoice: z.enum(['forced', 'required', 'auto']).optional(),
    /** The word for a call of any tool, where it is not `required`. */
    requiredWord: z.string().max(20).nullable().optional(),
    /** `max_tokens` or `max_completion_tokens`. */
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    /** Sent where the request names none and the API wants one. */
    defaultMaxTokens: z.int().min(1).nullable().optional(),
    /** Ask for usage in streams through `stream_options`. */
    streamUsage: z.boolean().optional(),
    /** The provider refuses `content: null` on assistant messages. */
    contentNeverNull: z.boolean().optional(),
    /** The provider takes `parallel_tool_calls`, or its own word for it. */
    parallelToolCalls: z.boolean().optional(),
    /** Tool call ids must be exactly this many alphanumeric characters (Mistral: 9). */
    callIdLength: z.int().min(4).max(64).nullable().optional(),
    /** Otherwise they have at most this many of letters, digits, `_` and `-`. */
    maxCallIdLength: z.int().min(9).max(256).optional(),
    /** The provider's own call ids go back whatever they look like. */
    keepCallIds: z.boolean().optional(),
    /** Calls and their results carry no id. */
    noCallIds: z.boolean().optional(),
    /** Results of tools name the tool. */
    toolResultName: z.boolean().optional(),
    /** Between results of tools and the user's next words an assistant message is wanted. */
    assistantAfterToolResult: z.boolean().optional(),
    /** Whoever speaks first must be the user, and a system message is not taken: its text stands before the user's. */
    systemInUser: z.boolean().optional(),
    /** Images in the input are taken; otherwise a line says that there was one. */
    images: z.boolean().optional(),
    /** So are images in results of tools. */
    imagesInResults: z.boolean().optional(),
    /** The first call of each step must carry the signature it came with; a call that has none gets the documented stand-in. */
    callSignatures: z.boolean().optional(),
    /** A response format and tools may stand in one request. */
    formatWithTools: z.boolean().optional(),
    /** Temperature and its like are refused. */
    noSampling: z.boolean().optional(),
    /** Reasoning goes back as `reasoning_content` while a turn's tools run. */
    echoReasoning: z.boolean().optional(),
    /** Reasoning is bound to all that stood before it: it goes back while its turn's tools run, and not once that may be summed up. */
    boundReasoning: z.boolean().optional(),
    /** What the model is told about how much to think: a word, a budget of tokens, a budget chosen by itself, or nothing. */
    reasoning: z.enum(['effort', 'budget', 'adaptive', 'none']).optional(),
    /** The words for effort that it takes, the least first; another word becomes the nearest of them. null: any. */
    efforts: z.array(z.string().max(20)).min(1).max(10).nullable().optional(),
    /** The smallest budget that it takes: above 0 where thinking cannot be switched off. */
    minReasoningBudget: z.int().nonnegative().optional(),
  })
  .meta({ id: 'ProviderProfile' });
export type ProviderProfile = z.infer<typeof ProviderProfile>;

/** A profile with nothing left open. */
export type Profile = { [Flag in keyof ProviderProfile]-?: Exclude<ProviderProfile[Flag], undefined> };
