/** The effect of a tool call according to its applicable annotations. Effects on files and hosts are checked where they happen. */
import type { EditionTool } from '../toolset/edition-tool.ts';
import type { Effect } from './policy-effect.ts';
import { trustsAnnotations } from '../tools/tool-effects.ts';

/**
 * `readOnlyHint` counts only if the annotations are trusted; `destructiveHint: true` always counts, since it only adds a question.
 */
export function callEffect(
  tool: Pick<EditionTool, 'kind' | 'annotations' | 'trusted' | 'annotationsAccepted'>,
): Extract<Effect, { kind: 'call' }> {
  const { kind, annotations = {} } = tool;
  if (judgedBeneath.has(kind)) return beneath;
  const trusted = tool.trusted === true || kind === 'local';
  const reads = annotations.readOnlyHint === true && trustsAnnotations(tool);
  const does = annotations.destructiveHint === true ? 'destroy' : reads ? 'read' : 'write';
  return { kind: 'call', does, trusted, sends: kind !== 'local' && (!trusted || does !== 'read') };
}

const beneath: Extract<Effect, { kind: 'call' }> = { kind: 'call', does: null, trusted: true, sends: false };

/** Their effects are checked at the capabilities that they use. The caller runs client tools itself, and may refuse. */
const judgedBeneath: ReadonlySet<EditionTool['kind']> = new Set(['builtin', 'made', 'client', 'ui']);
