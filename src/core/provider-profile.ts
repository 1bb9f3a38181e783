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

const flag = (description: string) => z.boolean().optional().meta({ description });

export const ProviderProfile = z
  .strictObject({
    // How replies are passed on, and how tools are told.
    normalize: flag('Every stream and reply is read and written anew, so that clients get canonical frames.'),
    exact: flag('Streams with tool calls are known to be what clients rely on: they are passed on as they come.'),
    protocol: z.enum(['native', 'text']).optional().meta({
      description:
        '`text`: tools are told in the prompt, and calls are read out of the model’s words. An agent’s `protocol` goes before it.',
    }),

    // Tools.
    schemas: SchemaDialect.optional().meta({ description: 'Which part of JSON Schema it takes for tools.' }),
    maxToolDescription: z
      .int()
      .min(64)
      .nullable()
      .optional()
      .meta({ description: 'Longer descriptions of tools are cut to this many characters.' }),
    maxTools: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'Tools of one request; more are left out, the last ones first, and reported.' }),
    toolChoice: z.enum(['forced', 'required', 'auto', 'absent']).optional().meta({
      description:
        '`forced`: takes `auto`, `none`, `required` and one tool by name. `required`: no tool by name, so that one is the only tool sent. `auto`: auto and none; a forced choice is not sent. `absent`: no word about it at all; for none the tools are left out.',
    }),
    requiredWord: z
      .string()
      .max(20)
      .nullable()
      .optional()
      .meta({ description: 'The word for a call of any tool, where it is not `required`.' }),
    parallelToolCalls: flag('It takes `parallel_tool_calls`, or its own word for it.'),

    // Call ids and results.
    callIdLength: z
      .int()
      .min(4)
      .max(64)
      .nullable()
      .optional()
      .meta({ description: 'Ids of calls must be exactly this many letters and digits (Mistral: 9).' }),
    maxCallIdLength: z
      .int()
      .min(9)
      .max(256)
      .optional()
      .meta({ description: 'Otherwise they have at most this many of letters, digits, `_` and `-`.' }),
    keepCallIds: flag('The provider’s own call ids go back whatever they look like.'),
    noCallIds: flag('Calls and their results carry no id.'),
    toolResultName: flag('Results of tools name the tool.'),
    assistantAfterToolResult: flag('Between results of tools and the user’s next words an assistant message is wanted.'),
    callSignatures: flag(
      'The first call of each step must carry the signature it came with; a call that has none gets the documented stand-in.',
    ),

    // Messages.
    contentNeverNull: flag('`content: null` is refused on assistant messages.'),
    systemInUser: flag('The user must speak first, and a system message is not taken: its text stands before the user’s.'),
    images: flag('Images in the input are taken; otherwise a line says that there was one.'),
    imagesInResults: flag(
      'So are images in results of tools. Where results hold text only, they follow in a message of the user; otherwise a line names them.',
    ),

    // Settings.
    maxTokensField: z
      .enum(['max_tokens', 'max_completion_tokens'])
      .optional()
      .meta({ description: 'The field of Chat Completions that limits the answer.' }),
    defaultMaxTokens: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .meta({ description: 'Sent where the request names none and the API wants one.' }),
    streamUsage: flag('Usage of streams is asked for through `stream_options`.'),
    seedField: z.enum(['seed', 'random_seed']).optional().meta({ description: 'The field of Chat Completions for the seed.' }),
    topK: flag('Chat Completions: `top_k` is taken, which OpenAI itself refuses.'),
    noSampling: flag('Temperature and its like are refused.'),
    noPenalties: flag('Frequency and presence penalties are refused.'),
    noStop: flag('Stop sequences are refused.'),
    formatWithTools: flag('A response format and tools may stand in one request.'),

    // Reasoning.
    reasoning: z.enum(['effort', 'budget', 'adaptive', 'none']).optional().meta({
      description: 'What the model is told about how much to think: a word, a budget of tokens, a budget chosen by itself, or nothing.',
    }),
    efforts: z.array(z.string().max(20)).min(1).max(10).nullable().optional().meta({
      description: 'The words for effort that it takes, the least first; another word becomes the nearest of them. null: any.',
    }),
    minReasoningBudget: z
      .int()
      .nonnegative()
      .optional()
      .meta({ description: 'The smallest budget that it takes: above 0 where thinking cannot be switched off.' }),
    thinkingSwitch: flag('Chat Completions: thinking is switched by `thinking: {type: enabled | disabled}`.'),
    boundReasoning: flag(
      'Reasoning is bound to all that stood before it: it goes back while the tools of its turn run, and no longer once that may be summed up.',
    ),
    echoReasoning: flag(
      'Chat Completions: the reasoning of turns with tool calls goes back as `reasoning_content`, whichever model it was.',
    ),
  })
  .meta({ id: 'ProviderProfile' });
export type ProviderProfile = z.infer<typeof ProviderProfile>;

/** A profile with nothing left open. */
export type Profile = { [Flag in keyof ProviderProfile]-?: Exclude<ProviderProfile[Flag], undefined> };
