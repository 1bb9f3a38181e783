/** What is known of a model: its limits, and what it takes and gives. A member that is absent is not known. */
import * as z from 'zod';

const tokenCount = z.int().min(1).max(1_000_000_000);
export const Modality = z.enum(['text', 'image', 'pdf', 'audio', 'video']).meta({ id: 'Modality' });
export type Modality = z.infer<typeof Modality>;
const modalities = z.array(Modality).min(1).max(5);

const facts = {
  contextTokens: tokenCount.optional().meta({ description: 'Context window: input and output together.' }),
  maxInputTokens: tokenCount.optional().meta({ description: 'Maximum input, if it is less than the context window.' }),
  maxOutputTokens: tokenCount.optional().meta({ description: 'Maximum output of one reply.' }),
  inputs: modalities.optional().meta({ description: 'What the model takes.' }),
  outputs: modalities.optional().meta({ description: 'What the model gives. Default, if the inputs are known: `text`.' }),
  tools: z.boolean().optional().meta({ description: 'The model calls tools.' }),
  reasoning: z.boolean().optional().meta({ description: 'The model can reason before it answers.' }),
};
const ModelFacts = z.strictObject(facts);
export type ModelFacts = z.infer<typeof ModelFacts>;

const ModelName = z.string().min(1).max(200);
/** An entry of `models` of a provider. Its facts take precedence over those of the provider's own list and of the built-in table. */
export const ProviderModel = z
  .union([ModelName, z.strictObject({ model: ModelName, ...facts })])
  .meta({ id: 'ProviderModel', example: { model: 'llama-3.3-70b', contextTokens: 131_072, tools: true } });
export type ProviderModel = z.infer<typeof ProviderModel>;

export function modelName(entry: ProviderModel): string {
  return typeof entry === 'string' ? entry : entry.model;
}

export function modelFacts(entry: ProviderModel | undefined): ModelFacts {
  if (entry === undefined || typeof entry === 'string') return {};
  const { model: _name, ...known } = entry;
  return known;
}
