/** What a call of a tool would do, by what its server says of it. What it does to files and hosts is judged where it does it. */
import type { EditionTool } from '../edition-tool.ts';
import type { Effect } from '../policy-effect.ts';
import { contradictsReadOnly } from '../tool-effects.ts';

/** Who is not trusted is believed only that a tool reads, and not even that where its name says otherwise. */
export function callEffect(tool: Pick<EditionTool, 'kind' | 'ownName' | 'annotations' | 'trusted'>): Extract<Effect, { kind: 'call' }> {
  const { kind, ownName, annotations = {} } = tool;
  if (judgedBeneath.has(kind)) return beneath;
  const trusted = tool.trusted === true || kind === 'local';
  const reads = annotations.readOnlyHint === true && (trusted || !contradictsReadOnly(ownName));
  const does = annotations.destructiveHint === true ? 'destroy' : reads ? 'read' : 'write';
  return { kind: 'call', does, trusted, sends: kind !== 'local' && (!trusted || does !== 'read') };
}

const beneath: Extract<Effect, { kind: 'call' }> = { kind: 'call', does: null, trusted: true, sends: false };

/** What of these needs leave is judged at their capabilities; a caller's own tool is run by the caller, who may refuse. */
const judgedBeneath: ReadonlySet<EditionTool['kind']> = new Set(['builtin', 'made', 'client', 'ui']);
