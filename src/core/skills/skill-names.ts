/**
 * Maps the tool names in a skill to the tools of a plan. Skills are written for other programs: names of the plan count first, in any
 * spelling; then the names that those programs use for common tools, mapped to tools of the plan.
 */
import { grantOf, toolsNamed, type AliasMap } from '../toolset/alias-map.ts';
import { isForModels, type EditionTool } from '../toolset/edition-tool.ts';
import { fold } from '../names/fold.ts';
import { nameLookup } from '../toolset/old-names.ts';
import type { NameLookup } from '../names/rewrite-names.ts';
import { toolOfPattern, toolsOf, type SkillFields } from './skill.ts';

/** The tools of a skill relative to a plan: those with another name here, and those without a match. */
export type SkillNames = { renamed: readonly { name: string; now: readonly string[] }[]; missing: readonly string[] };

export function readSkillNames(skill: Pick<SkillFields, 'allowedTools' | 'requires'>, names: AliasMap | null): SkillNames {
  const renamed: { name: string; now: readonly string[] }[] = [];
  const missing: string[] = [];
  // "*" and similar entries are patterns over all tools and name none.
  for (const name of toolsOf(skill).filter((entry) => /\w/.test(entry))) {
    const meant = names === null ? [] : toolsFor(name, names);
    if (meant.length === 0) missing.push(name);
    else if (!meant.some(({ wireName }) => wireName === name)) renamed.push({ name, now: meant.map(({ wireName }) => wireName) });
  }
  return { renamed, missing };
}

/** Returns the plan's tools that the frontmatter names, if a name matches exactly one. */
export function frontmatterTools(skill: Pick<SkillFields, 'allowedTools' | 'requires'>, names: AliasMap): EditionTool[] {
  return toolsOf(skill).flatMap((name) => {
    const meant = toolsFor(name, names);
    return meant.length === 1 ? meant : [];
  });
}

/** Returns the names of the frontmatter that no tool of the plan has and that mean one, with its grant: `Read` → `builtin.read_file`. */
export function acceptedSkillNames(skill: Pick<SkillFields, 'allowedTools' | 'requires'>, names: AliasMap): Record<string, string> {
  const unknown = toolsOf(skill).filter((name) => toolsNamed(names, name).length === 0);
  const meant = unknown.map((name) => [name, toolsFor(name, names)] as const);
  return Object.fromEntries(
    meant.flatMap(([name, [tool, ...others]]) => (tool && others.length === 0 ? [[name, grantOf(names, tool)]] : [])),
  );
}

/** Returns the entries of a tool list with the names that their tools have here. Those that mean none or several stay as they are. */
export function renameEntries(entries: readonly string[], names: AliasMap): string[] {
  return entries.map((entry) => {
    const name = toolOfPattern(entry);
    const [meant, ...others] = /\w/.test(name) ? toolsFor(name, names) : [];
    return meant === undefined || others.length > 0 ? entry : `${meant.wireName}${entry.slice(entry.indexOf(name) + name.length)}`;
  });
}

/**
 * Returns the lookup for the text of a skill: old names as in other texts (`old-names.ts`), the tools of its frontmatter, and other
 * programs' names in exactly their spelling, since `ls` and `grep` in inline code usually mean the commands.
 */
export function skillNameLookup(skill: Pick<SkillFields, 'allowedTools' | 'requires'>, names: AliasMap): NameLookup {
  const old = nameLookup(names, null);
  const own = new Set(toolsOf(skill));
  return (name) => {
    const now = old(name);
    if (now !== undefined || !(own.has(name) || spelled.has(name))) return now;
    const [meant, ...others] = toolsFor(name, names);
    return others.length > 0 || meant?.wireName === name ? undefined : meant?.wireName;
  };
}

/** Returns several tools if the name is ambiguous; none if no callable tool matches. */
function toolsFor(name: string, names: AliasMap): readonly EditionTool[] {
  for (const candidate of [name, ...(otherNames.get(fold(name)) ?? [])]) {
    const ready = toolsNamed(names, candidate).filter(isForModels);
    if (ready.length > 0) return ready;
  }
  return [];
}

const shells = ['bash', 'shell', 'terminal', 'run_shell_command', 'run_command', 'execute_command', 'run_terminal_cmd', 'run_in_terminal'];
const lists = ['list_directory', 'list_files', 'list_dir', 'ls'];
const edits = ['edit_file', 'str_replace', 'replace_in_file', 'apply_patch', 'edit', 'write_file'];

/**
 * `spelled`: the names in Claude Code, Cline, Cursor, Gemini CLI, Codex and VS Code. `tools`: equivalent tools, best first; a shell
 * can also find and list files.
 */
const usual: readonly { spelled: readonly string[]; tools: readonly string[] }[] = [
  { spelled: ['Bash', ...shells.filter((name) => name !== 'terminal' && name !== 'shell'), 'runInTerminal', 'PowerShell'], tools: shells },
  {
    spelled: ['Read', 'read_file', 'readFile', 'view_file', 'open_file', 'NotebookRead'],
    tools: ['read_file', 'view_file', 'open_file', 'read'],
  },
  {
    spelled: ['Write', 'write_file', 'write_to_file', 'create_file', 'createFile'],
    tools: ['write_file', 'create_file', 'save_file', 'write'],
  },
  { spelled: ['Edit', 'MultiEdit', 'edit_file', 'replace_in_file', 'str_replace', 'apply_patch', 'NotebookEdit'], tools: edits },
  { spelled: ['LS', 'list_directory', 'list_files', 'list_dir', 'listDirectory'], tools: [...lists, ...shells] },
  { spelled: ['Glob', 'file_search', 'fileSearch', 'find_files'], tools: ['find_files', 'glob', ...shells, ...lists] },
  { spelled: ['Grep', 'grep_search', 'search_files', 'search_file_content', 'textSearch'], tools: ['search_files', 'grep', ...shells] },
  { spelled: ['WebFetch', 'web_fetch', 'fetch_webpage', 'fetch_url'], tools: ['web_fetch', 'fetch_url', 'fetch', 'http_request'] },
  { spelled: ['WebSearch', 'web_search', 'google_web_search'], tools: ['web_search', 'search_web', 'google_search'] },
];

const spelled: ReadonlySet<string> = new Set(usual.flatMap((row) => row.spelled));
const otherNames: ReadonlyMap<string, readonly string[]> = new Map(
  usual.flatMap((row) => row.spelled.map((name) => [fold(name), row.tools] as const)),
);
