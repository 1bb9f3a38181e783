/**
 * Why replies of Gemini end, in its own words: which of them are limits, safety stops and faults. Used by `gemini.ts` alone. Source: API
 * references "FinishReason" and "BlockedReason" (Google AI and Vertex AI).
 */
import { textOf } from '../core/wire-value.ts';

/** null where there is none yet. Enums are integers where a gateway asks for them so. */
export function reasonWord(value: unknown, words: readonly string[]): string | null {
  const word = typeof value === 'number' ? (words[value] ?? String(value)) : textOf(value);
  return word === '' || word.endsWith('_UNSPECIFIED') ? null : word;
}

export const limitReason = 'MAX_TOKENS';
export const filterReasons: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'JAILBREAK',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
export const faultReasons: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE']);
export const callFaultReasons: ReadonlySet<string> = new Set(['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS']);

/** By number, as Vertex AI counts them (googleapis, `google/cloud/aiplatform/v1/content.proto`). */
export const finishWords: readonly string[] = [
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
];
