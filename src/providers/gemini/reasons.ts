/**
 * Gemini's finish and block reasons, classified as limits, safety stops and failures. Used by `reply.ts`. Source: API references
 * "FinishReason" and "BlockedReason" (Google AI and Vertex AI).
 */
import { stringOf } from '../../core/json/wire-value.ts';

/** null: no reason yet. Some gateways request enums as integers. */
export function reasonName(value: unknown, words: readonly string[]): string | null {
  const word = typeof value === 'number' ? (words[value] ?? String(value)) : stringOf(value);
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

/** By number, as in Vertex AI (googleapis, `google/cloud/aiplatform/v1/content.proto`). */
export const finishReasonNames: readonly string[] = [
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
