/**
 * Differences between servers and models, as data (contract §6): every flag that an adapter reads. The known rows are in
 * `providers/compatible-rows.ts` and in each wire's folder; a provider's own `profile` overrides them, so that a quirk can be fixed without
 * a deploy.
 */
import { z } from 'zod';

/** The subset of JSON Schema 2020-12 that a provider accepts for a tool's input (`schema-compiler.ts`). */
export const SchemaDialect = z
  .enum(['full', 'openai', 'openai-strict', 'anthropic', 'gemini', 'gemini-openapi', 'cohere'])
  .meta({ id: 'SchemaDialect' });
export type SchemaDialect = z.infer<typeof SchemaDialect>;

const flag = (description: string) => z.boolean().optional().meta({ description });

export const ProviderProfile = z
  .strictObject({
    // How replies are passed on, and how tools are defined.
    normalize: flag('Every stream and reply is parsed and re-encoded, so that clients get canonical frames.'),
    exact: flag('Streams with tool calls are known to be in the format that clients expect, and are passed on unchanged.'),
    protocol: z.enum(['native', 'text']).optional().meta({
      description:
        '`text`: tools are described in the prompt, and calls are parsed from the model’s text. An agent’s `protocol` takes precedence.',
    }),

    // Tools.
    schemas: SchemaDialect.optional().meta({ description: 'The subset of JSON Schema that the provider accepts for tools.' }),
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
    requiredWord: z
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
    images: flag('Images in the input are accepted; otherwise each one is replaced by a line of text.'),
    imagesInResults: flag(
      'Images in tool results are accepted; if results can only contain text, they follow in a user message. Otherwise each one is replaced by a line of text.',
    ),

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
    imageTokens: z.int().min(1).optional().meta({
      description: 'Maximum input tokens of an image. Limits of tokens and cost reserve it for each image of a request.',
    }),
    streamUsage: flag('The usage of streams is requested with `stream_options`.'),
    seedField: z.enum(['seed', 'random_seed']).optional().meta({ description: 'The field of Chat Completions for the seed.' }),
    topK: flag('Chat Completions: `top_k` is accepted, which OpenAI itself rejects.'),
    noSampling: flag('Temperature and other sampling settings are rejected.'),
    noPenalties: flag('Frequency and presence penalties are rejected.'),
    noStop: flag('Stop sequences are rejected.'),
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
  })
  .meta({ id: 'ProviderProfile' });
export type ProviderProfile = z.infer<typeof ProviderProfile>;

/** A profile in which every flag is set. */
export type Profile = { [Flag in keyof ProviderProfile]-?: Exclude<ProviderProfile[Flag], undefined> };
