/** What a replay replaces, in a few words. Pure. */
import type { components } from '../../../../client/src/index.ts';

type Replay = components['schemas']['ListedReplay'];

/** A list leaves out members that are long: they are named. */
export function replacedText({ with: { model, agent, toolset, instructions }, omitted = [] }: Replay): string {
  const named = (kind: 'agent' | 'toolset', value: string | object | undefined): string[] => {
    if (value === undefined && !omitted.includes(kind)) return [];
    return [`${kind} ${typeof value === 'string' ? value : '(draft)'}`];
  };
  const hasInstructions = instructions !== undefined || omitted.includes('instructions');
  const parts = [model ?? [], named('agent', agent), named('toolset', toolset), hasInstructions ? 'instructions' : []];
  return parts.flat().join(', ') || 'as recorded';
}
