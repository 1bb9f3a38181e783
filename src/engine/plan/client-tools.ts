/**
 * The caller's own tools beside the server's: names that would mean two things are refused before a turn begins, so that no
 * call of the model can go to the wrong side. Used by `plan-turn.ts`.
 */
import { toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import { fold } from '../../core/fold.ts';
import type { ClientTool } from '../../core/plan.ts';
import { invalidRequest, type Issue } from '../../core/problem.ts';
import { injectedNames } from '../../core/reserved-names.ts';

/**
 * `names`: what the toolset's part of the plan offers; null: nothing. Throws `invalid_request` with one issue for each name
 * that equals or folds to one of the server's, to an injected tool's, or to an earlier one of the caller's.
 */
export function checkClientTools(
  names: AliasMap | null,
  tools: readonly Pick<ClientTool, 'name'>[],
  pathOf: (index: number) => string = (index) => `tools[${index}].name`,
): void {
  const earlier = new Map<string, string>();
  const issues = tools.flatMap(({ name }, index): Issue[] => {
    // What folds to nothing (`_`) equals nothing but itself.
    const folded = fold(name) || name;
    const owner = serverToolOf(names, name) ?? injectedByFold.get(folded) ?? earlier.get(folded);
    if (!earlier.has(folded)) earlier.set(folded, `tool ${index + 1} of the request (client.${name})`);
    if (owner === undefined) return [];
    return [{ path: pathOf(index), message: `"${name}" equals or folds to a name of ${owner}: give the tool client.${name} another one` }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
}

/** The tool, or all tools, that a call by this name would mean. */
function serverToolOf(names: AliasMap | null, name: string): string | undefined {
  const [tool, ...others] = names === null ? [] : toolsNamed(names, name);
  if (tool === undefined) return undefined;
  return others.length === 0
    ? `${tool.canonical} (called ${tool.wireName})`
    : [tool, ...others].map(({ wireName }) => wireName).join(' and ');
}

const injectedByFold: ReadonlyMap<string, string> = new Map([...injectedNames].map(([name, canonical]) => [fold(name), canonical]));
