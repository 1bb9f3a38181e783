/**
 * The texts about skills for a model: their names and purposes in the system prompt, and one complete skill in the result of
 * `use_skill` (contract §8).
 */
import { resolveName, toolsNamed, wireNameOf, type AliasMap } from '../toolset/alias-map.ts';
import { isForModels, type EditionTool } from '../toolset/edition-tool.ts';
import { limits } from '../limits/limits.ts';
import { oneLine } from '../text/paragraphs.ts';
import { rewriteNames } from '../names/rewrite-names.ts';
import { type PlanSkill, type Skill, skillFolder, skillInstructions } from './skill.ts';
import { frontmatterTools, readSkillNames, skillNameLookup } from './skill-names.ts';
import * as z from 'zod';
import { injectedTool } from '../toolset/injected-tool.ts';

/** Returns `''` if there are no skills, or no tool to load them. */
export function skillsBlock(skills: readonly PlanSkill[] | undefined, names: AliasMap | null): string {
  const tool = names === null ? undefined : wireNameOf(names, useSkillCanonical);
  if (skills === undefined || skills.length === 0 || tool === undefined) return '';
  const heading = `## Skills\nInstructions for certain kinds of tasks. When a task matches a skill, call \`${tool}\` with its name before you start:`;
  return [heading, ...skills.map(skillLine)].join('\n');
}

/** One line per skill: untrusted text must not add lines to the prompt. */
function skillLine({ name, description, unavailable }: PlanSkill): string {
  const lacks = unavailable === undefined ? '' : ` (unavailable: needs ${unavailable.map(oneLine).join(', ')})`;
  return `- ${name}${lacks}: ${oneLine(description)}`;
}

/** Returns a skill as the result of `use_skill`: first the notes about this plan, then its text with current tool names. */
export function skillText(skill: Skill, names: AliasMap | null): string {
  const { name, resources } = skill;
  const { renamed, missing } = readSkillNames(skill, names);
  const notes: string[] = [];
  if (missing.length > 0) {
    notes.push(
      `Unavailable: needs ${missing.map(code).join(', ')}, which you do not have. Follow the skill as far as possible without them, and say what could not be done.`,
    );
  }
  if (renamed.length > 0)
    notes.push(
      `Its tools have other names here: ${renamed.map(({ name, now }) => `${code(name)} is ${now.map(code).join(' or ')}`).join(', ')}.`,
    );
  if (resources.length > 0)
    notes.push(
      `${filesNote(name, names)}\n${resources.map(({ path, bytes }) => `- ${skillFolder(name)}/${path} (${bytes} bytes)`).join('\n')}`,
    );
  const text = skillInstructions(skill.content);
  const told = names === null ? text : rewriteNames(text, skillNameLookup(skill, names));
  return [`# Skill: ${name}`, ...notes, '---', told].join('\n\n');
}

/** Returns the tools of the frontmatter, and those that the text names in inline code, if they can be called now. */
export function mentionedTools(skill: Skill, names: AliasMap): { name: string; canonical: string }[] {
  const tools = new Set(frontmatterTools(skill, names));
  const told = skillNameLookup(skill, names);
  for (const [, name = ''] of skillInstructions(skill.content).matchAll(inlineCode)) {
    const now = told(name);
    const [tool, ...others] = toolsNamed(names, now ?? name);
    // Inline code contains many other things: only an exact spelling counts.
    const isNamed = tool !== undefined && others.length === 0 && (now !== undefined || isCalled(tool, name));
    if (isNamed && isForModels(tool)) tools.add(tool);
  }
  return [...tools].slice(0, limits.maxFoundTools).map(({ wireName, canonical }) => ({ name: wireName, canonical }));
}

/** On one line and no longer than a name, which excludes fences. */
const inlineCode = /`([^`\n]{1,128})`/g;

function isCalled({ wireName, canonical, ownName, aliases }: EditionTool, name: string): boolean {
  return [wireName, canonical, ownName].includes(name) || aliases.some((alias) => alias.name === name);
}

function filesNote(name: string, names: AliasMap | null): string {
  const readers = ['builtin.read_file', 'builtin.bash'].flatMap((canonical) => {
    const resolution = names === null ? null : resolveName(names, canonical);
    return resolution?.ok ? [code(resolution.wireName)] : [];
  });
  const how = readers.length === 0 ? 'you have no tool that reads them' : `read them with ${readers.join(' or ')}`;
  return `Its files (read-only; ${how}). Paths in the text are relative to ${skillFolder(name)}/:`;
}

function code(name: string): string {
  return `\`${oneLine(name).replaceAll('`', "'")}\``;
}

// The tool that loads a skill: its definition, for toolsets that list it (`tools/injected-tools.ts` runs it) and for turns that get it because
// their agent has skills (`engine/plan/plan-names.ts`).

export const useSkillSpec = {
  name: 'use_skill',
  description:
    'Loads a skill: instructions for a kind of task, with the files that belong to it. Call it before you start a task that matches one of your skills, then follow the instructions.',
  input: z.strictObject({
    name: z.string().min(1).max(200).describe('Name of the skill, as in the list of your skills'),
  }),
};

/** The definition for a turn whose toolset does not list it. */
export const useSkillTool = injectedTool(useSkillSpec);
export const useSkillCanonical = useSkillTool.canonical;
