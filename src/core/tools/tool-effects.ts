/**
 * Decides which annotations of a tool apply. Annotations of an untrusted server are only claims: the policy, retries and hints for
 * clients ignore them until an administrator accepts them. Tool names are not evaluated, since no list of verbs can be complete.
 */
import type { EditionTool } from '../toolset/edition-tool.ts';

/**
 * Whether the policy uses the annotations. For `static` tools an administrator wrote them, in the PUT of the server; for `openapi`
 * tools they follow from the HTTP method (`openapi/operation-tool.ts`), not from the document.
 */
export function trustsAnnotations({ kind, ...rest }: Pick<EditionTool, 'kind' | 'trusted' | 'annotationsAccepted'>): boolean {
  return kind !== 'mcp' || isEndorsed(rest);
}

/** Whether a call is safe to repeat, according to annotations that an administrator endorsed. */
export function isRepeatable({ annotations, ...rest }: Pick<EditionTool, 'annotations' | 'trusted' | 'annotationsAccepted'>): boolean {
  return isEndorsed(rest) && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}

/** Whether the server is trusted, or an administrator accepted the annotations of this definition. */
export function isEndorsed({ trusted, annotationsAccepted }: Pick<EditionTool, 'trusted' | 'annotationsAccepted'>): boolean {
  return trusted === true || annotationsAccepted === true;
}
