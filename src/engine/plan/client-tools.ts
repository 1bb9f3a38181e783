/**
 * Checks the client's tools against the server's: ambiguous names are rejected before a turn starts, so that no call can reach the wrong
 * tool. Used by `plan-turn.ts`.
 */
import { toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { fold } from '../../core/names/fold.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { invalidRequest, type Issue } from '../../core/problem.ts';
import { injectedNames } from '../../core/names/reserved-names.ts';

/**
 * `names`: what the plan offers from the toolset; null: nothing. Throws `invalid_request` with one issue for each name that equals or folds
 * to a name of the server's tools, of an injected tool, or of an earlier client tool.
 */
export function checkClientTools(
  names: AliasMap | null,
  tools: readonly Pick<ClientTool, 'name'>[],
  pathOf: (index: number) => string = (index) => `tools[${index}].name`,
): void {
  const earlier = new Map<string, string>();
  const issues = tools.flatMap(({ name }, index): Issue[] => {
    // A name that folds to nothing (`_`) is compared unfolded.
    const folded = fold(name) || name;
    const owner = serverToolOf(names, name) ?? injectedByFold.get(folded) ?? earlier.get(folded);
    if (!earlier.has(folded)) earlier.set(folded, `tool ${index + 1} of the request (client.${name})`);
    if (owner === undefined) return [];
    return [
      { path: pathOf(index), message: `"${name}" equals or folds to a name of ${owner}. Choose another name for the tool client.${name}` },
    ];
  });
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Describes the tool or tools that a call by this name could mean; undefined for none. */
function serverToolOf(names: AliasMap | null, name: string): string | undefined {
  const [tool, ...others] = names === null ? [] : toolsNamed(names, name);
  if (tool === undefined) return undefined;
  return others.length === 0
    ? `${tool.canonical} (called ${tool.wireName})`
    : [tool, ...others].map(({ wireName }) => wireName).join(' and ');
}

const injectedByFold: ReadonlyMap<string, string> = new Map([...injectedNames].map(([name, canonical]) => [fold(name), canonical]));
