/**
 * What the lists of providers say of a model, which no two write alike. References "List models" of Anthropic (`max_input_tokens`,
 * `max_tokens`, `capabilities`), OpenRouter (`context_length`, `architecture`, `supported_parameters`, `top_provider`), Gemini
 * (`inputTokenLimit`, `outputTokenLimit`, `thinking`), Mistral (`max_context_length`, `capabilities`), Groq (`context_window`,
 * `max_completion_tokens`) and Cohere (`context_length`); vLLM has `max_model_len`. Ollama's and OpenAI's lists say nothing.
 */
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import { Modality, type ModelFacts } from '../../core/model/model-facts.ts';

const maxCapabilitiesLength = 8_192;

/** Members with another shape are left out: nothing is guessed. `capabilities`: only those of Anthropic. */
export function readListedFacts(row: Record<string, unknown>): { facts: ModelFacts; capabilities?: object } {
  const { architecture, top_provider: top, supported_parameters: parameters, capabilities: own } = row;
  const { input_modalities: inputs, output_modalities: outputs } = recordOf(architecture);
  const capabilities = recordOf(own);
  const supports = (name: string): boolean | undefined => {
    const { supported } = recordOf(capabilities[name]);
    return typeof supported === 'boolean' ? supported : undefined;
  };
  const [image, pdf] = [supports('image_input'), supports('pdf_input')];
  const accepts = (name: string): boolean | undefined => (Array.isArray(parameters) ? parameters.includes(name) : undefined);
  const facts = {
    contextTokens: firstCount(row.context_length, row.context_window, row.max_context_length, row.max_model_len),
    maxInputTokens: firstCount(row.max_input_tokens, row.inputTokenLimit),
    maxOutputTokens: firstCount(row.max_tokens, row.outputTokenLimit, row.max_completion_tokens, recordOf(top).max_completion_tokens),
    inputs:
      readModalities(inputs) ??
      (image === undefined ? undefined : (['text', ...(image ? ['image' as const] : []), ...(pdf ? ['pdf' as const] : [])] as const)),
    outputs: readModalities(outputs),
    tools: accepts('tools') ?? booleanOr(capabilities.function_calling),
    reasoning: accepts('reasoning') ?? supports('thinking') ?? booleanOr(row.thinking),
  };
  const isAnthropic = image !== undefined && isRecord(own) && JSON.stringify(own).length <= maxCapabilitiesLength;
  // Of the object that was just made.
  const present = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as ModelFacts;
  return { facts: present, ...(isAnthropic && { capabilities: own }) };
}

function firstCount(...values: unknown[]): number | undefined {
  return values.find((value): value is number => Number.isInteger(value) && (value as number) > 0 && (value as number) <= 1e9);
}

/** OpenRouter calls PDF `file`. */
function readModalities(value: unknown): ModelFacts['inputs'] {
  if (!Array.isArray(value)) return undefined;
  const known = value.flatMap((one) => Modality.safeParse(one === 'file' ? 'pdf' : one).data ?? []);
  return known.length === 0 ? undefined : Array.from(new Set(known));
}

function booleanOr(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
