/** The effect of a tool call according to its applicable annotations. Effects on files and hosts are checked where they happen. */
import * as z from 'zod';
import { type EditionTool, trustsAnnotations } from '../../toolset/edition-tool.ts';
import type { ApprovalReason } from '../approval.ts';
import { beforeSending, effectKind } from './effect-kind.ts';

/** `does`: what its annotations declare, if they apply. null: decided at the capabilities that the tool uses. */
const CallEffect = z.strictObject({
  kind: z.literal('call'),
  does: z.enum(['read', 'write', 'destroy']).nullable(),
  trusted: z.boolean(),
  sends: z.boolean(),
});
type CallEffect = z.infer<typeof CallEffect>;
type CalledTool = Pick<EditionTool, 'kind' | 'annotations' | 'trusted' | 'annotationsAccepted'>;

export const callKind = effectKind(CallEffect, {
  subject: () => ({}),
  action: () => 'call',
  describe: (_effect, { tool }) => `calls of ${tool}`,
  change: ({ does }) => does,
  sends: ({ sends }) => sends,
  questions: (effect, { actor: { tool }, taint }) =>
    beforeSending(askOfCall(tool, effect), effect.sends ? taint : null, { what: `calls ${tool}`, target: tool }),
  raises({ does, trusted, sends }, kind, tainted) {
    if (kind === 'taint') return sends && tainted;
    if (kind === 'destructive') return does === 'destroy';
    return kind === 'untrusted' && !trusted && does !== 'read' && does !== null;
  },
  // They depend on the tool that the rule names (`document.ts`).
  examples: () => [],
});

/**
 * `readOnlyHint` counts only if the annotations are trusted; `destructiveHint: true` always counts, since it only adds a question.
 */
export function callEffect(tool: CalledTool): CallEffect {
  const { kind, annotations = {} } = tool;
  if (judgedInside.has(kind)) return { kind: 'call', does: null, trusted: true, sends: false };
  const trusted = tool.trusted === true || kind === 'local';
  const reads = annotations.readOnlyHint === true && trustsAnnotations(tool);
  const does = annotations.destructiveHint === true ? 'destroy' : reads ? 'read' : 'write';
  return { kind: 'call', does, trusted, sends: kind !== 'local' && (!trusted || does !== 'read') };
}

/** Their effects are checked at the capabilities that they use. The caller runs client tools itself, and may refuse. */
const judgedInside: ReadonlySet<EditionTool['kind']> = new Set(['builtin', 'made', 'client', 'ui']);

/** One question per tool, so that one rule can answer it. */
function askOfCall(canonical: string, { does, trusted }: CallEffect): ApprovalReason | null {
  if (does === null || does === 'read' || (trusted && does !== 'destroy')) return null;
  const may = does === 'destroy' ? 'may delete or overwrite data' : 'may change data';
  return trusted
    ? { kind: 'destructive', reason: `${canonical} ${may}`, target: canonical }
    : { kind: 'untrusted', reason: `${canonical} ${may}, and its server is not trusted`, target: canonical };
}
