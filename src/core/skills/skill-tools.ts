/**
 * The lists of tools in a skill's frontmatter: `allowed-tools: Bash(git:*) Read`, or a YAML list. A pattern in brackets is kept
 * as it stands and grants nothing here: what may be called is the plan's to say (DESIGN §3.6).
 */

/**
 * One text to its entries: separated by white space (agentskills.io/specification, "allowed-tools") or by commas, which many
 * published skills use; what stands in brackets is never taken apart. null: a bracket is not closed.
 */
export function splitToolList(text: string): string[] | null {
  const entries: string[] = [];
  let entry = '';
  let depth = 0;
  const end = (): void => {
    if (entry !== '') entries.push(entry);
    entry = '';
  };
  for (const character of text) {
    if (depth === 0 && /[\s,]/.test(character)) end();
    else entry += character;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0) return null;
  }
  end();
  return depth === 0 ? entries : null;
}

/** `Bash(git add:*)` → `Bash`: the tool that a pattern is about. */
export function toolOfPattern(entry: string): string {
  const bracket = entry.indexOf('(');
  return (bracket <= 0 ? entry : entry.slice(0, bracket)).trim();
}

/** The tools that a skill names as its own, each once, in the order of the frontmatter. */
export function toolsOf(skill: { allowedTools?: readonly string[]; requires?: readonly string[] }): string[] {
  return [...new Set([...(skill.requires ?? []), ...(skill.allowedTools ?? [])].map(toolOfPattern))];
}
