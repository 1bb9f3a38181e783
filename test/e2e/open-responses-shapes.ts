/**
 * Shapes of Open Responses (specification of 2026-04-24, openresponses/openresponses: schema/*.tsp): the response object, its items, and the
 * events of a stream. Members that the specification requires are required here; further ones may be there.
 */
import * as z from 'zod';

const Index = z.int().min(0);
const Status = z.enum(['in_progress', 'completed', 'incomplete']);

const Annotation = z.looseObject({
  type: z.literal('url_citation'),
  url: z.string(),
  start_index: Index,
  end_index: Index,
  title: z.string(),
});
const Part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('output_text'), text: z.string(), annotations: z.array(Annotation) }),
  z.looseObject({ type: z.enum(['input_text', 'text', 'summary_text', 'reasoning_text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string().nullable(), detail: z.enum(['low', 'high', 'auto']) }),
  z.looseObject({ type: z.literal('input_file'), filename: z.string().optional(), file_url: z.string().optional() }),
]);

const Item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: z.string(),
    status: Status,
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.array(Part),
    phase: z.enum(['commentary', 'final_answer']).optional(),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: Status,
  }),
  z.looseObject({
    type: z.literal('function_call_output'),
    id: z.string(),
    call_id: z.string(),
    output: z.union([z.string(), z.array(Part)]),
    status: Status,
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(Part),
    content: z.array(Part).optional(),
    encrypted_content: z.string().optional(),
  }),
  z.looseObject({ type: z.literal('compaction'), id: z.string(), encrypted_content: z.string(), created_by: z.string().optional() }),
]);

const Usage = z.looseObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
});

const choiceWords = z.enum(['none', 'auto', 'required']);
const NamedChoice = z.looseObject({ type: z.literal('function'), name: z.string().optional() });
const ToolChoice = z.union([
  choiceWords,
  NamedChoice,
  z.looseObject({ type: z.literal('allowed_tools'), tools: z.array(NamedChoice), mode: choiceWords }),
]);

export const ResponseShape = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.string(),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(Item),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.looseObject({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: ToolChoice,
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: Usage.nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});
export type ResponseShape = z.infer<typeof ResponseShape>;

export const CompactionShape = z.looseObject({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int(),
  output: z.array(Item),
  usage: Usage,
});

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ type: z.literal(`response.${type}`), sequence_number: Index, ...shape });
const whole = { response: ResponseShape };
const item = { output_index: Index, item: Item.nullable() };
const ofItem = { item_id: z.string(), output_index: Index };
const ofContent = { ...ofItem, content_index: Index };
const ofSummary = { ...ofItem, summary_index: Index };

export const EventShape = z.discriminatedUnion('type', [
  event('created', whole),
  event('queued', whole),
  event('in_progress', whole),
  event('completed', whole),
  event('failed', whole),
  event('incomplete', whole),
  event('output_item.added', item),
  event('output_item.done', item),
  event('content_part.added', { ...ofContent, part: Part }),
  event('content_part.done', { ...ofContent, part: Part }),
  event('output_text.delta', { ...ofContent, delta: z.string() }),
  event('output_text.done', { ...ofContent, text: z.string() }),
  event('output_text.annotation.added', { ...ofContent, annotation_index: Index, annotation: Annotation.nullable() }),
  event('refusal.delta', { ...ofContent, delta: z.string() }),
  event('refusal.done', { ...ofContent, refusal: z.string() }),
  event('function_call_arguments.delta', { ...ofItem, delta: z.string() }),
  event('function_call_arguments.done', { ...ofItem, arguments: z.string() }),
  event('reasoning_summary_part.added', { ...ofSummary, part: Part }),
  event('reasoning_summary_part.done', { ...ofSummary, part: Part }),
  event('reasoning_summary_text.delta', { ...ofSummary, delta: z.string() }),
  event('reasoning_summary_text.done', { ...ofSummary, text: z.string() }),
  event('reasoning.delta', { ...ofContent, delta: z.string() }),
  event('reasoning.done', { ...ofContent, text: z.string() }),
  z.looseObject({
    type: z.literal('error'),
    sequence_number: Index,
    error: z.looseObject({ type: z.string(), code: z.string().nullable(), message: z.string(), param: z.string().nullable() }),
  }),
]);
export type EventShape = z.infer<typeof EventShape>;

/** `ItemResource` in a list, as of the input of a response. */
export const ItemListShape = z.looseObject({
  object: z.literal('list'),
  data: z.array(Item),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
