/**
 * Differences between servers and models, as data (contract §6): every flag that an adapter reads. The known rows are in
 * `providers/compatible-rows.ts` and in each wire's folder; a provider's own `profile` overrides them, so that a quirk can be fixed without
 * a deploy.
 */
import * as z from 'zod';

/** The subset of JSON Schema 2020-12 that a provider accepts for a tool's input (`schema-compiler.ts`). */
export const SchemaDialect = z
  .enum(['full', 'openai', 'openai-strict', 'anthropic', 'anthropic-strict', 'gemini', 'gemini-openapi', 'cohere', 'ollama'])
  .meta({ id: 'SchemaDialect' });
export type SchemaDialect = z.infer<typeof SchemaDialect>;

/** Settings of OpenAI's APIs that most compatible servers do not know, and some refuse. */
export const ExtraSetting = z.enum(['user', 'serviceTier', 'verbosity', 'promptCacheKey', 'promptCacheRetention', 'promptCacheOptions']);

/** Fields of assistant messages that OpenAI's API does not have; clients send them back to other providers than the one that sent them. */
export const MessageField = z.enum([
  ...(['reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details', 'reasoning_opaque', 'thinking_blocks'] as const),
  ...(['extra_content', 'provider_specific_fields'] as const),
]);

/** How much is sent by Responses: each value includes those before it. */
export const OpenAiApi = z.enum(['chat', 'own', 'effort', 'reasoning', 'tools', 'responses']).meta({ id: 'OpenAiApi' });
export type OpenAiApi = z.infer<typeof OpenAiApi>;
/** The response header that names the kind whose API got a request, if it is not that of its provider. */
export const apiHeader = 'x-moniker-api';

const flag = (description: string) => z.boolean().optional().meta({ description });

export const ProviderProfile = z
  .strictObject({
    // How requests are sent, how replies are passed on, and how tools are defined.
    api: OpenAiApi.optional().meta({
      description:
        'Kinds `openai` and `openai-compatible`: which requests are sent by the Responses API instead of Chat Completions. `chat`: none. `own`: those of Responses clients. `effort`: also those with tools and a reasoning effort other than `none`. `reasoning`: also those with tools without an effort. `tools`: all with tools. `responses`: all. Each value includes those before it.',
    }),
    normalize: flag(
      'Every stream and reply is read on its way, and mended where clients could not read it; otherwise only those that may have calls.',
    ),
    exact: flag('Streams with tool calls are known to be in the format that clients expect, and are passed on unchanged.'),
    protocol: z.enum(['native', 'text']).optional().meta({
      description:
        '`text`: tools are described in the prompt, and calls are parsed from the model’s text. An agent’s `protocol` takes precedence.',
    }),

    // Tools.
    schemas: SchemaDialect.optional().meta({ description: 'The subset of JSON Schema that the provider accepts for tools.' }),
    strictTools: flag('The provider enforces the schema of a tool with `strict`.'),
    jsonMode: flag('The provider has a JSON mode without a schema; otherwise the model is only asked for JSON.'),
    outputSchema: flag('The provider enforces the schema of a response format; otherwise the model is only asked for it.'),
    maxToolDescription: z
      .int()
      .min(64)
      .nullable()
      .optional()
      .meta({ description: 'Maximum length of a tool description in characters; longer ones are cut.' }),
    maxTools: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'Maximum number of tools in one request; further tools are dropped from the end and reported.' }),
    toolChoice: z.enum(['forced', 'required', 'auto', 'absent']).optional().meta({
      description:
        '`forced`: accepts `auto`, `none`, `required` and one tool by name. `required`: does not accept a tool name, so a named tool is the only one sent. `auto`: accepts `auto` and `none`; a forced choice is not sent. `absent`: no tool choice is sent; for `none` the tools are left out.',
    }),
    requiredToolChoice: z
      .string()
      .max(20)
      .nullable()
      .optional()
      .meta({ description: 'The value that forces a call of any tool, if it is not `required`.' }),
    parallelToolCalls: flag('The provider accepts `parallel_tool_calls`, or its own equivalent.'),

    // Call ids and results.
    callIdLength: z
      .int()
      .min(4)
      .max(64)
      .nullable()
      .optional()
      .meta({ description: 'Call ids must have exactly this many letters and digits (Mistral: 9).' }),
    maxCallIdLength: z.int().min(9).max(256).optional().meta({
      description: 'Maximum length of call ids, which consist of letters, digits, `_` and `-`. Used if `callIdLength` is not set.',
    }),
    keepCallIds: flag('The provider’s own call ids are sent back in any format.'),
    noCallIds: flag('Calls and their results have no id.'),
    toolResultName: flag('Tool results contain the name of the tool.'),
    assistantAfterToolResult: flag('An assistant message is required between tool results and the next user message.'),
    callSignatures: flag(
      'The first call of each step must include the signature it was received with; a call without one gets the documented placeholder.',
    ),

    // Messages.
    contentNeverNull: flag('Assistant messages with `content: null` are rejected.'),
    systemInUser: flag(
      'The first message must be a user message, and system messages are rejected: the system text is put before the user’s text.',
    ),
    systemPlace: z.enum(['anywhere', 'afterUser', 'first']).optional().meta({
      description:
        'Where system messages are accepted: `first`: at the beginning, `afterUser`: also behind a user message. Others become user messages that say so.',
    }),
    prefill: z.enum(['plain', 'prefix', 'partial', 'refused']).optional().meta({
      description:
        'How an assistant message at the end is sent, which the model continues: as it is, marked with the field `prefix` or `partial`, or followed by a user message.',
    }),
    images: flag('Images in the input are accepted; otherwise each one is replaced by a line of text.'),
    imagesInResults: flag(
      'Images in tool results are accepted; if results can only contain text, they follow in a user message. Otherwise each one is replaced by a line of text.',
    ),
    files: z
      .array(z.enum(['pdf', 'audio', 'video', 'url']))
      .max(4)
      .optional()
      .meta({
        description:
          'Files that the model accepts in the input and in tool results, and whether by URL. Others are replaced by a line of text; files of text are sent as text.',
      }),

    // Settings.
    maxTokensField: z
      .enum(['max_tokens', 'max_completion_tokens'])
      .optional()
      .meta({ description: 'The field of Chat Completions that limits the output tokens.' }),
    defaultMaxTokens: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'Sent if the request sets no limit and the API requires one.' }),
    maxOutputTokens: z.int().min(1).optional().meta({
      description:
        'Maximum output tokens of a reply whose request sets no limit. Limits of tokens and cost reserve it for each such request.',
    }),
    contextTokens: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'Kind `ollama`: the context length with which the model is loaded (`num_ctx`). null: the server decides.' }),
    keepAlive: z
      .string()
      .regex(/^-?(\d+(\.\d+)?(ms|s|m|h))+$/, { message: 'must be a duration, such as 30m, or -1s for ever' })
      .max(30)
      .nullable()
      .optional()
      .meta({ description: 'Kind `ollama`: how long the model stays loaded after a request (`keep_alive`). null: the server decides.' }),
    imageTokens: z.int().min(1).optional().meta({
      description: 'Maximum input tokens of an image. Limits of tokens and cost reserve it for each image of a request.',
    }),
    streamUsage: flag('The usage of streams is requested with `stream_options`.'),
    seedField: z.enum(['seed', 'random_seed']).optional().meta({ description: 'The field of Chat Completions for the seed.' }),
    topK: flag('Chat Completions: `top_k` is accepted, which OpenAI itself rejects.'),
    noSampling: flag('Temperature and other sampling settings are rejected.'),
    noPenalties: flag('Frequency and presence penalties are rejected.'),
    noStop: flag('Stop sequences are rejected.'),
    maxStops: z.int().min(1).nullable().optional().meta({ description: 'Maximum number of stop sequences; further ones are not sent.' }),
    extraSettings: z.array(ExtraSetting).max(10).optional().meta({
      description:
        'OpenAI’s APIs: which of the less common settings are accepted: the id of the user, the service tier, the verbosity, and the key, the retention and the options of the prompt cache.',
    }),
    cacheMarks: z.enum(['none', 'breakpoint', 'given', 'automatic']).optional().meta({
      description:
        'Marks of the prompt cache: `none`; those of clients, as `prompt_cache_breakpoint` (`breakpoint`) or `cache_control` (`given`); `automatic`: also those of the service.',
    }),
    webSearch: flag('The provider searches the web for the model, which requests of translated APIs may ask for.'),
    formatWithTools: flag('A response format and tools are accepted in one request.'),

    // Reasoning.
    reasoning: z.enum(['effort', 'budget', 'adaptive', 'none']).optional().meta({
      description: 'How the reasoning amount is sent: an effort level, a token budget, a budget chosen by the model, or not at all.',
    }),
    efforts: z.array(z.string().max(20)).min(1).max(10).nullable().optional().meta({
      description: 'The accepted effort levels, lowest first; any other value is mapped to the nearest. null: any.',
    }),
    minReasoningBudget: z
      .int()
      .nonnegative()
      .optional()
      .meta({ description: 'The smallest accepted budget: above 0 if thinking cannot be switched off.' }),
    thinkingSwitch: flag('Chat Completions: thinking is switched by `thinking: {type: enabled | disabled}`.'),
    boundReasoning: flag(
      'Reasoning is valid only with everything that preceded it: it is sent back while the tools of its turn run, and dropped once the preceding messages may be summarized.',
    ),
    echoReasoning: flag(
      'Chat Completions: the reasoning of turns with tool calls is sent back as `reasoning_content`, whichever model produced it.',
    ),
    refusedFields: z.array(MessageField).max(10).optional().meta({
      description:
        'Chat Completions: fields of assistant messages, and of calls, that the server rejects. They are left out of requests that are passed on, and named.',
    }),
    thinkTags: z.enum(['none', 'begin', 'opened']).optional().meta({
      description:
        '`begin`: a text that begins with reasoning in `<think>` is split, in turns and translated chats. `opened`: the text begins in the reasoning, and has the end tag alone.',
    }),
  })
  .meta({ id: 'ProviderProfile' });
export type ProviderProfile = z.infer<typeof ProviderProfile>;

/** A profile in which every flag is set. */
export type Profile = { [Flag in keyof ProviderProfile]-?: Exclude<ProviderProfile[Flag], undefined> };
