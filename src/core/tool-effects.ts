/**
 * Which annotations of a tool count. An untrusted server's are only claims: the policy, retries and hints for clients ignore them until an
 * administrator accepts them. Names of tools say nothing: no list of verbs can be complete.
 */
import type { EditionTool } from './edition-tool.ts';

/**
 * Whether the policy believes the annotations. Those of `static` tools were written by an administrator, in the PUT of the server; those of
 * `openapi` tools follow from the HTTP method (`openapi/operation-tool.ts`), not from what its document says.
 */
export function believesAnnotations({ kind, ...rest }: Pick<EditionTool, 'kind' | 'trusted' | 'annotationsAccepted'>): boolean {
  return kind !== 'mcp' || isEndorsed(rest);
}

/** Whether a call is safe to repeat, according to annotations that an administrator vouches for. */
export function isRepeatable({ annotations, ...rest }: Pick<EditionTool, 'annotations' | 'trusted' | 'annotationsAccepted'>): boolean {
  return isEndorsed(rest) && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
}

/** The server is trusted, or an administrator accepted the annotations of this definition. */
export function isEndorsed({ trusted, annotationsAccepted }: Pick<EditionTool, 'trusted' | 'annotationsAccepted'>): boolean {
  return trusted === true || annotationsAccepted === true;
}
