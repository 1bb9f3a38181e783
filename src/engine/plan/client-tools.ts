/**
 * The names of a client's own tools against those of the server's. The client's tool has its exact name: a server tool with a name that
 * equals it or folds to it is left out of the turn, so that no call can reach the wrong tool. An agent with `clientTools: "strict"` rejects the
 * request instead.
 */
import { grantOf, toolsLike, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { fold } from '../../core/names/fold.ts';
import { injectedNames } from '../../core/names/reserved-names.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import { invalidRequest, type Issue } from '../../core/problem.ts';

/** `tool`: a server tool that the turn does not offer; `by`: the name of the client's tool. */
type Replacement = { tool: EditionTool; by: string };

type ClientNames = {
  /** The path of a tool's name in the request. */
  pathOf: ((index: number) => string) | undefined;
  /** Rejects names of server tools. */
  strict: boolean;
  codeMode: boolean;
};

/**
 * Returns the server tools that the client's replace. `names`: what the plan offers from the toolset; null: nothing. Throws `invalid_request`
 * with one issue for each name of an earlier client tool, of a tool that the service adds to the turn, and, if `strict`, of a server tool.
 */
export function replacedTools(names: AliasMap | null, tools: readonly Pick<ClientTool, 'name'>[], options: ClientNames): Replacement[] {
  const { pathOf = (index: number) => `tools[${index}].name`, strict, codeMode } = options;
  const earlier = new Map<string, string>();
  const replaced: Replacement[] = [];
  const issues = tools.flatMap(({ name }, index): Issue[] => {
    // A name that folds to nothing (`_`) is compared unfolded.
    const folded = fold(name) || name;
    const server = names === null ? [] : toolsLike(names, name);
    const own = injectedByFold.get(folded);
    const owner = (isAdded(own, codeMode) ? own : undefined) ?? (strict ? described(server) : undefined) ?? earlier.get(folded);
    if (!earlier.has(folded)) earlier.set(folded, `tool ${index + 1} of the request (client.${name})`);
    for (const tool of server) replaced.push({ tool, by: name });
    if (owner === undefined) return [];
    return [
      { path: pathOf(index), message: `"${name}" equals or folds to a name of ${owner}. Choose another name for the tool client.${name}` },
    ];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return replaced;
}

/** Returns the rights of a plan without the replaced tools. `made`: the table of the made tools; null: none are offered. */
export function withoutReplaced(
  names: AliasMap,
  replaced: readonly Replacement[],
  made: AliasMap | null,
): Pick<Plan, 'allow' | 'madeAllow'> {
  const gone = new Set(replaced.map(({ tool }) => tool));
  const allow = [...new Set(names.tools.filter((tool) => !gone.has(tool)).map((tool) => grantOf(names, tool)))];
  const ofMade = made === null ? null : new Set<string>(made.tools.map(({ canonical }) => canonical));
  return { allow, ...(ofMade !== null && { madeAllow: allow.filter((name) => ofMade.has(name)) }) };
}

/** Whether the service adds the tool to turns by itself, so that its prompts and results name it. */
function isAdded(canonical: string | undefined, codeMode: boolean): boolean {
  if (canonical === undefined || canonical === injectedNames.get('create_tool')) return false;
  return codeMode || canonical !== injectedNames.get('run_code');
}

function described([tool, ...others]: readonly EditionTool[]): string | undefined {
  if (tool === undefined) return undefined;
  return others.length === 0
    ? `${tool.canonical} (called ${tool.wireName})`
    : [tool, ...others].map(({ wireName }) => wireName).join(' and ');
}

const injectedByFold: ReadonlyMap<string, string> = new Map([...injectedNames].map(([name, canonical]) => [fold(name), canonical]));
