/**
 * The tool lists in a skill's frontmatter: `allowed-tools: Bash(git:*) Read`, or a YAML list. A pattern in brackets is stored
 * unchanged and grants nothing here: the plan decides what may be called (DESIGN §3.6).
 */

/**
 * Splits a text into entries: separated by white space (agentskills.io/specification, "allowed-tools") or by commas, which many
 * published skills use; text in brackets is never split. null: unmatched bracket.
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

/** `Bash(git add:*)` → `Bash`: returns the tool of a pattern. */
export function toolOfPattern(entry: string): string {
  const bracket = entry.indexOf('(');
  return (bracket <= 0 ? entry : entry.slice(0, bracket)).trim();
}

/** Returns the tools that a skill names as its own, without duplicates, in the order of the frontmatter. */
export function toolsOf(skill: { allowedTools?: readonly string[]; requires?: readonly string[] }): string[] {
  return [...new Set([...(skill.requires ?? []), ...(skill.allowedTools ?? [])].map(toolOfPattern))];
}
